"""Promises about pods."""

from __future__ import annotations

from collections.abc import Iterator

from tests.chaos.history import Change
from tests.chaos.invariants.registry import (
    PHASES,
    TERMINAL,
    World,
    containers,
    controller_of,
    invariant,
    is_active,
    is_ready,
)


@invariant("pods", kinds=("MODIFIED",))
def a_phase_never_goes_back(change: Change, world: World) -> Iterator[str]:
    """Pending, Running, and one of the ends, which is final."""
    before, after = (each["status"].get("phase") or "Pending" for each in (change.before or change.obj, change.obj))
    if before != after and (before in TERMINAL or PHASES.index(after) < PHASES.index(before)):
        yield f"from {before} to {after}"


@invariant("pods", kinds=("MODIFIED",))
def a_pod_stays_on_its_node(change: Change, world: World) -> Iterator[str]:
    """`spec.nodeName` is set once."""
    before, after = (each["spec"].get("nodeName", "") for each in (change.before or change.obj, change.obj))
    if before and before != after:
        yield f"from {before} to {after or 'nowhere'}"


@invariant("pods", kinds=("MODIFIED",))
def a_pod_keeps_its_containers(change: Change, world: World) -> Iterator[str]:
    """Which containers there are, the volumes, the restart policy and the class of service do not change."""
    before, after = change.before or change.obj, change.obj
    for name in ("containers", "initContainers"):
        if [c["name"] for c in before["spec"].get(name) or ()] != [c["name"] for c in after["spec"].get(name) or ()]:
            yield f"{name} were others"
    for name in ("volumes", "restartPolicy", "serviceAccountName", "hostNetwork", "terminationGracePeriodSeconds"):
        if before["spec"].get(name) != after["spec"].get(name):
            yield f"{name} was {before['spec'].get(name)}"
    if before["status"].get("qosClass") not in (None, after["status"].get("qosClass")):
        yield f"qosClass was {before['status']['qosClass']}"


@invariant("pods", kinds=("MODIFIED",))
def a_start_is_not_forgotten(change: Change, world: World) -> Iterator[str]:
    """`status.startTime` is set once."""
    before, after = (each["status"].get("startTime") for each in (change.before or change.obj, change.obj))
    if before and before != after:
        yield f"from {before} to {after}"


@invariant("pods", kinds=("MODIFIED",))
def a_restart_count_never_falls(change: Change, world: World) -> Iterator[str]:
    """Of each container."""
    before = dict(containers(change.before or change.obj))
    for name, status in containers(change.obj):
        if name in before and status["restartCount"] < before[name]["restartCount"]:
            yield f"{name}: from {before[name]['restartCount']} to {status['restartCount']}"


@invariant("pods", kinds=("MODIFIED",))
def a_container_is_not_run_twice_for_once(change: Change, world: World) -> Iterator[str]:
    """Another container ID comes with a higher restart count."""
    before = dict(containers(change.before or change.obj))
    for name, status in containers(change.obj):
        old = before.get(name, {}).get("containerID")
        other = old and status.get("containerID") and old != status["containerID"]
        if other and status["restartCount"] <= before[name]["restartCount"]:
            yield f"{name}: another container, and still {status['restartCount']} restarts"


@invariant("pods", kinds=("MODIFIED",))
def an_end_is_not_lost(change: Change, world: World) -> Iterator[str]:
    """A terminated container's state stays, here or as lastState, until a later container has ended as well."""
    before = dict(containers(change.before or change.obj))
    after = dict(containers(change.obj))
    for name, status in before.items():
        ended = status["state"].get("terminated")
        if not ended or not ended.get("containerID"):
            continue
        now = after.get(name)
        if now is None:
            yield f"{name}: its status is gone"
            continue
        kept = [now["state"].get("terminated"), (now.get("lastState") or {}).get("terminated")]
        same = [each for each in kept if each and each.get("containerID") == ended["containerID"]]
        if not same and now["restartCount"] < status["restartCount"] + 2:
            yield f"{name}: nothing is known any more of {ended['containerID'][-12:]}, which ended with {ended['exitCode']}"
        for each in same:
            if each["exitCode"] != ended["exitCode"]:
                yield f"{name}: it ended with {ended['exitCode']}, now with {each['exitCode']}"


