"""Pods that really run: our kubelet over our own sandbox runtime, and over a private containerd."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.kubelet_connections import KubeletConnection
from lifecycle.cri.apis.pod_sandbox import PodSandboxState
from lifecycle.inspector import open_recording
from lifecycle.kubelet.eviction.thresholds import parse_threshold
from lifecycle.kubelet.local_pod_host import LocalPodHost
from lifecycle.kubelet.stats.summary import Observation, Summary, node_summary
from tests.conftest import unavailable
from tests.cri.subjects import why_not
from tests.kubelet.real_node import NODE, RealNode, real_node
from tests.kubelet.server.test_server import SPDY, ask, exec_over_websocket, spdy_session, text

KINDS = ("sandbox", "containerd")
FOREVER = ["sh", "-c", "trap exit TERM; while true; do sleep 0.1; done"]
Scene = Callable[[RealNode], Awaitable[None]]


def play(kind: str, where: Path, scene: Scene) -> None:
    if why_not():
        unavailable(why_not())

    async def main() -> None:
        async with asyncio.timeout(150), real_node(kind, where) as node:
            await scene(node)

    asyncio.run(main())
    left = [line for line in Path("/proc/self/mounts").read_text().splitlines() if str(where) in line]
    assert left == []


def running(pod: Object) -> bool:
    return bool(pod["status"]["phase"] == "Running")


def state(pod: Object, name: str, key: str = "containerStatuses") -> Object:
    entries = pod["status"].get(key) or [{"name": name, "state": {}}]
    return next(dict(entry["state"]) for entry in entries if entry["name"] == name)


def ended(name: str, key: str = "containerStatuses") -> Callable[[Object], bool]:
    return lambda pod: "terminated" in state(pod, name, key)


def ready(name: str) -> Callable[[Object], bool]:
    def check(pod: Object) -> bool:
        return any(entry["name"] == name and entry["ready"] for entry in pod["status"].get("containerStatuses", ()))

    return check


async def eventually(done: Callable[[], bool]) -> None:
    """What happens beside the API: it has to be looked for."""
    async with asyncio.timeout(20):
        while not done():  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def until_nothing_runs(node: RealNode, uid: str = "") -> None:
    async with asyncio.timeout(20):
        while any(s.state is PodSandboxState.READY for s in await node.runtime.list_pod_sandbox(uid)):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def recorded(name: str) -> Object:
    """A container's status as the recorded cluster had it in the end."""
    for exchange in open_recording().exchanges("kubelet"):
        if exchange.moment == "settled" and exchange.path.endswith("/pods"):
            pod = next(pod for pod in exchange.response["items"] if pod["metadata"]["name"] == name)
            return dict(pod["status"]["containerStatuses"][0])
    raise LookupError(name)


