"""How pods and containers end: last words, signals, hooks, who waits for whom. On virtual time, hollow containers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time, run_virtual
from lifecycle.api.resources import resource
from lifecycle.cri.apis.container import (
    ContainerMetadata,
    ContainerState,
    ContainerStatus,
)
from lifecycle.cri.apis.pod_sandbox import (
    PodSandboxMetadata,
    PodSandboxState,
    PodSandboxStatus,
)
from lifecycle.kubelet.cm.resource_config import ResourceConfig
from lifecycle.kubelet.container.runtime import PodStatus
from lifecycle.kubelet.kubelet_pods.api_pod_status import generate_api_pod_status
from lifecycle.kubelet.kubelet_pods.container_statuses import StatusInputs
from lifecycle.kubelet.kuberuntime.container_config import generate_pod_sandbox_config
from lifecycle.kubelet.kuberuntime.container_killer import TerminationOrder, termination_grace_period
from lifecycle.kubelet.status.terminal_status import has_pod_initialized
from tests.kubelet.kubelet_pods.test_pod_shapes import container, settled, state
from tests.kubelet.small_cluster import small_cluster
from tests.kubelet.test_kubelet import ONE_NODE

DONE: Object = {"terminated": {"exitCode": 0}}
NO_IMAGE = container(image="nope.invalid/none:1")
NO_VOLUME = [{"name": "v", "secret": {"secretName": "none"}}]
MOUNTED = [{"name": "v", "mountPath": "/v"}]
LONG = container("sh", "-c", "sleep 600", name="i")
HASTY = {"terminationGracePeriodSeconds": 1}


def shell(script: str, name: str = "c", **more: Any) -> Object:
    return container("sh", "-c", script, name=name, **more)


def deleted(spec: Object, after: float = 3.0, limit: float = 60.0) -> tuple[Object, list[Object]]:
    """The last status of a pod that is deleted after so many seconds, and the events, oldest first."""

    async def main() -> tuple[Object, list[Object]]:
        async with small_cluster(nodes=ONE_NODE, latency=0.1) as cluster:
            await cluster.create_pod({"metadata": {"name": "p"}, "spec": spec})
            await asyncio.sleep(after)
            frames = await cluster.admin.watch(resource("pods"), "default", bookmarks=False)
            await cluster.admin.delete(resource("pods"), "p", "default")
            async with asyncio.timeout(limit):
                async for frame in frames:
                    if frame.type == "DELETED":
                        await asyncio.sleep(1)
                        return frame.object["status"], await cluster.events("default")
            raise AssertionError("the watch has ended")

    return run_virtual(main())


def times(events: list[Object], reason: str) -> dict[str, float]:
    return {e["message"]: parse_time(e["firstTimestamp"]) for e in events if e["reason"] == reason}


@pytest.mark.parametrize(
    ("script", "more", "message"),
    [
        ("echo bye > /dev/termination-log; exit 3", {}, "bye\n"),
        ("echo one > /dev/termination-log; echo two >> /dev/termination-log; exit 1", {}, "one\ntwo\n"),
        ("echo one > /last; echo two > /last; exit 1", {"terminationMessagePath": "/last"}, "two\n"),
        ("echo gone >&2; exit 1", {"terminationMessagePolicy": "FallbackToLogsOnError"}, "gone\n"),
        ("echo -n gone; exit 1", {"terminationMessagePolicy": "FallbackToLogsOnError"}, "gone"),
        ("echo fine; exit 0", {"terminationMessagePolicy": "FallbackToLogsOnError"}, None),
        ("echo gone; exit 1", {}, None),
    ],
)
def test_last_words_stand_in_the_status(script: str, more: Object, message: str | None) -> None:
    status, _ = settled({"restartPolicy": "Never", "containers": [shell(script, **more)]}, 4)
    assert state(status)["terminated"].get("message") == message


@pytest.mark.parametrize(
    ("script", "spec", "phase", "code"),
    [
        ("sleep 3600", {"terminationGracePeriodSeconds": 3}, "Failed", 137),
        ("sleep 3600", {"terminationGracePeriodSeconds": 3, "shareProcessNamespace": True}, "Failed", 143),
        ("trap 'exit 0' TERM; sleep 3600 & wait", {}, "Succeeded", 0),
        ("trap 'sleep 1; exit 4' TERM; sleep 3600 & wait", {}, "Failed", 4),
    ],
)
def test_how_a_deleted_pod_ends_is_the_programs_own_business(script: str, spec: Object, phase: str, code: int) -> None:
    """Whatever the restart policy: what is deleted is not started again."""
    status, _ = deleted({**spec, "containers": [shell(script)]})
    assert (status["phase"], state(status)["terminated"]["exitCode"]) == (phase, code)
    assert {c["type"]: c.get("reason") for c in status["conditions"]}["Ready"] == (
        "PodCompleted" if phase == "Succeeded" else "PodFailed"
    )


def test_a_hook_that_ends_the_program_spares_the_rest_of_its_time() -> None:
    hook = {"preStop": {"exec": {"command": ["/usr/sbin/nginx", "-s", "quit"]}}}
    web = {"name": "web", "image": "nginx:1.27", "lifecycle": hook}
    status, events = deleted({"containers": [web]}, limit=5)
    assert status["phase"] == "Succeeded"
    assert times(events, "FailedPreStopHook") == {}


def test_a_hook_that_takes_too_long_is_cut_off_with_its_container() -> None:
    """Nobody waits for it any more; that it failed is heard when its container is dead."""
    hook = {"preStop": {"exec": {"command": ["sleep", "600"]}}}
    spec = {"terminationGracePeriodSeconds": 4, "containers": [shell("sleep 3600", lifecycle=hook)]}
    status, events = deleted(spec)
    assert state(status)["terminated"]["exitCode"] == 137
    killing = times(events, "Killing")["Stopping container c"]
    assert (
        times(events, "FailedPreStopHook")["PreStopHook failed"] - killing == 6
    )  # its four seconds, and two for the program


def test_sidecars_are_told_at_once_and_stopped_last() -> None:
    wait = "trap 'sleep 3; exit 0' TERM; sleep 3600 & wait"
    quick = "trap 'exit 0' TERM; sleep 3600 & wait"
    side = {"restartPolicy": "Always", "lifecycle": {"preStop": {"exec": {"command": ["true"]}}}}
    spec = {
        "initContainers": [shell(quick, "first", **side), shell(quick, "second", **side)],
        "containers": [shell(wait, "main")],
    }
    status, events = deleted(spec)
    assert len(set(times(events, "Killing").values())) == 1
    entries = [*status["containerStatuses"], *reversed(status["initContainerStatuses"])]
    ended = [parse_time(entry["state"]["terminated"]["finishedAt"]) for entry in entries]
    assert [entry["name"] for entry in entries] == ["main", "second", "first"]
    assert ended == sorted(ended)
    assert ended[1] - parse_time(entries[0]["state"]["terminated"]["startedAt"]) >= 3


def test_who_waits_for_whom() -> None:
    async def main() -> list[str]:
        spec = {
            "initContainers": [
                {"name": "one", "restartPolicy": "Always"},
                {"name": "done"},
                {"name": "two", "restartPolicy": "Always"},
            ],
            "containers": [{"name": "a"}, {"name": "b"}],
        }
        order = TerminationOrder(spec, ["one", "two", "a"])  # b has ended already
        turns: list[str] = []

        async def ends(name: str, takes: float) -> None:
            await order.wait_for_turn(name, 30)
            await asyncio.sleep(takes)
            turns.append(name)
            order.container_terminated(name)

        await asyncio.gather(ends("one", 0), ends("two", 0), ends("a", 2))
        return turns

    assert run_virtual(main()) == ["a", "two", "one"]


def test_a_turn_is_not_waited_for_beyond_the_grace_period() -> None:
    async def main() -> float:
        order = TerminationOrder(
            {"initContainers": [{"name": "s", "restartPolicy": "Always"}], "containers": [{"name": "a"}]}, ["a", "s"]
        )
        await order.wait_for_turn("s", 7)
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 7


def test_the_deletion_says_how_much_time_there_is_before_probe_and_spec() -> None:
    probe = {"livenessProbe": {"terminationGracePeriodSeconds": 5}}
    pod: Object = {"metadata": {}, "spec": {"terminationGracePeriodSeconds": 20}}
    assert termination_grace_period(pod, probe, "") == 20
    assert termination_grace_period(pod, probe, "Container c failed liveness probe, will be restarted") == 5
    assert (
        termination_grace_period({**pod, "metadata": {"deletionGracePeriodSeconds": 3}}, probe, "failed liveness probe")
        == 3
    )


@pytest.mark.parametrize(
    ("spec", "ends"),
    [
        ({"containers": [NO_IMAGE]}, ["c 137"]),
        (
            {"volumes": NO_VOLUME, "containers": [container(volumeMounts=MOUNTED), container(name="d")]},
            ["c 137", "d 137"],
        ),
        ({"initContainers": [LONG], "containers": [container()], **HASTY}, ["i 137", "c waiting"]),
        (
            {"initContainers": [NO_IMAGE, LONG], "containers": [container(name="d")]},
            ["c 137", "i waiting", "d waiting"],
        ),
        ({"containers": [shell("exit 1")]}, ["c 1"]),
    ],
)
def test_a_pod_that_is_deleted_before_it_ran_has_failed(spec: Object, ends: list[str]) -> None:
    """And so has what was to be started next; what had to wait for that still waits."""
    status, _ = deleted(spec)
    assert status["phase"] == "Failed"
    found = []
    for entry in [*status.get("initContainerStatuses", ()), *status["containerStatuses"]]:
        over = entry["state"].get("terminated")
        found.append(f"{entry['name']} {over['exitCode'] if over else 'waiting'}")
        assert over is None or over["reason"] in ("ContainerStatusUnknown", "Error")
    assert found == ends


@pytest.mark.parametrize(
    ("status", "initialized"),
    [
        ({}, False),
        ({"initContainerStatuses": [{"name": "i", "state": DONE}, {"name": "s", "state": {"waiting": {}}}]}, False),
        ({"initContainerStatuses": [{"name": "i", "state": DONE}, {"name": "s", "state": {"running": {}}, "started": False}]}, False),
        ({"initContainerStatuses": [{"name": "i", "state": DONE}, {"name": "s", "state": {"running": {}}, "started": True}]}, True),
        ({"containerStatuses": [{"name": "c", "state": {"waiting": {}}, "lastState": DONE}]}, True),
        ({"containerStatuses": [{"name": "c", "state": {"waiting": {}}, "lastState": {}}]}, False),
    ],
)  # fmt: skip
def test_when_a_pod_has_been_initialized(status: Object, initialized: bool) -> None:
    init = [{"name": "i"}, {"name": "s", "restartPolicy": "Always"}]
    assert (
        has_pod_initialized({"spec": {"initContainers": init, "containers": [{"name": "c"}]}, "status": status})
        is initialized
    )
    assert has_pod_initialized({"spec": {"containers": [{"name": "c"}]}, "status": status})


# -- what a status says of what is no longer there ----------------------------------------------------------------------

POD: Object = {
    "metadata": {"name": "p", "namespace": "n", "uid": "u", "generation": 1},
    "spec": {"initContainers": [{"name": "i", "image": "x"}], "containers": [{"name": "c", "image": "x"}]},
}
SANDBOX = PodSandboxStatus("s", PodSandboxMetadata("p", "u", "n"), PodSandboxState.READY, 0, "10.0.0.2")


def run(name: str, run_state: ContainerState, code: int = 0, attempt: int = 0) -> ContainerStatus:
    return ContainerStatus(
        f"{name}{attempt}", "s", ContainerMetadata(name, attempt), run_state, attempt, "x", "x", exit_code=code
    )


def status_of(*runs: ContainerStatus, before: Object | None = None) -> Object:
    return generate_api_pod_status(
        POD, PodStatus([SANDBOX], list(runs)), StatusInputs(host_ip="10.0.0.1"), before or {}
    )


def test_an_init_container_that_was_cleaned_away_has_done_its_work() -> None:
    """As long as the pod's own containers are there: they could not be otherwise."""
    status = status_of(run("c", ContainerState.RUNNING))
    [init] = status["initContainerStatuses"]
    assert (init["state"]["terminated"]["reason"], init["ready"]) == ("Completed", True)
    assert status["phase"] == "Running"
    assert list(status_of()["initContainerStatuses"][0]["state"]) == ["waiting"]


