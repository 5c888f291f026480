"""What becomes of pods that have ended."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from lifecycle.api.http.wire import Object
from tests.chaos.history import Change, History
from tests.chaos.invariants.registry import TERMINAL, controller_of, is_ready


def of_jobs(history: History) -> dict[str, Any]:
    """For each Job that is there at the end: how many of its pods ever succeeded, whether or not they are still there, and how many
    failed although nobody had asked them to end.

    More pods than completions may succeed, as many as were made without the controller being told (`History.doubtful`). One that
    was asked to end and succeeds all the same counts, or it does not: the controller may have called it failed when it was asked
    (upstream: `job/job_controller.go`, `isPodFailed`, v1.36).
    """
    jobs: dict[str, Change] = {}
    succeeded: dict[str, dict[str, bool]] = defaultdict(dict)
    """By Job and pod: whether it was asked to end."""
    failed: dict[str, set[str]] = defaultdict(set)
    for change in history.changes:
        if change.row == "jobs.batch":
            jobs[change.key] = change
        owner = controller_of(change.obj) if change.row == "pods" else None
        if owner is None or owner["kind"] != "Job":
            continue
        uid, phase = change.obj["metadata"]["uid"], change.obj["status"].get("phase")
        if phase == "Succeeded":
            succeeded[owner["uid"]].setdefault(uid, was_asked_to_end(change.obj))
        ends = phase == "Failed" and (change.before or {}).get("status", {}).get("phase") != "Failed"
        if ends and not was_asked_to_end(change.obj):
            failed[owner["uid"]].add(uid)
    state = {}
    for key, change in jobs.items():
        if change.kind == "DELETED":
            continue
        uid = change.obj["metadata"]["uid"]
        wanted, asked = change.obj["spec"]["completions"], sum(succeeded[uid].values())
        count = len(succeeded[uid])
        if count - asked <= wanted + history.doubtful.get(uid, 0) and count >= wanted:
            count = wanted
        state[f"pods of {key}"] = {"succeeded": count, "failed": len(failed[uid])}
    return state


def was_asked_to_end(pod: Object) -> bool:
    """Somebody deleted it, or was about to: the condition comes before the deletion. Upstream: `tainteviction/taint_eviction.go`
    (`addConditionAndDeletePod`), `pod/storage/eviction.go` (the same name), v1.36.
    """
    return "deletionTimestamp" in pod["metadata"] or any(
        each["type"] == "DisruptionTarget" and each["status"] == "True"
        for each in pod["status"].get("conditions") or ()
    )


def unnoticed(history: History, service: Object) -> set[str]:
    """The uids of pods of a Service that have ended without its endpoints having to know.

    The controller is woken by a pod's readiness, addresses, labels and deletion mark, not by its phase. A pod that first was no
    longer ready and then ended wakes nobody at its end, and stays listed until a pod of the Service comes or goes, if the
    controller saw the two one after the other. Upstream: `endpointslice/util/controller_utils.go` (`podEndpointsChanged`), v1.36.
    """
    selector, namespace = service["spec"]["selector"], service["metadata"]["namespace"]
    versions: dict[str, list[Change]] = defaultdict(list)
    for change in history.changes:
        metadata = change.obj["metadata"]
        labels = (metadata.get("labels") or {}).items()
        if change.row == "pods" and metadata["namespace"] == namespace and selector.items() <= labels:
            versions[metadata["uid"]].append(change)
    came_or_went = max(
        (each.revision for changes in versions.values() for each in changes if each.kind != "MODIFIED"), default=0
    )
    uids = set()
    for uid, changes in versions.items():
        ended = next((each for each in changes if each.obj["status"].get("phase") in TERMINAL), None)
        if ended is None or ended.revision <= came_or_went or "deletionTimestamp" in changes[-1].obj["metadata"]:
            continue
        last = _seen(changes[-1].obj)
        if any(_seen(each.obj) == last for each in changes[: changes.index(ended)]):
            uids.add(uid)
    return uids


def _seen(pod: Object) -> Any:
    return is_ready(pod), pod["status"].get("podIPs")
