"""The whole way on real Linux: create, schedule, pull, run, connect, resolve, balance; and then nothing is left."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lifecycle.cluster.linux.clean import clean, leftovers, processes
from lifecycle.cluster.linux.requirements import check
from lifecycle.cluster.linux.run_state import Run, runs
from lifecycle.cri.images.oci_image import layout
from lifecycle.cri.images.small_images import find_busybox, shell_image
from lifecycle.cri.sandbox.network import in_network
from tests.cluster.linux_up import Up, added_to_host_network, host_network, up
from tests.conftest import unavailable

CLIENT = '{"spec":{"nodeSelector":{"kubernetes.io/hostname":"lifecycle-worker"},"terminationGracePeriodSeconds":0}}'
SPREAD = '{"spec":{"template":{"spec":{"nodeSelector":{"kubernetes.io/hostname":"lifecycle-worker2"},"terminationGracePeriodSeconds":1}}}}'


def pods(cluster: Up, selector: str = "app=nginx") -> dict[str, str]:
    """Addresses by name, of pods that are not going away."""
    items = json.loads(cluster.k("get", "pods", "-l", selector, "-o", "json"))["items"]
    return {
        item["metadata"]["name"]: item["status"].get("podIP", "")
        for item in items
        if "deletionTimestamp" not in item["metadata"]
    }


def answers(cluster: Up, url: str, tries: int = 40) -> set[str]:
    """Who answers a client pod; tries that fail do not count."""
    script = f"for i in $(busybox seq {tries}); do timeout 3 wget -qO- {url} 2>/dev/null; done; true"
    return set(cluster.k("exec", "client", "--", "sh", "-c", script).split())


def create_and_expose(cluster: Up) -> None:
    """Three replicas, all on the second worker; a Service; a client on the first."""
    cluster.k("create", "deployment", "nginx", "--image=nginx", "--replicas=3")
    cluster.k("patch", "deployment", "nginx", "-p", SPREAD)
    cluster.k("expose", "deployment", "nginx", "--port=80", "--type=NodePort")
    cluster.k("run", "client", "--image=busybox", "--restart=Never", f"--overrides={CLIENT}", "--", "sleep", "3600")
    cluster.k("rollout", "status", "deployment", "nginx", "--timeout=90s")
    cluster.k("wait", "--for=condition=Ready", "pod/client", "--timeout=90s")


def a_service_is_found_by_name_and_reaches_all(cluster: Up) -> None:
    """From a pod on the other host: our DNS, our rules, our overlay."""
    node_of = "custom-columns=NODE:.spec.nodeName"
    assert cluster.k("get", "pod", "client", "--no-headers", "-o", node_of).strip() == "lifecycle-worker"
    expected = pods(cluster)
    assert len(expected) == 3
    found = cluster.k("exec", "client", "--", "nslookup", "nginx.default.svc.cluster.local")
    address = cluster.k("get", "service", "nginx", "-o", "jsonpath={.spec.clusterIP}")
    assert re.search(rf"Name:\s+nginx.default.svc.cluster.local\s+Address: {address}", found), found
    assert "10.96.0.10:53" in found
    assert answers(cluster, "http://nginx") == set(expected)


def node_ports_work_from_every_node(cluster: Up) -> None:
    """On the node's own address, another's, and loopback."""
    port = cluster.k("get", "service", "nginx", "-o", "jsonpath={.spec.ports[0].nodePort}")
    for node, address in (("lifecycle-control-plane", "172.19.0.4"), ("lifecycle-worker", "172.19.0.3")):
        assert cluster.on_node(node, "busybox", "wget", "-qO-", f"http://{address}:{port}").strip() in pods(cluster)
    assert cluster.on_node("lifecycle-worker", "busybox", "wget", "-qO-", f"http://127.0.0.1:{port}").strip() in pods(
        cluster
    )


def each_node_has_a_proxy_of_its_own(cluster: Up) -> None:
    """On its own two ports, though all of them are one process; and the kernel remembers flows as long as kube-proxy wants."""
    for node, address in (("lifecycle-control-plane", "172.19.0.4"), ("lifecycle-worker", "172.19.0.3")):
        for at in ("127.0.0.1", address):
            assert '"healthy":true' in cluster.on_node(node, "busybox", "wget", "-qO-", f"http://{at}:10256/healthz")
        assert cluster.on_node(node, "busybox", "wget", "-qO-", "http://127.0.0.1:10249/proxyMode") == "iptables"
        limit = "/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_close_wait"
        assert cluster.on_node(node, "cat", limit) == "3600\n"


def a_pod_reaches_the_api_server_as_itself(cluster: Up) -> None:
    """With what is mounted into it: token and CA; from its own network namespace, at the Service's address."""
    where = "/var/run/secrets/kubernetes.io/serviceaccount"
    token = cluster.k("exec", "client", "--", "cat", f"{where}/token").strip()
    authority = cluster.k("exec", "client", "--", "cat", f"{where}/ca.crt")
    named = cluster.k("exec", "client", "--", "nslookup", "kubernetes.default.svc.cluster.local")
    assert "Address: 10.96.0.1\n" in named, named
    asleep = b"sleep\x003600\x00"
    inside = next(pid for pid in processes(cluster.run) if Path(f"/proc/{pid}/cmdline").read_bytes() == asleep)
    context = ssl.create_default_context(cadata=authority)
    with in_network(f"/proc/{inside}/ns/net"):
        plain = socket.create_connection(("10.96.0.1", 443), timeout=5)
    with context.wrap_socket(plain, server_hostname="kubernetes.default.svc") as tls:
        request = f"GET /api/v1/namespaces/default/secrets HTTP/1.0\r\nAuthorization: Bearer {token}\r\n\r\n"
        tls.sendall(request.encode())
        said = b"".join(iter(lambda: tls.recv(65536), b"")).decode()
    assert "403" in said.splitlines()[0], said
    assert 'User \\"system:serviceaccount:default:default\\" cannot list resource \\"secrets\\"' in said, said