def test_a_container_that_ran_and_is_gone_is_not_taken_for_one_that_never_ran() -> None:
    done = run("i", ContainerState.EXITED)
    before = status_of(run("c", ContainerState.RUNNING), done)
    status = status_of(done, before=before)
    [entry] = status["containerStatuses"]
    assert entry["lastState"]["terminated"]["reason"] == "ContainerStatusUnknown"
    assert (entry["restartCount"], status["phase"]) == (1, "Running")


def test_what_was_said_of_an_end_stays_said() -> None:
    done = run("i", ContainerState.EXITED)
    before = status_of(run("c", ContainerState.EXITED, 3), done)
    assert status_of(done, before=before)["containerStatuses"] == before["containerStatuses"]


def test_a_pod_whose_sandbox_is_new_is_pending_again_while_it_initializes() -> None:
    old = ContainerStatus("c0", "old", ContainerMetadata("c"), ContainerState.EXITED, 0, "x", "x", exit_code=1)
    assert status_of(run("i", ContainerState.RUNNING, attempt=1), old)["phase"] == "Pending"


def test_reason_and_message_go_with_their_phase() -> None:
    before = {"phase": "Pending", "reason": "Why", "message": "because"}
    assert status_of(before=before)["reason"] == "Why"
    assert "reason" not in status_of(run("c", ContainerState.RUNNING), run("i", ContainerState.EXITED), before=before)


