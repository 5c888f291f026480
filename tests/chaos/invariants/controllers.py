"""Promises of controllers, about several objects."""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.api.http.wire import Object
from tests.chaos.history import Change
from tests.chaos.invariants.registry import (
    HALF_A_MINUTE,
    World,
    controller_of,
    controller_uid,
    invariant,
    is_active,
    is_ready,
    most,
    share,
)


@invariant("pods", kinds=("ADDED",))
def a_replica_set_makes_no_surplus_pod(change: Change, world: World) -> Iterator[str]:
    """Never more live pods than its spec asked for."""
    owner = controller_of(change.obj)
    if owner is None or owner["kind"] != "ReplicaSet" or not is_active(change.obj):
        return
    allowed = most(world.believed("replicasets.apps", owner["uid"], change.at), "replicas")
    live = len(world.live_pods(owner["uid"])) + 1
    if live > allowed + world.doubtful.get(owner["uid"], 0):
        yield f"{live} pods live of {owner['name']}, which wants {allowed}"


@invariant("replicasets.apps", kinds=("ADDED", "MODIFIED"))
def a_rollout_keeps_to_its_surge(change: Change, world: World) -> Iterator[str]:
    """When a replica set grows, all of a Deployment together want at most `replicas` and `maxSurge` pods."""
    owner = controller_of(change.obj)
    if owner is None or owner["kind"] != "Deployment":
        return
    wants = change.obj["spec"].get("replicas", 1)
    if wants <= (change.before or {"spec": {"replicas": 0}})["spec"].get("replicas", 1):
        return
    allowed = 0
    for version in world.believed("deployments.apps", owner["uid"], change.at):
        if version is None:
            continue
        replicas, strategy = version["spec"].get("replicas", 1), version["spec"]["strategy"]
        surge = share((strategy.get("rollingUpdate") or {}).get("maxSurge"), replicas, up=True)
        allowed = max(allowed, replicas + surge)
    others = sum(
        min(
            version["spec"].get("replicas", 1) if version is not None else 0
            for version in world.believed("replicasets.apps", other["metadata"]["uid"], change.at)
        )
        for key, other in world.objects["replicasets.apps"].items()
        if key != change.key and controller_uid(other) == owner["uid"]
    )
    if others + wants > allowed:
        yield f"{others + wants} pods are wanted for {owner['name']}, at most {allowed} are allowed"


@invariant("pods", kinds=("ADDED",))
def a_stateful_set_goes_in_order(change: Change, world: World) -> Iterator[str]:
    """With OrderedReady, a pod is made when all before it are there and ready, or were half a minute ago."""
    owner = controller_of(change.obj)
    if owner is None or owner["kind"] != "StatefulSet":
        return
    versions = world.versions[owner["uid"]]
    if not versions or versions[-1]["spec"].get("podManagementPolicy") == "Parallel":
        return
    base, _, ordinal = change.key.rpartition("-")
    for number in range(int(ordinal)):
        if change.at - world.was_ready.get(f"{base}-{number}", -HALF_A_MINUTE) > HALF_A_MINUTE:
            other = world.objects["pods"].get(f"{base}-{number}")
            if other is None or not is_ready(other):
                yield f"number {number} is not ready"


@invariant("pods", kinds=("ADDED",))
def a_stateful_set_has_only_its_ordinals(change: Change, world: World) -> Iterator[str]:
    """From 0 to replicas - 1; each is one name, so there are never two of one."""
    owner = controller_of(change.obj)
    if owner is None or owner["kind"] != "StatefulSet":
        return
    allowed = most(world.believed("statefulsets.apps", owner["uid"], change.at), "replicas")
    ordinal = int(change.key.rpartition("-")[2])
    if ordinal >= allowed:
        yield f"number {ordinal} of {allowed}"


@invariant("pods", kinds=("ADDED",))
def a_daemon_runs_once_on_a_node(change: Change, world: World) -> Iterator[str]:
    """One live pod of a DaemonSet for each node."""
    owner = controller_of(change.obj)
    if owner is None or owner["kind"] != "DaemonSet":
        return
    node = _daemon_node(change.obj)
    same = [pod for pod in world.live_pods(owner["uid"]) if _daemon_node(pod) == node]
    if len(same) > world.doubtful.get(owner["uid"], 0):
        yield f"{node} has {', '.join(pod['metadata']['name'] for pod in same)}"


def _daemon_node(pod: Object) -> str:
    """For which node it was made."""
    affinity = pod["spec"].get("affinity") or {}
    required = (affinity.get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or ():
        for field_ in term.get("matchFields") or ():
            return str(field_["values"][0])
    return str(pod["spec"].get("nodeName", ""))


@invariant("pods", kinds=("ADDED",))
def a_job_keeps_to_its_parallelism(change: Change, world: World) -> Iterator[str]:
    """Live pods; and none is made for one that has ended."""
    owner = controller_of(change.obj)
    if owner is None or owner["kind"] != "Job":
        return
    versions = world.believed("jobs.batch", owner["uid"], change.at)
    allowed = most(versions, "parallelism")
    live = len(world.live_pods(owner["uid"])) + 1
    if live > allowed + world.doubtful.get(owner["uid"], 0):
        yield f"{live} pods live, {allowed} may"
    if all(version is not None and _finished(version) for version in versions):
        yield f"{owner['name']} has ended"


def _finished(job: Object) -> str:
    conditions = (job.get("status") or {}).get("conditions") or ()
    return next(
        (each["type"] for each in conditions if each["type"] in ("Complete", "Failed") and each["status"] == "True"), ""
    )


@invariant("jobs.batch", kinds=("ADDED", "MODIFIED"))
def a_job_counts_each_pod_once(change: Change, world: World) -> Iterator[str]:
    """Succeeded never falls and never exceeds the completions; nor does failed fall; the end is final."""
    status, spec = change.obj.get("status") or {}, change.obj["spec"]
    before = (change.before or {}).get("status") or {}
    for name in ("succeeded", "failed"):
        if status.get(name, 0) < before.get(name, 0):
            yield f"{name} from {before[name]} to {status.get(name, 0)}"
    if spec.get("completions") is not None and status.get("succeeded", 0) > spec["completions"]:
        yield f"{status['succeeded']} of {spec['completions']} succeeded"
    if change.before is not None and _finished(change.before) not in ("", _finished(change.obj)):
        yield f"it was {_finished(change.before)}"