def shape(value: Any) -> Any:
    """What is there, whatever it says."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else type(value).__name__


@pytest.mark.parametrize("kind", KINDS)
def test_a_container_finds_what_its_pod_promises(kind: str, tmp_path: Path) -> None:
    async def scene(node: RealNode) -> None:
        data = {"greeting": "hello", "place": "here"}
        await node.create("configmaps", {"metadata": {"name": "cfg"}, "data": data})
        await node.create("secrets", {"metadata": {"name": "sec"}, "stringData": {"key": "s3cret"}})
        reference = {"configMapKeyRef": {"name": "cfg", "key": "greeting"}}
        container = {
            "name": "c",
            "command": ["sh", "-c", "echo $(GREETING) > /scratch/said; exec sleep 1000"],
            "envFrom": [{"secretRef": {"name": "sec"}, "prefix": "SEC_"}],
            "env": [
                {"name": "GREETING", "valueFrom": reference},
                {"name": "BOTH", "value": "$(GREETING)-$(SEC_key)"},
                {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
            ],
            "resources": {"requests": {"cpu": "100m"}, "limits": {"cpu": "1", "memory": "64Mi"}},
            "securityContext": {
                "runAsUser": 1000,
                "readOnlyRootFilesystem": True,
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
            },
            "volumeMounts": [
                {"name": "config", "mountPath": "/config"},
                {"name": "config", "mountPath": "/one", "subPath": "place"},
                {"name": "secret", "mountPath": "/secret"},
                {"name": "scratch", "mountPath": "/scratch"},
            ],
        }
        volumes = [
            {"name": "config", "configMap": {"name": "cfg"}},
            {"name": "secret", "secret": {"secretName": "sec", "defaultMode": 0o444}},
            {"name": "scratch", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
        ]
        await node.run_pod(
            "all",
            container,
            volumes=volumes,
            hostname="books",
            hostAliases=[{"ip": "192.0.2.9", "hostnames": ["alias"]}],
            securityContext={"fsGroup": 2000, "runAsNonRoot": True},
        )
        pod = await node.until("all", running)
        uid, ip = pod["metadata"]["uid"], pod["status"]["podIP"]
        shows = "cat /config/greeting /one /secret/key /scratch/said; id -u; id -G; hostname; env; cat /proc/1/oom_score_adj"
        said = await node.output("all", "c", "sh", "-c", shows)
        lines = said.splitlines()
        assert lines[0] == "hellohere" + "s3crethello"
        assert lines[1] == "1000"
        assert "2000" in lines[2].split()
        assert lines[3] == "books"
        variables = dict(line.split("=", 1) for line in lines if "=" in line)
        assert variables["BOTH"] == "hello-s3cret"
        assert variables["IP"] == ip
        assert variables["CPU"] == "1"
        assert variables["HOSTNAME"] == "books"
        assert variables["MADE_BY"] == "image"
        assert 2 < int(lines[-1]) < 1000
        token_dir = "/var/run/secrets/kubernetes.io/serviceaccount"
        assert (await node.output("all", "c", "cat", f"{token_dir}/ca.crt")) == "trust me\n"
        token = await node.output("all", "c", "cat", f"{token_dir}/token")
        review = await node.admin.create(resource("tokenreviews.authentication.k8s.io"), {"spec": {"token": token}})
        assert review["status"]["user"]["username"] == "system:serviceaccount:default:default"
        assert review["status"]["user"]["extra"]["authentication.kubernetes.io/pod-uid"] == [uid]
        hosts = await node.output("all", "c", "cat", "/etc/hosts")
        assert f"{ip}\tbooks\n" in hosts
        assert "192.0.2.9\talias\n" in hosts
        resolver = await node.output("all", "c", "cat", "/etc/resolv.conf")
        assert "search default.svc.cluster.local svc.cluster.local cluster.local host.example" in resolver
        assert "nameserver 10.96.0.10" in resolver
        assert "options ndots:5" in resolver
        mounts = await node.output("all", "c", "cat", "/proc/mounts")
        kinds = {line.split()[1]: (line.split()[2], line.split()[3].split(",")) for line in mounts.splitlines()}
        assert kinds["/scratch"][0] == kinds["/secret"][0] == kinds[token_dir][0] == "tmpfs"
        assert "size=1024k" in kinds["/scratch"][1]
        assert "ro" in kinds["/config"][1]
        assert "ro" in kinds["/"][1]
        status = await node.output("all", "c", "cat", "/proc/self/status")
        assert "CapEff:\t0000000000000000" in status
        assert "NoNewPrivs:\t1" in status
        groups = (
            Path("/sys/fs/cgroup/memory") / f"lifecycle-kubelet-test-{os.getpid()}" / "kubepods/burstable" / f"pod{uid}"
        )
        if groups.parent.parent.exists():  # version 1 of cgroups
            found = [path for path in groups.glob("*/memory.limit_in_bytes") if int(path.read_text()) == 64 << 20]
            assert len(found) == 1
            weights = Path(str(groups).replace("memory", "cpu", 1)).glob("*/cpu.shares")  # noqa: ASYNC240
            shares = [path.read_text().strip() for path in weights]
            assert "102" in shares
        user = pod["status"]["containerStatuses"][0].get("user", {"linux": {"uid": 1000}})
        assert user["linux"]["uid"] == 1000
        assert (
            kind == "containerd" or "user" in pod["status"]["containerStatuses"][0]
        )  # an older containerd does not say
        await node.gone("all")
        await eventually(lambda: not (node.where / "kubelet/pods" / uid).exists())
        await eventually(lambda: not groups.exists())
        assert list((node.where / "log/pods").iterdir()) == []

    play(kind, tmp_path, scene)


@pytest.mark.parametrize("kind", KINDS)
def test_init_containers_sidecars_hooks_probes_and_last_words(kind: str, tmp_path: Path) -> None:
    async def scene(node: RealNode) -> None:
        shared = {"volumeMounts": [{"name": "work", "mountPath": "/work"}]}
        init = {"name": "init", "command": ["sh", "-c", "echo prepared > /work/index.html"], **shared}
        patient = {"periodSeconds": 1, "timeoutSeconds": 10, "failureThreshold": 30}  # the machine may be busy
        probe = {"httpGet": {"path": "/index.html", "port": 8080}, **patient}
        sidecar = {
            "name": "server",
            "restartPolicy": "Always",
            "command": ["httpd", "-f", "-p", "8080", "-h", "/work"],
            "startupProbe": probe,
            **shared,
        }
        main = {
            "name": "c",
            "command": [
                "sh",
                "-c",
                "while [ ! -e /work/stop ]; do sleep 0.1; done; echo good bye > /dev/termination-log; exit 3",
            ],
            "readinessProbe": {"exec": {"command": ["test", "-e", "/work/hooked"]}, **patient},
            "livenessProbe": {"exec": {"command": ["true"]}, **patient},
            "lifecycle": {"postStart": {"exec": {"command": ["touch", "/work/hooked"]}}},
            **shared,
        }
        logs = {
            "name": "logs",
            "command": ["sh", "-c", "echo first; echo it broke >&2; exit 4"],
            "terminationMessagePolicy": "FallbackToLogsOnError",
        }
        await node.run_pod(
            "many",
            main,
            logs,
            initContainers=[init, sidecar],
            volumes=[{"name": "work", "emptyDir": {}}],
            restartPolicy="Never",
        )
        pod = await node.until("many", ready("c"))
        entries = {entry["name"]: entry for entry in pod["status"]["initContainerStatuses"]}
        assert entries["init"]["state"]["terminated"]["exitCode"] == 0
        assert entries["server"]["started"] is True
        assert await node.output("many", "c", "ls", "/work") == "hooked\nindex.html\n"
        await node.output("many", "c", "touch", "/work/stop")
        pod = await node.until("many", lambda p: p["status"]["phase"] == "Failed")
        assert state(pod, "c")["terminated"]["message"] == "good bye\n"
        assert state(pod, "c")["terminated"]["exitCode"] == 3
        words = state(pod, "logs")["terminated"]["message"]
        assert sorted(words.splitlines()) == [
            "first",
            "it broke",
        ]  # two pipes: containerd promises no order between them
        assert "terminated" in state(pod, "server", "initContainerStatuses")

    play(kind, tmp_path, scene)


@pytest.mark.parametrize("kind", KINDS)
def test_ends_look_as_recorded(kind: str, tmp_path: Path) -> None:
    """Too much memory, failure, success, and a crash loop: the same fields, codes and reasons as on the recorded nodes."""

    def known(name: str, ours: Object) -> Object:
        """Whom a container runs as only a newer containerd says, and the real kubelet has it from there."""
        silent = kind == "containerd" and "user" not in ours
        return {key: value for key, value in recorded(name).items() if not silent or key != "user"}

    async def scene(node: RealNode) -> None:
        memory = {"resources": {"limits": {"memory": "16Mi"}}}
        greedy = ["sh", "-c", "sleep 0.5; tail /dev/zero"]
        for life in ("oom", "oom-2", "oom-3"):  # see `_end_of_the_greedy` in `lifecycle.cri.conformance_processes`
            await node.run_pod(life, {"name": "c", "command": greedy, **memory}, restartPolicy="Never")
        for name, script in (("fails", "echo no >&2; exit 7"), ("completes", "echo done")):
            await node.run_pod(name, {"name": "c", "command": ["sh", "-c", script]}, restartPolicy="Never")
        await node.run_pod("crashloop", {"name": "c", "command": ["sh", "-c", "exit 1"]})
        reasons: dict[str, set[str]] = {}
        for name in ("oom", "oom-2", "oom-3", "fails", "completes"):
            pod = await node.until(name, lambda p: p["status"]["phase"] in ("Failed", "Succeeded"))
            recorded_name = name.partition("-")[0]
            ours = pod["status"]["containerStatuses"][0]
            theirs = known(recorded_name, ours)
            assert shape(ours) == shape(theirs)
            assert ours["state"]["terminated"]["exitCode"] == theirs["state"]["terminated"]["exitCode"]
            reasons.setdefault(recorded_name, set()).add(ours["state"]["terminated"]["reason"])
        for name, found in reasons.items():
            assert recorded(name)["state"]["terminated"]["reason"] in found
        pod = await node.until_looked_at(
            "crashloop", lambda p: (state(p, "c").get("waiting") or {}).get("reason") == "CrashLoopBackOff"
        )
        entry = pod["status"]["containerStatuses"][0]
        assert entry["lastState"]["terminated"]["exitCode"] == 1
        assert state(pod, "c")["waiting"]["message"].startswith(
            "back-off 10s restarting failed container=c pod=crashloop_default("
        )
        waiting = {key: value for key, value in known("crashloop", entry).items() if key != "state"}
        assert shape({key: value for key, value in entry.items() if key != "state"}) == shape(waiting)
        assert (
            "BackOff",
            f"Back-off restarting failed container c in pod crashloop_default({pod['metadata']['uid']})",
        ) in (await node.events("crashloop"))

    play(kind, tmp_path, scene)


@pytest.mark.parametrize("kind", KINDS)
def test_a_death_is_noticed_at_once_and_a_lost_sandbox_is_replaced(kind: str, tmp_path: Path) -> None:
    async def scene(node: RealNode) -> None:
        init = {"name": "i", "command": ["true"]}
        await node.run_pod("dies", {"name": "c", "command": FOREVER})
        await node.run_pod("loses", {"name": "c", "command": FOREVER}, initContainers=[init])
        await node.until("dies", running)
        before = asyncio.get_running_loop().time()
        await node.output("dies", "c", "kill", "-TERM", "1")
        await node.until("dies", lambda p: running(p) and p["status"]["containerStatuses"][0]["restartCount"] == 1)
        assert asyncio.get_running_loop().time() - before < 5
        pod = await node.until("loses", running)
        old = (await node.runtime.list_pod_sandbox(pod["metadata"]["uid"]))[0]
        await node.runtime.stop_pod_sandbox(old.id)
        pod = await node.until(
            "loses", lambda p: "running" in state(p, "c") and p["status"]["containerStatuses"][0]["restartCount"] == 1
        )
        assert pod["status"]["initContainerStatuses"][0]["restartCount"] == 1
        newest = (await node.runtime.list_pod_sandbox(pod["metadata"]["uid"]))[0]
        assert newest.metadata.attempt == 1
        reasons = [reason for reason, _ in await node.events("loses")]
        assert "SandboxChanged" in reasons

    play(kind, tmp_path, scene)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kubelet_that_starts_again_finds_its_pods(kind: str, tmp_path: Path) -> None:
    async def scene(node: RealNode) -> None:
        probe = {"exec": {"command": ["true"]}, "periodSeconds": 1, "timeoutSeconds": 10}
        stays = {
            "name": "c",
            "command": FOREVER,
            "readinessProbe": probe,
            "volumeMounts": [{"name": "v", "mountPath": "/v"}],
        }
        volumes = [{"name": "v", "emptyDir": {"medium": "Memory"}}]
        await node.run_pod("stays", stays, volumes=volumes)
        await node.run_pod(
            "leaves",
            {"name": "c", "command": FOREVER, "volumeMounts": [{"name": "v", "mountPath": "/v"}]},
            volumes=volumes,
        )
        before = await node.until("stays", lambda p: any(c["ready"] for c in p["status"].get("containerStatuses", ())))
        leaves = await node.until("leaves", running)
        await node.output("stays", "c", "touch", "/v/mine")
        await node.stop()
        await node.admin.delete(resource("pods"), "leaves", "default", grace_period=0)
        stream = await node.admin.watch(
            resource("pods"), "default", resource_version="", field_selector="metadata.name=stays"
        )
        readiness: list[bool] = []

        async def note() -> None:
            async for frame in stream:
                if frame.type in ("ADDED", "MODIFIED"):
                    readiness.append(frame.object["status"]["containerStatuses"][0]["ready"])

        noting = asyncio.create_task(note())
        await node.start()
        left = leaves["metadata"]["uid"]
        await until_nothing_runs(node, left)
        await eventually(lambda: not (node.where / "kubelet/pods" / left).exists())
        await asyncio.sleep(2.0)  # time for two probes
        noting.cancel()
        after = await node.admin.get(resource("pods"), "stays", "default")
        assert after["status"]["containerStatuses"] == before["status"]["containerStatuses"]
        assert all(readiness)
        assert await node.output("stays", "c", "ls", "/v") == "mine\n"
        await node.gone("stays")
        await until_nothing_runs(node)

    play(kind, tmp_path, scene)


@pytest.mark.parametrize("kind", KINDS)
def test_logs_commands_and_ports(kind: str, tmp_path: Path) -> None:
    async def scene(node: RealNode) -> None:
        node.server.kubelets[NODE] = KubeletConnection(node.kubelet)
        script = "echo one; echo two; echo loopback > /tmp/index.html; exec httpd -f -p 127.0.0.1:8080 -h /tmp"
        await node.run_pod("web", {"name": "c", "command": ["sh", "-c", script]})
        pod = await node.until("web", running)
        await asyncio.sleep(0.5)
        cluster: Any = node
        assert await text(await ask(cluster, "web/log")) == "one\ntwo\n"
        assert await text(await ask(cluster, "web/log?tailLines=1")) == "two\n"
        link = list((node.where / "log/containers").iterdir())
        assert len(link) == 1
        assert b"stdout F two" in link[0].read_bytes()
        said = await exec_over_websocket(cluster, ["sh", "-c", "cat; exit 3"], b"typed")
        assert said[1] == b"typed"
        assert fast_json.loads(said[3])["details"]["causes"] == [{"reason": "ExitCode", "message": "3"}]
        versions = {"x-stream-protocol-version": "portforward.k8s.io"}
        response = await ask(cluster, "web/portforward", "POST", **SPDY, **versions)
        opened = [(1, {"streamType": "error", "port": "8080", "requestID": "0"})]
        opened.append((3, {"streamType": "data", "port": "8080", "requestID": "0"}))
        got = await spdy_session(response.upgrade, opened, {3: b"GET /index.html HTTP/1.0\r\n\r\n"})
        assert got[3].endswith(b"loopback\n")
        port = (await node.admin.get(resource("nodes"), NODE, ""))["status"]["daemonEndpoints"]["kubeletEndpoint"][
            "Port"
        ]
        async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/pods") as answer:
            assert answer.status == 403
            assert (await answer.text()).startswith("Forbidden (user=system:anonymous, verb=get, resource=nodes, ")
        container_id = pod["status"]["containerStatuses"][0]["containerID"].partition("://")[2]
        following = asyncio.create_task(_read_all(cluster))
        await asyncio.sleep(0.3)
        await node.runtime.stop_container(container_id, 0)
        async with asyncio.timeout(60):
            assert await following == "one\ntwo\n"

    play(kind, tmp_path, scene)


async def _read_all(cluster: Any) -> str:
    return await text(await ask(cluster, "web/log?follow=true"))


@pytest.mark.parametrize("kind", KINDS)
def test_what_must_not_or_cannot_start(kind: str, tmp_path: Path) -> None:
    async def scene(node: RealNode) -> None:
        await node.run_pod("root", {"name": "c", "securityContext": {"runAsNonRoot": True}})
        wants = [{"name": "X", "valueFrom": {"configMapKeyRef": {"name": "absent", "key": "k"}}}]
        await node.run_pod("missing", {"name": "c", "env": wants})
        await node.run_pod("nothing", {"name": "c", "command": ["/no/such/program"]})
        texts = {
            "root": 'container has runAsNonRoot and image will run as root (pod: "root_default({})", container: c)',
            "missing": 'configmap "absent" not found',
        }
        for name, message in texts.items():
            pod = await node.until(name, lambda p: "message" in (state(p, "c").get("waiting") or {}))
            waiting = state(pod, "c")["waiting"]
            assert waiting["reason"] == "CreateContainerConfigError"
            assert waiting["message"] == message.replace("{}", pod["metadata"]["uid"])
        pod = await node.until("nothing", lambda p: "message" in (state(p, "c").get("waiting") or {}))
        assert state(pod, "c")["waiting"]["reason"] in ("RunContainerError", "CrashLoopBackOff")
        assert any(
            "/no/such/program" in message for reason, message in await node.events("nothing") if reason == "Failed"
        )

    play(kind, tmp_path, scene)


@pytest.mark.parametrize("kind", KINDS)
def test_a_static_pods_mirror_shows_how_it_is(kind: str, tmp_path: Path) -> None:
    async def scene(node: RealNode) -> None:
        manifest = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "static"},
            "spec": {
                "terminationGracePeriodSeconds": 1,
                "containers": [{"name": "c", "image": node.image, "command": FOREVER}],
            },
        }
        path = node.where / "manifests/static.json"
        path.with_suffix(".new").write_bytes(fast_json.dumps(manifest))
        path.with_suffix(".new").rename(path)
        pod = await node.until(f"static-{NODE}", running)
        assert pod["metadata"]["annotations"]["kubernetes.io/config.mirror"]
        assert pod["status"]["containerStatuses"][0]["ready"] is True
        container_id = pod["status"]["containerStatuses"][0]["containerID"].partition("://")[2]
        await node.admin.delete(resource("pods"), pod["metadata"]["name"], "default")
        again = await node.until(
            f"static-{NODE}", lambda p: running(p) and p["metadata"]["uid"] != pod["metadata"]["uid"]
        )
        assert again["status"]["containerStatuses"][0]["containerID"].endswith(container_id)
        path.unlink()
        await until_nothing_runs(node)

    play(kind, tmp_path, scene)


@pytest.mark.parametrize("kind", KINDS)
def test_a_machine_short_of_memory_gives_up_a_pod(kind: str, tmp_path: Path) -> None:
    """The machine has what it has, so the threshold is beyond it; what the pod uses is measured."""

    async def scene(node: RealNode) -> None:
        short = False

        async def summary() -> Summary:
            measured = await node_summary(node.runtime)
            plenty = {"memory.available": Observation(1 << 61, 1 << 61)}
            return measured if short else Summary(plenty, measured.pods)

        await node.stop()
        await node.start(summary=summary, eviction_hard=[parse_threshold("memory.available", "1Ei")])
        await node.run_pod("greedy", {"name": "c", "command": FOREVER})
        await node.until("greedy", ready("c"))
        short = True
        status = (await node.until("greedy", lambda p: bool(p["status"]["phase"] == "Failed")))["status"]
        assert status["reason"] == "Evicted"
        assert status["message"].startswith(
            "The node was low on resource: memory. Threshold quantity: 1Ei, available: "
        )
        assert "Container c was using " in status["message"]
        assert "request is 0, has larger consumption of memory. " in status["message"]
        await until_nothing_runs(node, (await node.admin.get(resource("pods"), "greedy", "default"))["metadata"]["uid"])

    play(kind, tmp_path, scene)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pod_that_has_written_more_than_it_may_is_given_up(kind: str, tmp_path: Path) -> None:
    async def scene(node: RealNode) -> None:
        plenty = {"memory.available": Observation(1 << 61, 1 << 61)}

        async def summary() -> Summary:
            return Summary(plenty, (await node_summary(node.runtime)).pods)

        await node.stop()
        await node.start(summary=summary)
        writes = ["sh", "-c", "dd if=/dev/zero of=/file bs=1M count=8; exec sleep 3600"]
        limits = {"limits": {"ephemeral-storage": "5Mi"}}
        await node.run_pod("greedy", {"name": "c", "command": writes, "resources": limits})
        failed = await node.until("greedy", lambda p: bool(p["status"]["phase"] == "Failed"))
        assert failed["status"]["reason"] == "Evicted"
        whole = "Pod ephemeral local storage usage exceeds the total limit of containers 5Mi. "
        assert failed["status"]["message"] == whole
        await until_nothing_runs(node, failed["metadata"]["uid"])

    play(kind, tmp_path, scene)


def test_a_pod_with_users_of_its_own(tmp_path: Path) -> None:
    """`hostUsers: false`: root in it is a number without rights on the node, and its volumes are its own all the same."""

    async def scene(node: RealNode) -> None:
        await node.create("configmaps", {"metadata": {"name": "cfg"}, "data": {"greeting": "hello"}})
        write = "cat /config/greeting > /scratch/mine; chown 1000:1000 /scratch/mine; id -u; exec sleep 1000"
        mounts = [{"name": "config", "mountPath": "/config"}, {"name": "scratch", "mountPath": "/scratch"}]
        volumes = [{"name": "config", "configMap": {"name": "cfg"}}, {"name": "scratch", "emptyDir": {}}]
        for name in ("first", "second"):
            container = {"name": "c", "command": ["sh", "-c", write], "volumeMounts": mounts}
            await node.run_pod(name, container, hostUsers=False, volumes=volumes, securityContext={"fsGroup": 2000})
        firsts = []
        for name in ("first", "second"):
            pod = await node.until(name, running)
            uid = pod["metadata"]["uid"]
            maps = (await node.output(name, "c", "cat", "/proc/self/uid_map", "/proc/self/gid_map")).split()
            assert maps == ["0", maps[1], "65536"] * 2
            firsts.append(int(maps[1]))
            noted = fast_json.loads((node.where / "kubelet/pods" / uid / "userns").read_bytes())
            mapping = {"hostId": int(maps[1]), "containerId": 0, "length": 65536}
            assert noted == {"uidMappings": [mapping], "gidMappings": [mapping]}
            assert await node.output(name, "c", "stat", "-c", "%u:%g", "/scratch/mine") == "1000:1000\n"
            file = node.where / "kubelet/pods" / uid / "volumes/kubernetes.io~empty-dir/scratch/mine"
            assert (file.stat().st_uid, file.read_text()) == (1000, "hello")
            token = "/var/run/secrets/kubernetes.io/serviceaccount/token"
            assert len(await node.output(name, "c", "cat", token)) > 100
            await node.output(name, "c", "sh", "-c", "echo last words > /dev/termination-log; echo more >> /etc/hosts")
        assert len(set(firsts)) == 2
        assert min(firsts) >= 65536
        seen = await node.admin.get(resource("nodes"), NODE)
        assert seen["status"]["runtimeHandlers"][0]["features"]["userNamespaces"] is True
        await node.gone("first")
        assert isinstance(node.kubelet.host, LocalPodHost)
        await eventually(lambda: len(node.kubelet.host.userns._used_by) == 1)  # type: ignore[attr-defined]

    play("sandbox", tmp_path, scene)


def test_a_runtime_that_has_no_user_namespaces_is_said_in_an_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lifecycle.cri.sandbox.runtime.why_no_user_namespaces", lambda: "not here")

    async def scene(node: RealNode) -> None:
        await node.run_pod("p", {"name": "c", "command": FOREVER}, hostUsers=False)
        why = "can't set `spec.hostUsers: false`, runtime does not support user namespaces"
        told = ("FailedCreatePodSandBox", f"Failed to create pod sandbox: {why}")
        async with asyncio.timeout(30):
            while told not in await node.events("p"):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        seen = await node.admin.get(resource("nodes"), NODE)
        assert seen["status"]["runtimeHandlers"][0]["features"]["userNamespaces"] is False

    play("sandbox", tmp_path, scene)