def test_an_ephemeral_container_is_never_ready() -> None:
    pod = {**POD, "spec": {**POD["spec"], "ephemeralContainers": [{"name": "e", "image": "x"}]}}
    runs = [run(name, ContainerState.RUNNING) for name in ("e", "c")]
    made = generate_api_pod_status(pod, PodStatus([SANDBOX], runs), StatusInputs(), {})
    [entry] = made["ephemeralContainerStatuses"]
    assert (entry["ready"], "started" in entry) == (False, False)


def test_whom_a_container_runs_as_is_the_runtimes_to_say() -> None:
    quiet, told = run("c", ContainerState.RUNNING), run("c", ContainerState.RUNNING)
    told.user = {"uid": 7, "gid": 8, "supplemental_groups": [8, 9]}
    assert "user" not in status_of(quiet)["containerStatuses"][0]
    assert status_of(told)["containerStatuses"][0]["user"] == {
        "linux": {"uid": 7, "gid": 8, "supplementalGroups": [8, 9]}
    }


@pytest.mark.parametrize(
    ("wish", "supported", "shown"),
    [
        ("IfPossible", True, "Enabled"),
        ("IfPossible", False, "Disabled"),
        ("Enabled", False, "Disabled"),
        ("Disabled", True, "Disabled"),
    ],
)
def test_mounts_are_read_only_all_the_way_down_where_the_runtime_can(wish: str, supported: bool, shown: str) -> None:
    mount = {"name": "v", "mountPath": "/v", "readOnly": True, "recursiveReadOnly": wish}
    spec = {"containers": [{"name": "c", "image": "x", "volumeMounts": [mount]}]}
    inputs = StatusInputs(recursive_read_only=supported)
    for runs in ([], [run("c", ContainerState.RUNNING)]):
        status = generate_api_pod_status({**POD, "spec": spec}, PodStatus([SANDBOX], runs), inputs, {})
        assert status["containerStatuses"][0]["volumeMounts"][0]["recursiveReadOnly"] == shown


