"""Counting finished pods so that none is missed and none counts twice, and telling how
the Job ended.

A finished pod may be deleted before it was counted, or be counted twice. So every pod
of a Job carries the finalizer `batch.kubernetes.io/job-tracking`, and counting takes
three steps that may be interrupted anywhere:

    1. the pod's uid goes into `status.uncountedTerminatedPods`          (written)
    2. its finalizer is removed                                          (the pod may go
       now)
    3. the uid leaves the list, and `succeeded` or `failed` grows        (one write)

Whoever finds a uid in the list whose pod has no finalizer any more knows that only step
3 is missing.

Upstream: `pkg/controller/job/job_controller.go` (`trackJobStatusAndRemoveFinalizers`,
`enactJobFinished`), v1.36.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, format_time
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.events import EventRecorder
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH, Client
from lifecycle.controllers.consistency_store import ConsistencyStore
from lifecycle.controllers.job.job_count import (
    TRACKING_FINALIZER,
    JobCount,
    has_finalizer,
)
from lifecycle.controllers.job.job_status import (
    Condition,
    ensure_condition,
    new_condition,
)
from lifecycle.controllers.job.per_index import has_backoff_limit_per_index
from lifecycle.controllers.job.tracking_utils import UIDTrackingExpectations
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.pod_readiness import is_pod_active, is_pod_terminating

JOBS, PODS = resource("jobs.batch"), resource("pods")
MAX_UNCOUNTED_PODS = 500
TOO_MANY = "Too many succeeded pods running after completion count reached"

_ALWAYS = frozenset(
    {"uncountedTerminatedPods", "terminating", "ready", "failedIndexes"}
)


class StatusTracker:
    """Writes statuses. `consistency` knows the revision of what was written last,
    `finalizers` whose finalizer was taken off.
    """

    def __init__(self, client: Client, recorder: EventRecorder, clock: Clock) -> None:
        self._client, self._recorder, self._clock = client, recorder, clock
        self.consistency = ConsistencyStore()
        self.finalizers = UIDTrackingExpectations()

    async def track(self, key: str, count: JobCount, target: Condition | None) -> None:
        """The three steps, and the end if this is it. Upstream:
        `trackJobStatusAndRemoveFinalizers`.
        """
        job, status = count.job, count.status
        uncounted = status.setdefault("uncountedTerminatedPods", {})
        freed = self.finalizers.expected_uids(key)
        unfreed = {pod["metadata"]["uid"] for pod in count.pods if has_finalizer(pod)}
        _count_freed(status, unfreed - freed)
        waiting = {pod["metadata"]["uid"] for pod in count.delayed.values()}
        new_failed = [
            pod for pod in count.new_failed if pod["metadata"]["uid"] not in waiting
        ]
        for kind, pods in (("succeeded", count.new_succeeded), ("failed", new_failed)):
            if count.indexed and kind == "succeeded":
                continue  # an index is counted where it stands, in completedIndexes
            room = MAX_UNCOUNTED_PODS - sum(map(len, uncounted.values()))
            uids = [
                *(uncounted.get(kind) or ()),
                *(pod["metadata"]["uid"] for pod in pods[:room]),
            ]
            if uids:
                uncounted[kind] = uids
        if count.indexed:
            status["completedIndexes"] = str(count.done)
            status["succeeded"] = count.done.total
            if has_backoff_limit_per_index(job):
                status["failedIndexes"] = str(count.failed_indexes)
        conditions = status.setdefault("conditions", [])
        if target is not None:
            ensure_condition(conditions, target)
        if not conditions:
            del status["conditions"]
        job = await self._write(key, job, status)
        listed = {uid for uids in uncounted.values() for uid in uids}
        known = {pod["metadata"]["uid"]: pod for pod in count.pods}
        to_free = [pod for uid, pod in known.items() if uid in listed]
        to_free += [
            pod for pod in count.ignored if pod["metadata"]["uid"] not in waiting
        ]
        if count.indexed:
            to_free += count.new_succeeded
        await self._free_all(key, [pod for pod in to_free if has_finalizer(pod)])
        for kind in ("succeeded", "failed"):
            gone = uncounted.pop(kind, ())
            if gone:
                status[kind] = status.get(kind, 0) + len(gone)
        if (
            target is not None
            and not status["active"]
            and not any(
                is_pod_terminating(pod) or is_pod_active(pod) for pod in count.pods
            )
        ):
            self._finish(job, status, target)
        await self._write(key, job, status)

    def _finish(self, job: Object, status: Object, target: Condition) -> None:
        now = self._clock.now()
        succeeded = target["type"] == "SuccessCriteriaMet"
        kind = "Complete" if succeeded else "Failed"
        finished = new_condition(kind, "True", target["reason"], target["message"], now)
        status["conditions"] = [*status["conditions"], finished]
        if succeeded:
            status["completionTime"] = format_time(now)
            if (
                job["spec"].get("completions") is None
                and status.get("succeeded", 0) > 0
            ):
                status["terminating"] = 0
            completions = job["spec"].get("completions")
            if completions is not None and status.get("succeeded", 0) > completions:
                self._recorder.event(job, "Warning", "TooManySucceededPods", TOO_MANY)
            self._recorder.event(job, "Normal", "Completed", "Job completed")
        else:
            self._recorder.event(job, "Warning", target["reason"], target["message"])

    async def _write(self, key: str, job: Object, status: Object) -> Object:
        """Write the status if it differs; the Job as it is then. Raises StatusError."""
        new_status = {
            name: value for name, value in status.items() if value or name in _ALWAYS
        }
        if not new_status.get("active"):
            new_status.pop("active", None)
        if new_status == {
            k: v for k, v in (job.get("status") or {}).items() if v or k in _ALWAYS
        }:
            return job
        updated = await self._client.update(
            JOBS, {**mutable_copy(job), "status": new_status}, subresource="status"
        )
        self.consistency.wrote_at(key, updated)
        return updated

    async def _remove_finalizer(self, pod: Object) -> None:
        meta = pod["metadata"]
        patch: Any = {
            "metadata": {
                "$deleteFromPrimitiveList/finalizers": [TRACKING_FINALIZER],
            }
        }
        await self._client.patch(
            PODS,
            meta["name"],
            meta["namespace"],
            patch,
            patch_type=STRATEGIC_MERGE_PATCH,
        )

    async def _free_all(self, key: str, pods: list[Object]) -> None:
        """Upstream: `removeTrackingFinalizerFromPods`."""
        uids = [pod["metadata"]["uid"] for pod in pods]
        self.finalizers.expect_finalizers_removed(key, uids)
        for number, pod in enumerate(pods):
            try:
                if await self.free(pod):
                    continue
            except BaseException:
                for uid in uids[number:]:
                    self.finalizers.finalizer_removal_observed(key, uid)
                raise
            self.finalizers.finalizer_removal_observed(key, uids[number])

    async def free(self, pod: Object) -> bool:
        """Take the finalizer off; whether that was done, or the pod is gone. Raises
        what the request does: also for 409, since nobody else tries again.
        """
        try:
            await self._remove_finalizer(pod)
        except StatusError as error:
            if error.code != 404:
                raise
            return False
        return True


def _count_freed(status: Object, unfreed: Set[str]) -> None:
    """What is listed, and has no finalizer any more, is counted. Upstream:
    `cleanUncountedPodsWithoutFinalizers`.
    """
    uncounted = status["uncountedTerminatedPods"]
    for kind in ("succeeded", "failed"):
        listed = uncounted.get(kind) or []
        left = [uid for uid in listed if uid in unfreed]
        if len(left) < len(listed):
            status[kind] = status.get(kind, 0) + len(listed) - len(left)
            uncounted[kind] = left