def logs_and_exec_reach_the_container(cluster: Up) -> None:
    """The requests that the web server wrote down; a command in one chosen replica."""
    name = min(pods(cluster))
    assert cluster.k("exec", name, "--", "hostname").strip() == name
    assert "url:/" in cluster.k("logs", name)
    assert "exit code 3" in cluster.k("exec", name, "--", "sh", "-c", "exit 3", fails=True)


def scaling_and_rolling_out_reach_the_rules(cluster: Up) -> None:
    """Fewer endpoints, then other ones: who answers follows."""
    cluster.k("scale", "deployment", "nginx", "--replicas=1")
    cluster.k("set", "image", "deployment/nginx", "nginx=nginx:1.27")
    cluster.k("rollout", "status", "deployment", "nginx", "--timeout=90s")
    deadline = time.monotonic() + 60
    while (found := answers(cluster, "http://nginx", 8)) != set(pods(cluster)) and time.monotonic() < deadline:
        time.sleep(0.2)  # a proxy may write rules once a second
    assert found == set(pods(cluster))
    assert len(found) == 1


def an_image_that_does_not_exist_says_so(cluster: Up) -> None:
    """As a registry's answer would."""
    cluster.k("run", "lost", "--image=no-such-image:1", "--restart=Never")
    cluster.k("wait", "--for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=ErrImagePull", "pod/lost")
    events = cluster.k(
        "get", "events", "--field-selector=involvedObject.name=lost", "-o", "jsonpath={.items[*].message}"
    )
    assert 'Failed to pull image "no-such-image:1": ' in events
    assert 'failed to resolve reference "docker.io/library/no-such-image:1"' in events
    cluster.k("delete", "pod", "lost", "--grace-period=0", "--force")


def deleting_takes_the_pods_away(cluster: Up) -> None:
    """And their processes with them."""
    cluster.k("delete", "deployment,service", "nginx")
    cluster.k("wait", "--for=delete", "pod", "-l", "app=nginx", "--timeout=90s")


def assert_nothing_is_left(run: Run, network: set[str]) -> None:
    """No process, mount, cgroup or file with the run's name; the machine's own network as before."""
    assert leftovers(run) == []
    assert added_to_host_network(network) == set()
    assert run.id not in {other.id for other in runs()}


