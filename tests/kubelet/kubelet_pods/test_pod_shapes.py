"""Pods of shapes that users make by accident or design: what their status says in the end. On virtual time, hollow containers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.kubelet.kubelet_pods.phase import get_phase
from tests.kubelet.small_cluster import small_cluster
from tests.kubelet.test_kubelet import ONE_NODE


def container(*script: str, name: str = "c", **more: Any) -> Object:
    return {"name": name, "image": "busybox:1.36", "command": list(script) or ["sh", "-c", "sleep 3600"], **more}


def settled(spec: Object, seconds: float = 8) -> tuple[Object, dict[str, str]]:
    """Its status after so many seconds, and the events' texts by reason."""

    async def main() -> tuple[Object, dict[str, str]]:
        async with small_cluster(nodes=ONE_NODE, latency=0.1) as cluster:
            cfg = {"metadata": {"name": "cfg"}, "data": {"there": "1"}}
            await cluster.admin.create(resource("configmaps"), cfg, "default")
            secret = {"metadata": {"name": "sec"}, "stringData": {"there": "1"}}
            await cluster.admin.create(resource("secrets"), secret, "default")
            await cluster.create_pod({"metadata": {"name": "p"}, "spec": spec})
            await asyncio.sleep(seconds)
            events = {e["reason"]: e["message"] for e in await cluster.events("default")}
            return (await cluster.pod("p"))["status"], events

    return run_virtual(main())


def state(status: Object, index: int = 0) -> Object:
    return dict(status["containerStatuses"][index]["state"])


def test_what_cannot_be_started_and_is_not_tried_again_has_ended() -> None:
    """With another policy it would be waiting for the next try."""
    status, _ = settled({"restartPolicy": "Never", "containers": [container("/no/such")]})
    assert status["phase"] == "Failed"
    assert state(status)["terminated"]["reason"] == "StartError"
    assert state(status)["terminated"]["exitCode"] == 128
    status, _ = settled({"restartPolicy": "OnFailure", "containers": [container("/no/such")]})
    assert status["phase"] == "Running"
    assert state(status)["waiting"]["reason"] == "RunContainerError"
    assert status["containerStatuses"][0]["restartCount"] == 1  # the second try came at once, the third has to wait


def test_a_hook_that_fails_says_so_where_the_container_waits() -> None:
    hook = {"postStart": {"exec": {"command": ["sh", "-c", "exit 4"]}}}
    spec = {"terminationGracePeriodSeconds": 0, "containers": [container(lifecycle=hook)]}
    status, events = settled(spec, 3.2)
    waiting = state(status)["waiting"]
    assert waiting["reason"] == "PostStartHookError"
    before, _, after = waiting["message"].partition(' in Pod "p_default(')
    assert before == 'Exec lifecycle hook ([sh -c exit 4]) for Container "c"'
    assert after.endswith(""")" failed - error: command 'sh -c exit 4' exited with 4: , message: \"\"""")
    assert events["FailedPostStartHook"] == "PostStartHook failed"  # what a hook says may be a secret
    status, _ = settled({**spec, "restartPolicy": "Never"})
    assert (status["phase"], list(state(status))) == ("Failed", ["terminated"])


def test_a_containers_own_rule_starts_it_again_in_a_pod_that_never_would() -> None:
    rule = {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}
    own = {"restartPolicy": "Never", "restartPolicyRules": [rule]}
    status, _ = settled({"restartPolicy": "Never", "containers": [container("sh", "-c", "exit 42", **own)]})
    assert (status["phase"], status["containerStatuses"][0]["restartCount"]) == ("Running", 1)
    status, _ = settled({"restartPolicy": "Never", "containers": [container("sh", "-c", "exit 43", **own)]})
    assert (status["phase"], status["containerStatuses"][0]["restartCount"]) == ("Failed", 0)


