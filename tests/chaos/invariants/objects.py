"""Promises about any object, whoever wrote it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time
from tests.chaos.history import WORKLOADS, Change
from tests.chaos.invariants.registry import (
    World,
    invariant,
)


@invariant()
def the_resource_version_grows(change: Change, world: World) -> Iterator[str]:
    """From event to event, and from one version of an object to the next."""
    if change.revision <= world.revision:
        yield f"after revision {world.revision}"
    if change.before is not None and int(change.before["metadata"]["resourceVersion"]) >= change.revision:
        yield f"the object was at {change.before['metadata']['resourceVersion']}"


@invariant()
def events_tell_a_story(change: Change, world: World) -> Iterator[str]:
    """Only what is not there is added, only what is there is changed or deleted, and from the state that was told last."""
    known = world.objects[change.row].get(change.key)
    if change.kind == "ADDED" and known is not None:
        yield "it was there already"
    if change.kind != "ADDED" and (known is None or change.before is None):
        yield "it was not there"
    if known is not None and change.before is not None and known != change.before:
        yield "it comes from a state that nobody was told of"


@invariant()
def a_uid_is_for_one_object_and_for_ever(change: Change, world: World) -> Iterator[str]:
    """Also name, namespace and creationTimestamp stay; and no uid comes a second time."""
    metadata = change.obj["metadata"]
    if change.kind == "ADDED":
        if metadata["uid"] in world.uids:
            yield f"its uid was that of {world.uids[metadata['uid']]}"
        return
    if change.before is None:
        return
    for name in ("uid", "name", "namespace", "creationTimestamp", "generateName"):
        if change.before["metadata"].get(name) != metadata.get(name):
            yield f"{name} was {change.before['metadata'].get(name)}, is {metadata.get(name)}"


@invariant(kinds=("MODIFIED",))
def the_generation_never_falls(change: Change, world: World) -> Iterator[str]:
    """`metadata.generation`."""
    before, after = (each["metadata"].get("generation", 0) for each in (change.before or change.obj, change.obj))
    if after < before:
        yield f"from {before} to {after}"


@invariant(kinds=("MODIFIED",))
def the_generation_moves_with_the_spec(change: Change, world: World) -> Iterator[str]:
    """And only with it, by one; a Deployment's annotations and the beginning of a deletion count as well, a binding does not."""
    before, after = change.before, change.obj
    if before is None or "generation" not in after["metadata"] or "spec" not in after:
        return
    step = after["metadata"]["generation"] - before["metadata"].get("generation", 0)
    begins_to_end = "deletionTimestamp" in after["metadata"] and "deletionTimestamp" not in before["metadata"]
    moved = may_move = before["spec"] != after["spec"]
    if change.row == "pods" and before["spec"].get("nodeName") != after["spec"].get("nodeName"):
        return
    if change.row == "deployments.apps":
        may_move = moved or before["metadata"].get("annotations") != after["metadata"].get("annotations")
    if step and not (may_move or begins_to_end):
        yield f"it moved by {step}, and the spec is the same"
    if moved and not step:
        yield "the spec has changed, and it has not"
    if step > 1 + begins_to_end:
        yield f"it jumped by {step}"


@invariant(kinds=("ADDED", "MODIFIED"))
def what_was_observed_has_happened(change: Change, world: World) -> Iterator[str]:
    """`status.observedGeneration` never exceeds the generation, and never falls."""
    seen = (change.obj.get("status") or {}).get("observedGeneration", 0)
    if "generation" in change.obj["metadata"] and seen > change.obj["metadata"]["generation"]:
        yield f"{seen} was observed of {change.obj['metadata']['generation']}"
    if change.before is not None:
        earlier = (change.before.get("status") or {}).get("observedGeneration", 0)
        if seen < earlier:
            yield f"from {earlier} back to {seen}"


@invariant(kinds=("MODIFIED",))
def a_deletion_is_not_taken_back(change: Change, world: World) -> Iterator[str]:
    """A deletionTimestamp stays; time and grace may only become shorter."""
    before, after = (change.before or {"metadata": {}})["metadata"], change.obj["metadata"]
    if "deletionTimestamp" not in before:
        return
    if "deletionTimestamp" not in after:
        yield "it was being deleted, and is no longer"
    elif parse_time(after["deletionTimestamp"]) > parse_time(before["deletionTimestamp"]):
        yield f"put off from {before['deletionTimestamp']} to {after['deletionTimestamp']}"
    if after.get("deletionGracePeriodSeconds", 0) > before.get("deletionGracePeriodSeconds", 0):
        yield "its grace has grown"