@pytest.mark.parametrize("words", [("sandbox",), ("sandbox", "--overlay", "host-gw"), ("containerd",)], ids=" ".join)
def test_a_deployment_from_kubectl_to_packets(tmp_path: Path, words: tuple[str, ...]) -> None:
    """The story of the book, on real Linux, with a real kubectl."""
    with up(tmp_path, "--runtime", *words) as cluster:
        network = host_network()
        create_and_expose(cluster)
        a_service_is_found_by_name_and_reaches_all(cluster)
        node_ports_work_from_every_node(cluster)
        each_node_has_a_proxy_of_its_own(cluster)
        if "host-gw" not in words:
            a_pod_reaches_the_api_server_as_itself(cluster)
            logs_and_exec_reach_the_container(cluster)
            scaling_and_rolling_out_reach_the_rules(cluster)
            an_image_that_does_not_exist_says_so(cluster)
            deleting_takes_the_pods_away(cluster)
        assert leftovers(cluster.run), "what is looked for must be there while it runs"
        uids = cluster.k("get", "pods", "-A", "-o", "jsonpath={.items[*].metadata.uid}").split()
        assert cluster.end() == 0, (tmp_path / "stderr").read_text()
        assert_nothing_is_left(cluster.run, network)
        logs = Path("/var/log/pods")
        assert not [d for d in (logs.iterdir() if logs.exists() else ()) if any(uid in d.name for uid in uids)]


def test_what_a_killed_run_leaves_the_next_one_takes_away(tmp_path: Path) -> None:
    """`kill -9` with pods running; another run at the same time is not touched."""
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    words = ("--runtime", "sandbox", "--nodes", "2")
    with up(tmp_path / "one", *words) as one, up(tmp_path / "two", *words) as two:
        network = host_network()
        for cluster in (one, two):
            cluster.k("run", "client", "--image=busybox", "--restart=Never", "--", "sleep", "3600")
            cluster.k("wait", "--for=condition=Ready", "pod/client", "--timeout=90s")
        one.end(signal.SIGKILL)
        assert {what.split()[0] for what in leftovers(one.run)} == {"process", "mount", "cgroup", "directory"}
        doctor = [sys.executable, "-m", "lifecycle", "doctor"]
        told = subprocess.run(doctor, capture_output=True, text=True, check=True).stdout
        assert f"run {one.run.id}" in told
        subprocess.run([*doctor, "--clean"], capture_output=True, check=True)
        assert_nothing_is_left(one.run, network)
        two.k("exec", "client", "--", "true")
        assert two.end(signal.SIGTERM) == 0
        assert_nothing_is_left(two.run, network)


def test_a_machine_that_cannot_is_told_why_in_one_line(tmp_path: Path) -> None:
    """Not root, or a program missing: one line, exit code 1, no traceback, nothing made."""
    before = [run.id for run in runs()]
    command = [sys.executable, "-m", "lifecycle", "up", "--runtime", "sandbox", "--kubeconfig", str(tmp_path / "k")]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": str(tmp_path)}, timeout=30, check=False)
    assert done.returncode == 1, done
    assert re.fullmatch(
        r"lifecycle: --runtime sandbox: .*iptables is missing .*apt-get install iptables.*\n", done.stderr
    ), done
    assert [run.id for run in runs()] == before


def test_without_root_the_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what runs without it."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(
        ValueError, match=r"^--runtime sandbox: real containers need root: use sudo, or --runtime hollow$"
    ):
        check("sandbox")


def test_a_containerd_that_is_there_runs_our_pods_and_gets_them_taken_away_again(tmp_path: Path) -> None:
    """One node at a given socket; after a `kill -9` its sandboxes are found by their label."""
    from tests.cri.private_containerd import private_containerd, why_not

    if why_not():
        unavailable(why_not())

    async def play() -> None:
        async with private_containerd(tmp_path / "given") as given:
            await asyncio.to_thread(kubectl_at_it, tmp_path / "given/containerd.sock")
            assert await given.list_pod_sandbox() == []

    def kubectl_at_it(socket_path: Path) -> None:
        (tmp_path / "up").mkdir()
        archive = tmp_path / "images.tar"
        busybox = find_busybox()
        assert busybox is not None
        archive.write_bytes(layout({"docker.io/library/busybox:1.36": shell_image(busybox)}))
        ctr = ["ctr", "--address", str(socket_path), "--namespace", "k8s.io", "images", "import", str(archive)]
        subprocess.run(ctr, check=True, capture_output=True)
        with up(tmp_path / "up", "--runtime", f"containerd:{socket_path}", "--nodes", "1") as cluster:
            cluster.k(
                "run", "client", "--image=busybox:1.36", "--restart=Never", "--", "sh", "-c", "echo here; sleep 3600"
            )
            cluster.k("wait", "--for=condition=Ready", "pod/client", "--timeout=90s")
            assert cluster.k("logs", "client") == "here\n"
            assert cluster.k("exec", "client", "--", "hostname") == "client\n"
            cluster.end(signal.SIGKILL)
            clean(cluster.run)
            assert leftovers(cluster.run) == []

    (tmp_path / "given").mkdir()
    asyncio.run(play())