@pytest.mark.parametrize(
    ("volume", "why"),
    [
        ({"configMap": {"name": "cfg", "items": [{"key": "k", "path": "p"}]}}, "configmap references non-existent config key: k"),
        ({"secret": {"secretName": "sec", "items": [{"key": "k", "path": "p"}]}}, "references non-existent secret key: k"),
        ({"projected": {"sources": [{"configMap": {"name": "none"}}]}}, 'configmap "none" not found'),
        ({"configMap": {"name": "cfg", "items": [{"key": "there", "path": "p"}]}}, ""),
        ({"configMap": {"name": "none", "optional": True}}, ""),
        ({"hostPath": {"path": "/no/such", "type": "Directory"}}, "hostPath type check failed: /no/such is not a directory"),
        ({"hostPath": {"path": "/etc/hosts", "type": "Socket"}}, "hostPath type check failed: /etc/hosts is not a socket file"),
        ({"hostPath": {"path": "/var/log/", "type": "Directory"}}, ""),
        ({"hostPath": {"path": "/no/such", "type": "DirectoryOrCreate"}}, ""),
    ],
)  # fmt: skip
def test_a_volume_without_what_it_is_made_of_keeps_the_pod_from_starting(volume: Object, why: str) -> None:
    mounts = [{"name": "v", "mountPath": "/v"}]
    spec = {"volumes": [{"name": "v", **volume}], "containers": [container(volumeMounts=mounts)]}
    status, events = settled(spec)
    assert events.get("FailedMount", "") == (why and f'MountVolume.SetUp failed for volume "v" : {why}')
    expected = {"waiting": {"reason": "ContainerCreating"}} if why else state(status)
    assert (status["phase"], state(status)) == ("Pending" if why else "Running", expected)


def test_a_path_with_an_unknown_variable_is_no_configuration() -> None:
    mounts = [{"name": "v", "mountPath": "/v", "subPathExpr": "$(NOPE)"}]
    spec = {"volumes": [{"name": "v", "emptyDir": {}}], "containers": [container(volumeMounts=mounts)]}
    status, events = settled(spec)
    wanted = {"reason": "CreateContainerConfigError", "message": 'missing value for "NOPE"'}
    assert state(status) == {"waiting": wanted}
    assert events["Failed"] == 'Error: missing value for "NOPE"'


def test_a_pods_limits_go_with_its_cgroup() -> None:
    """As recorded of the pod `oom`: what a container was given stays, what the pod had is no more."""
    limited = container("sh", "-c", "sleep 3", resources={"limits": {"memory": "16Mi"}})
    spec = {"restartPolicy": "Never", "containers": [limited]}
    both = {"limits": {"memory": "16Mi"}, "requests": {"memory": "16Mi"}}
    status, _ = settled(spec, 2)
    assert (status["phase"], status["resources"]) == ("Running", both)
    status, _ = settled(spec)
    assert (status["phase"], status["resources"]) == ("Succeeded", {"requests": {"memory": "16Mi"}})
    assert status["containerStatuses"][0]["resources"] == both


RUNNING, DONE = {"running": {}}, {"terminated": {"exitCode": 0}}
SIDE = {"name": "s", "restartPolicy": "Always"}


@pytest.mark.parametrize(
    ("policy", "side", "main", "terminal", "phase"),
    [
        ("Always", {"state": RUNNING, "started": False}, RUNNING, False, "Running"),  # it starts again, beside
        ("Always", {"state": RUNNING, "started": False}, {"waiting": {}}, False, "Pending"),
        ("Never", {"state": RUNNING, "started": True}, DONE, False, "Running"),  # it has still to be ended
        ("Never", {"state": DONE}, DONE, False, "Succeeded"),
        ("Never", {"state": {"terminated": {"exitCode": 137}}}, DONE, True, "Succeeded"),  # its end does not count
    ],
)
def test_a_sidecar_and_the_phase(policy: str, side: Object, main: Object, terminal: bool, phase: str) -> None:
    spec = {"restartPolicy": policy, "initContainers": [SIDE], "containers": [{"name": "m"}]}
    statuses = [{"name": "s", **side}, {"name": "m", "state": main}]
    assert get_phase(spec, statuses, terminal) == phase