@invariant()
def finalizers_hold(change: Change, world: World) -> Iterator[str]:
    """What has some goes only after it was marked as deleted; and then it gets no more of them."""
    metadata, before = change.obj["metadata"], (change.before or change.obj)["metadata"]
    finalizers = set(metadata.get("finalizers") or ())
    if change.kind == "DELETED":
        if finalizers and "deletionTimestamp" not in metadata:
            yield f"it is gone in spite of {', '.join(sorted(finalizers))}"
        if len(finalizers) > 1:
            yield f"several finalizers were left: {', '.join(sorted(finalizers))}"
    elif "deletionTimestamp" in before and (more := finalizers - set(before.get("finalizers") or ())):
        yield f"it is being deleted, and got {', '.join(sorted(more))}"


@invariant(kinds=("ADDED", "MODIFIED"))
def one_controller_owns_it(change: Change, world: World) -> Iterator[str]:
    """At most one owner is the controller, and it has existed."""
    owners = change.obj["metadata"].get("ownerReferences") or ()
    controllers = [owner for owner in owners if owner.get("controller")]
    if len(controllers) > 1:
        yield f"{len(controllers)} controllers"
    if change.kind == "ADDED":
        for owner in controllers:
            if owner["uid"] not in world.uids and owner["kind"] in (
                "Deployment",
                "ReplicaSet",
                "StatefulSet",
                "DaemonSet",
                "Job",
            ):
                yield f"nobody ever saw its owner {owner['kind']} {owner['name']}"


@invariant(kinds=("ADDED", "MODIFIED"))
def a_condition_keeps_its_time(change: Change, world: World) -> Iterator[str]:
    """There is one of each type, and its lastTransitionTime moves with its status only.

    A kubelet counts from what it saw last, which it may not have been able to tell: so on pods and nodes it may also move ahead
    (upstream: `kubelet/status/status_manager.go`, `setStatusInternal`, which asks its own cache for the old status). And where the
    node lifecycle controller has called a pod not ready that was so already, because it had not heard of it
    (`controller/util/node/controller_utils.go`, `MarkPodsNotReady`), the kubelet says again since when it really is.
    """
    conditions = (change.obj.get("status") or {}).get("conditions") or ()
    for kind, count in Counter(each["type"] for each in conditions).items():
        if count > 1:
            yield f"{count} × {kind}"
    before = {each["type"]: each for each in ((change.before or {}).get("status") or {}).get("conditions") or ()}
    for each in conditions:
        old = before.get(each["type"])
        if old is None or old["status"] != each["status"]:
            continue
        earlier, later = old.get("lastTransitionTime"), each.get("lastTransitionTime")
        if change.row in ("pods", "nodes") and earlier and later and parse_time(later) > parse_time(earlier):
            continue
        if change.row == "pods" and each["type"] == "Ready" and _is_what_the_kubelet_saw(change, each, world):
            continue
        if earlier != later:
            yield f"{each['type']} is {each['status']} since {old.get('lastTransitionTime')}, now {each.get('lastTransitionTime')}"


def _is_what_the_kubelet_saw(change: Change, condition: Object, world: World) -> bool:
    """It says so since a time that was told before, or that comes after all in which it was told otherwise."""
    known = world.since[change.obj["metadata"]["uid"]]
    kind, status, since = condition["type"], condition["status"], str(condition.get("lastTransitionTime"))
    others = [parse_time(time) for other, value, time in known if other == kind and value != status]
    return (kind, status, since) in known or parse_time(since) >= max(others, default=0.0)


@invariant(*WORKLOADS, kinds=("MODIFIED",))
def a_selector_is_for_ever(change: Change, world: World) -> Iterator[str]:
    """Of workloads."""
    if change.before is not None and change.before["spec"].get("selector") != change.obj["spec"].get("selector"):
        yield "it has another selector now"