@invariant("pods", kinds=("MODIFIED",))
def what_ended_does_not_run_again(change: Change, world: World) -> Iterator[str]:
    """In a pod that has ended no container runs."""
    if change.obj["status"].get("phase") in TERMINAL:
        for name, status in containers(change.obj):
            if "running" in status["state"]:
                yield f"{name} runs in a pod that has {change.obj['status']['phase']}"


@invariant("pods", kinds=("ADDED", "MODIFIED"))
def ready_means_running(change: Change, world: World) -> Iterator[str]:
    """A pod is Ready only on a node, with all its containers ready, and with an address."""
    status = change.obj["status"]
    if not is_ready(change.obj):
        return
    if status.get("phase") != "Running" or not change.obj["spec"].get("nodeName"):
        yield f"it is {status.get('phase')} on {change.obj['spec'].get('nodeName') or 'no node'}"
    if not all(each["ready"] for each in status.get("containerStatuses") or ()):
        yield "not all of its containers are"
    if not status.get("podIP"):
        yield "it has no address"


@invariant("pods", kinds=("ADDED", "MODIFIED"))
def an_address_is_for_one_pod(change: Change, world: World) -> Iterator[str]:
    """No two pods that have not ended and are not about to have the same address, those on the host's network apart."""
    address = change.obj["status"].get("podIP")
    if not address or change.obj["spec"].get("hostNetwork") or not is_active(change.obj):
        return
    if change.before is not None and change.before["status"].get("podIP") == address:
        return
    for key, other in world.objects["pods"].items():
        if key == change.key or other["spec"].get("hostNetwork") or not is_active(other):
            continue
        if other["status"].get("podIP") == address:
            yield f"{address} is that of {key}"


@invariant("pods", kinds=("DELETED",))
def a_pod_is_gone_only_after_its_containers(change: Change, world: World) -> Iterator[str]:
    """What ran on a node that still exists goes when its kubelet has said that nothing runs any more; or somebody used force."""
    pod = change.obj
    node = pod["spec"].get("nodeName")
    if not node or f"nodes {node}" not in world.objects["nodes"] or pod["status"].get("phase") in TERMINAL:
        return
    metadata = pod["metadata"]
    if "deletionTimestamp" not in metadata:
        # the store deletes without another write where no grace is left: the kubelet's own delete, or with force
        running = [name for name, status in containers(pod) if "running" in status["state"]]
        if running:
            yield f"{', '.join(running)} ran, and it was never asked to end"
    elif metadata.get("deletionGracePeriodSeconds"):
        running = [name for name, status in containers(pod) if "running" in status["state"]]
        if running:
            yield f"{', '.join(running)} ran"


@invariant("pods", kinds=("MODIFIED", "DELETED"))
def what_a_job_has_done_stays(change: Change, world: World) -> Iterator[str]:
    """A pod of a Job that has ended is deleted by somebody who says so in a condition, or with the Job.

    Upstream: the Job controller deletes active pods only (`job_controller.go`, `deleteActivePods`); whoever takes pods off a node
    writes DisruptionTarget first (`taint_eviction.go` and `eviction.go`, `addConditionAndDeletePod`).
    """
    before, owner = change.before or change.obj, controller_of(change.obj)
    if owner is None or owner["kind"] != "Job" or before["status"].get("phase") not in TERMINAL:
        return
    marked = ["deletionTimestamp" in each["metadata"] for each in (before, change.obj)]
    if marked[0] or (change.kind == "MODIFIED" and not marked[1]):
        return
    job = next((job for job in world.objects["jobs.batch"].values() if job["metadata"]["uid"] == owner["uid"]), None)
    if job is None or "deletionTimestamp" in job["metadata"]:
        return
    if not any(each["type"] == "DisruptionTarget" for each in change.obj["status"].get("conditions") or ()):
        yield f"it had {before['status']['phase']}, and nobody says why it goes"