def test_a_sandbox_on_the_nodes_network_gets_no_name_of_its_own() -> None:
    def hostname(**spec: Any) -> str:
        return generate_pod_sandbox_config({**POD, "spec": {**POD["spec"], **spec}}, 0).hostname

    assert hostname() == "p"
    assert hostname(hostname="books") == "books"
    assert hostname(hostNetwork=True, hostname="books") == ""


# -- resources ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phase", "cgroup", "limits"),
    [
        ("Pending", ResourceConfig(memory=1 << 20), None),
        ("Running", None, None),
        ("Running", ResourceConfig(memory=(1 << 63) - 4096), {"memory": "9007199254740988Ki"}),
        ("Running", ResourceConfig(cpu_quota=-1, cpu_period=100_000), None),
        ("Running", ResourceConfig(cpu_quota=50_000, cpu_period=100_000), {"cpu": "500m"}),
        ("Running", ResourceConfig(cpu_quota=1_000, cpu_period=100_000), None),
    ],
)
def test_a_running_pod_shows_the_limits_of_its_group(phase: str, cgroup: ResourceConfig | None, limits: Any) -> None:
    pod = {**POD, "status": {"phase": phase}}
    status = generate_api_pod_status(pod, PodStatus([SANDBOX], []), StatusInputs(pod_cgroup=cgroup), {})
    assert status["resources"].get("limits") == limits