def conditions(status: Object) -> dict[str, str]:
    return {c["type"]: c["status"] for c in status["conditions"]}


def test_a_container_that_is_started_again_against_the_pods_policy_is_seen_to_end_and_to_run() -> None:
    """The API server lets nothing come back to life in a pod that never restarts, unless a container's own rule says so."""
    rule = {"action": "Restart", "exitCodes": {"operator": "NotIn", "values": [0]}}
    own = {"restartPolicy": "Never", "restartPolicyRules": [rule]}
    spec = {
        "restartPolicy": "Never",
        "containers": [container("sh", "-c", "sleep 1; exit 7", **own), container(name="other")],
    }

    async def main() -> list[str]:
        seen = []
        async with small_cluster(nodes=ONE_NODE, latency=0.2) as cluster:
            await cluster.create_pod({"metadata": {"name": "p"}, "spec": spec})
            for _ in range(300):
                await asyncio.sleep(0.02)
                statuses = (await cluster.pod("p")).get("status", {}).get("containerStatuses")
                now = f"{next(iter(statuses[0]['state']))} {statuses[0]['restartCount']}" if statuses else ""
                if now and now not in seen:
                    seen.append(now)
        return seen

    assert run_virtual(main()) == ["waiting 0", "running 0", "terminated 0", "running 1", "terminated 1"]


def test_one_containers_end_starts_all_of_them_again() -> None:
    """From the first init container, in the same sandbox; what was removed on the way is told in the last states."""
    rule = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}
    spec = {
        "restartPolicy": "Never",
        "initContainers": [container("sh", "-c", "true", name="i"), container(name="s", restartPolicy="Always")],
        "containers": [
            container("sh", "-c", "sleep 5; exit 42", name="a", restartPolicy="Never", restartPolicyRules=[rule]),
            container(name="b"),
        ],
    }
    before, _ = settled(spec, 4)
    assert conditions(before)["AllContainersRestarting"] == "False"
    after, events = settled(spec, 13)
    assert (after["phase"], after["podIP"]) == ("Running", before["podIP"])
    assert conditions(after)["AllContainersRestarting"] == "False"
    assert conditions(after)["Initialized"] == "True"
    for entry in [*after["initContainerStatuses"], *after["containerStatuses"]]:
        assert entry["restartCount"] == 1, entry["name"]
        ended = entry["lastState"]["terminated"]
        assert (ended["exitCode"], ended["reason"]) == (137, "RestartingAllContainers"), entry["name"]
    assert events["Killing"].startswith("Stopping container ")


RESTART_ALL = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}
ASKS = {"restartPolicy": "Never", "restartPolicyRules": [RESTART_ALL]}


def test_a_lone_container_that_asks_for_all_to_restart_has_not_failed() -> None:
    status, _ = settled(
        {"restartPolicy": "Never", "containers": [container("sh", "-c", "sleep 3; exit 42", **ASKS)]}, 6
    )
    [entry] = status["containerStatuses"]
    assert (status["phase"], list(entry["state"]), entry["restartCount"]) == ("Running", ["running"], 1)
    assert entry["lastState"]["terminated"]["reason"] == "RestartingAllContainers"


def test_an_init_container_may_ask_for_it_too() -> None:
    """The sidecar before it starts again; what had not been started does not count as restarted."""
    side = container(name="s", restartPolicy="Always")
    asks = container("sh", "-c", "sleep 1; exit 42", name="i", **ASKS)
    status, _ = settled({"restartPolicy": "Never", "initContainers": [side, asks], "containers": [container()]}, 5)
    assert status["phase"] == "Pending"
    assert [entry["restartCount"] for entry in status["initContainerStatuses"]] == [1, 1]
    assert status["containerStatuses"][0]["restartCount"] == 0
    assert state(status) == {"waiting": {"reason": "PodInitializing"}}