@pytest.mark.parametrize("cgroup", [None, ResourceConfig()])
def test_of_a_pod_that_has_ended_limits_are_shown_as_long_as_its_group_is_there(cgroup: ResourceConfig | None) -> None:
    spec = {"containers": [{"name": "c", "image": "x", "resources": {"limits": {"cpu": "1"}}}]}
    inputs = StatusInputs(pod_is_terminal=True, pod_cgroup=cgroup)
    status = generate_api_pod_status({**POD, "spec": spec}, PodStatus([SANDBOX], []), inputs, {})
    assert ("limits" in status["resources"]) is (cgroup is not None)


def test_a_running_container_shows_what_its_cgroup_has() -> None:
    """Bytes and thousandths, however the spec spelt them."""
    wanted = {"limits": {"cpu": "0.5", "memory": "128974848"}, "requests": {"cpu": "250m", "memory": "50M"}}
    status, _ = settled({"containers": [shell("sleep 3600", resources=wanted)]}, 3)
    [entry] = status["containerStatuses"]
    assert entry["resources"] == {
        "limits": {"cpu": "500m", "memory": "123Mi"},
        "requests": {"cpu": "250m", "memory": "50M"},
    }
    assert entry["allocatedResources"] == {"cpu": "250m", "memory": "50M"}


def test_a_pods_resources_are_the_most_it_needs_at_any_time() -> None:
    spec = {
        "initContainers": [
            shell("true", "big", resources={"requests": {"cpu": "300m"}}),
            shell("sleep 3600", "side", restartPolicy="Always", resources={"requests": {"cpu": "50m"}}),
        ],
        "containers": [
            shell(
                "sleep 3600", "a", resources={"requests": {"cpu": "100m", "memory": "8Mi"}, "limits": {"cpu": "200m"}}
            ),
            shell("sleep 3600", "b", resources={"requests": {"memory": "8Mi"}}),
        ],
    }
    status, _ = settled(spec, 4)
    assert status["allocatedResources"] == {"cpu": "300m", "memory": "16Mi"}
    assert status["resources"] == {"requests": {"cpu": "300m", "memory": "16Mi"}, "limits": {"cpu": "200m"}}


def test_a_pod_in_the_nodes_network_has_the_nodes_address_from_the_beginning() -> None:
    pod: Object = {
        "metadata": {"name": "p", "uid": "u"},
        "spec": {"hostNetwork": True, "containers": [{"name": "c", "image": "x"}]},
    }
    made = generate_api_pod_status(pod, PodStatus(), StatusInputs(host_ip="10.0.0.1"), {})
    assert (made["phase"], made["podIP"]) == ("Pending", "10.0.0.1")
