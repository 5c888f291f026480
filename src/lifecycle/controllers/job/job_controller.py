"""Jobs: so many pods are to end well, at most so many at once, and not for ever.

Counting is the difficulty. A finished pod may be deleted before it was counted, or be counted twice. So every pod
of a Job carries the finalizer `batch.kubernetes.io/job-tracking`, and counting takes three steps that may be
interrupted anywhere:

    1. the pod's uid goes into `status.uncountedTerminatedPods`          (written)
    2. its finalizer is removed                                          (the pod may go now)
    3. the uid leaves the list, and `succeeded` or `failed` grows        (one write)

Whoever finds a uid in the list whose pod has no finalizer any more knows that only step 3 is missing.

Upstream: `pkg/controller/job/job_controller.go` (`syncJob`, `manageJob`, `trackJobStatusAndRemoveFinalizers`),
v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from lifecycle.api.clock import Clock, format_time, parse_time
from lifecycle.api.labels import selector_from_label_selector
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object
from lifecycle.client.events import EventRecorder
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH, Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.expectations import ControllerExpectations
from lifecycle.controllers.job.backoff import remaining_backoff
from lifecycle.controllers.job.indexes import (
    completion_index,
    first_pending_indexes,
    format_intervals,
    parse_intervals,
    superfluous,
    with_index,
)
from lifecycle.controllers.job.job_status import (
    Condition,
    ensure_condition,
    failed_indexes_target,
    failure_target,
    is_job_finished,
    job_condition,
    new_condition,
    success_criteria,
)
from lifecycle.controllers.job.per_index import (
    delayed_pods,
    failed_indexes,
    failure_counts,
    has_backoff_limit_per_index,
    indexes_to_add_now,
)
from lifecycle.controllers.job.pod_failure_policy import match_pod_failure_policy
from lifecycle.controllers.job.success_policy import match_success_policy
from lifecycle.controllers.keyed_worker import RetryError, run_workers
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.owned_pods import OwnedPods
from lifecycle.controllers.owner_references import get_controller_of
from lifecycle.controllers.pod_control import PodControl, pod_from_template
from lifecycle.controllers.pod_readiness import (
    is_pod_active,
    is_pod_ready,
    is_pod_terminal,
    is_pod_terminating,
    pod_phase,
)
from lifecycle.controllers.replicaset.victim_ranking import get_pods_to_delete

CONTROLLER_NAME = "kubernetes.io/job-controller"
"""The `managedBy` of Jobs that are this controller's. Another's are left alone."""

TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking"
MAX_POD_CREATE_DELETE_PER_SYNC = 500
MAX_UNCOUNTED_PODS = 500
SYNC_JOB_BATCH_PERIOD = 1.0
"""Seconds that pod events wait for company."""


def has_finalizer(pod: Object) -> bool:
    """Whether the pod is still to be counted."""
    return TRACKING_FINALIZER in (pod["metadata"].get("finalizers") or ())


@dataclass(slots=True)
class _Count:
    """One sync's view of a Job."""

    job: Object
    pods: list[Object]
    active: list[Object]
    terminating: int
    status: Object
    counted_indexes: set[int] = field(default_factory=set)
    failed_indexes: set[int] = field(default_factory=set)
    delayed: dict[int, Object] = field(default_factory=dict)
    new_succeeded: list[Object] = field(default_factory=list)
    new_failed: list[Object] = field(default_factory=list)
    ignored: list[Object] = field(default_factory=list)

    @property
    def indexed(self) -> bool:
        """Whether the Job's pods have numbers."""
        return bool(self.job["spec"].get("completionMode") == "Indexed")

    @property
    def succeeded(self) -> int:
        """Successes, whether counted already or not. Of an Indexed Job: indexes."""
        if self.indexed:
            return len(self.done)
        uncounted = (self.status.get("uncountedTerminatedPods") or {}).get("succeeded") or ()
        return self.status.get("succeeded", 0) + len(self.new_succeeded) + len(uncounted)

    @property
    def failed(self) -> int:
        """Failures, whether counted already or not."""
        uncounted = (self.status.get("uncountedTerminatedPods") or {}).get("failed") or ()
        return int(self.status.get("failed", 0) + len(self.new_failed) + len(uncounted))

    @property
    def done(self) -> set[int]:
        """Indexes that succeeded."""
        completions = self.job["spec"].get("completions") or 0
        fresh = {completion_index(pod) for pod in self.pods if pod_phase(pod) == "Succeeded" and has_finalizer(pod)}
        return self.counted_indexes | {index for index in fresh if 0 <= index < completions}


class JobController:
    """Runs every Job to its end."""

    def __init__(self, client: Client, informers: SharedInformerFactory, *, clock: Clock, names: NameSource) -> None:
        self._client = client
        self._clock = clock
        self._resource = resource("jobs.batch")
        self._jobs = informers.informer(self._resource)
        self._recorder = EventRecorder(client, "job-controller", clock=clock)
        self._pod_control = PodControl(client, self._recorder)
        self._expectations = ControllerExpectations(clock)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._written: dict[str, str] = {}
        self._pods = OwnedPods(informers, self._jobs, "Job", self._pod_changed, self._expectations)
        self._pods.informer.add_event_handler(add=self._free_orphan, update=lambda old, new: self._free_orphan(new))
        self._orphans: set[asyncio.Task[None]] = set()
        self._jobs.add_event_handler(
            add=lambda job: self._queue.add(meta_namespace_key(job)),
            update=lambda old, new: self._queue.add(meta_namespace_key(new)),
            delete=self._job_deleted,
        )

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            await self._pods.informer.wait_for_sync()
            await self._jobs.wait_for_sync()
            for pod in self._pods.informer.indexer.list():
                self._free_orphan(pod)
            await run_workers(self._queue, self._sync_job, workers=5, name="job-controller")
        finally:
            for task in self._orphans:
                task.cancel()
            await self._recorder.stop()

    def _pod_changed(self, key: str, pod: Object) -> None:
        self._queue.add_after(key, SYNC_JOB_BATCH_PERIOD)

    def _job_deleted(self, job: Object) -> None:
        self._queue.add(meta_namespace_key(job))
        for pod in self._pods.of(job):
            self._free_orphan(pod)

    def _free_orphan(self, pod: Object) -> None:
        """A pod whose Job is gone waits for nobody. Upstream: `syncOrphanPod`."""
        if not has_finalizer(pod) or not self._jobs.has_synced:
            return
        reference = get_controller_of(pod)
        if reference is not None:
            if reference["kind"] != "Job":
                return
            owner = self._pods.owner_of(pod["metadata"]["namespace"], reference)
            if owner is not None and not is_job_finished(owner):
                return
        task = asyncio.get_running_loop().create_task(self._free_quietly(pod), name="orphan pod of a Job")
        self._orphans.add(task)
        task.add_done_callback(self._orphans.discard)

    async def _free_quietly(self, pod: Object) -> None:
        try:
            await self._remove_finalizer(pod)
        except StatusError as error:
            if error.code not in (404, 409):
                raise

    # The sync.

    async def _sync_job(self, key: str) -> None:
        job = self._jobs.indexer.get_by_key(key)
        if job is None:
            self._expectations.delete_expectations(key)
            self._written.pop(key, None)
            return
        if is_job_finished(job) or job["spec"].get("managedBy", CONTROLLER_NAME) != CONTROLLER_NAME:
            return
        written = self._written.get(key)
        if written is not None and int(job["metadata"]["resourceVersion"]) < int(written):
            raise RetryError(f"the cache has not seen the last status of {key} yet")
        needs_sync = self._expectations.satisfied(key)
        spec, now = job["spec"], self._clock.now()
        selector = selector_from_label_selector(spec["selector"])
        pods = await self._pods.claim(self._client, job, self._resource, selector)
        status = mutable_copy({"metadata": {}, "status": job.get("status") or {}})["status"]
        count = self._count(job, pods, status)
        suspended = bool(spec.get("suspend"))
        if not suspended and not status.get("startTime"):
            status["startTime"] = format_time(now)
        if spec.get("activeDeadlineSeconds") is not None and status.get("startTime") and not suspended:
            left = parse_time(status["startTime"]) + spec["activeDeadlineSeconds"] - now
            if left > 0:
                self._queue.add_after(key, left)
        target = failure_target({**job, "status": status}, pods, count.failed, now)
        if count.indexed:
            target = self._judge_indexes(count, target)
        if target is None:
            target = success_criteria({**job, "status": status}, count.succeeded, len(count.active), now)
        self._settle_the_rest(count, target)
        active, error = len(count.active), None
        ready = sum(1 for pod in count.active if is_pod_ready(pod))
        if target is not None or suspended:
            active -= await self._delete(job, count.active)
            count.terminating += len(count.active) - active
            ready = 0 if not active else ready
        elif needs_sync and "deletionTimestamp" not in job["metadata"]:
            active, error = await self._manage(count, key)
        self._set_suspended(job, status, suspended, target)
        status.update({"active": active, "ready": ready, "terminating": count.terminating})
        await self._track(key, count, target)
        if error is not None:
            raise error

    def _count(self, job: Object, pods: list[Object], status: Object) -> _Count:
        uncounted = status.get("uncountedTerminatedPods") or {}
        listed = {*(uncounted.get("succeeded") or ()), *(uncounted.get("failed") or ())}
        terminating = sum(1 for pod in pods if is_pod_terminating(pod))
        count = _Count(job, pods, [pod for pod in pods if is_pod_active(pod)], terminating, status)
        completions = job["spec"].get("completions") or 0
        if count.indexed:
            count.counted_indexes = parse_intervals(status.get("completedIndexes", ""), completions)
        replaced_early = (job["spec"].get("podReplacementPolicy") or "TerminatingOrFailed") == "TerminatingOrFailed"
        for pod in pods:
            if not has_finalizer(pod) or pod["metadata"]["uid"] in listed:
                continue
            if pod_phase(pod) == "Succeeded":
                count.new_succeeded.append(pod)
            elif pod_phase(pod) == "Failed" or ("deletionTimestamp" in pod["metadata"] and replaced_early):
                policy = job["spec"].get("podFailurePolicy")
                counts = pod_phase(pod) != "Failed" or match_pod_failure_policy(policy, pod).counts
                (count.new_failed if counts else count.ignored).append(pod)
        return count

    def _judge_indexes(self, count: _Count, target: Condition | None) -> Condition | None:
        """What the Job's limits per index and its success policy say, if nothing else has decided."""
        job, now = {**count.job, "status": count.status}, self._clock.now()
        completions, failed = job["spec"].get("completions") or 0, [*count.new_failed, *count.ignored]
        if has_backoff_limit_per_index(job):
            count.failed_indexes = failed_indexes(job, failed)
            target = target or failed_indexes_target(job, count.failed_indexes, count.done, now)
            running = {completion_index(pod) for pod in count.active}
            if "deletionTimestamp" not in job["metadata"] and target is None:
                count.delayed = delayed_pods(failed, count.done | count.failed_indexes | running, completions)
        if target is None and job_condition(job, "SuccessCriteriaMet") is None:
            message = match_success_policy(job["spec"].get("successPolicy"), completions, count.done)
            if message is not None:
                target = new_condition("SuccessCriteriaMet", "True", "SuccessPolicy", message, now)
        return target

    def _settle_the_rest(self, count: _Count, target: Condition | None) -> None:
        """With the outcome certain, what still runs failed with the Job; or is let go uncounted, if the Job did not."""
        if target is None:
            return
        seen = {id(pod) for pod in (*count.new_succeeded, *count.new_failed, *count.ignored)}
        rest = [pod for pod in count.pods if has_finalizer(pod) and id(pod) not in seen and not is_pod_terminal(pod)]
        if target["type"] == "FailureTarget":
            listed = (count.status.get("uncountedTerminatedPods") or {}).get("failed") or ()
            count.new_failed += [pod for pod in rest if pod["metadata"]["uid"] not in listed]
        else:
            count.ignored += rest

    async def _manage(self, count: _Count, key: str) -> tuple[int, Exception | None]:
        """Create what is missing, delete what is too much; how many pods are active then. Upstream: `manageJob`."""
        job, spec, active = count.job, count.job["spec"], len(count.active)
        parallelism, completions = spec.get("parallelism", 1), spec.get("completions")
        if completions is None:
            wanted = active if count.succeeded > 0 else parallelism
        else:
            wanted = min(completions - count.succeeded, parallelism)
        wanted = max(0, wanted)
        victims = self._pods_to_remove(count, max(0, active - wanted))
        if victims:
            return active - await self._delete(job, victims), None
        only_failed = spec.get("podReplacementPolicy") == "Failed"
        missing = wanted - active - (count.terminating if only_failed else 0)
        missing = min(missing, MAX_POD_CREATE_DELETE_PER_SYNC)
        if missing <= 0:
            return active, None
        ended = [pod for pod in count.pods if is_pod_terminal(pod)]
        wait = remaining_backoff(
            [pod for pod in ended if pod_phase(pod) == "Succeeded"],
            [pod for pod in ended if pod_phase(pod) == "Failed"],
            self._clock.now(),
        )
        per_index = has_backoff_limit_per_index(job)
        if wait > 0 and not per_index:
            self._queue.add_after(key, wait)
            return active, None
        indexes: Sequence[int | None] = [None] * missing
        if count.indexed:
            pending = first_pending_indexes(missing, completions or 0, count.active, count.done | count.failed_indexes)
            if per_index:
                pending, wait = indexes_to_add_now(pending, count.delayed, self._clock.now())
                if wait > 0:
                    self._queue.add_after(key, wait)
                    return active, None
            indexes = pending
        self._expectations.expect_creations(key, len(indexes))
        created, error = await _in_growing_batches(indexes, lambda index: self._create(job, index, count.delayed))
        for _ in range(len(indexes) - created):
            self._expectations.creation_observed(key)
        return active + created, error

    def _pods_to_remove(self, count: _Count, at_least: int) -> list[Object]:
        """The least useful active pods; of an Indexed Job first what no index needs. Upstream: `activePodsForRemoval`."""
        useless: list[Object] = []
        left = count.active
        if count.indexed:
            useless, left = superfluous(count.active, count.job["spec"].get("completions") or 0, self._clock.now())
        if len(useless) < at_least:
            useless = [*useless, *get_pods_to_delete(left, left, at_least - len(useless), self._clock.now())]
        return useless[:MAX_POD_CREATE_DELETE_PER_SYNC]

    async def _create(self, job: Object, index: int | None, delayed: Mapping[int, Object]) -> None:
        pod = pod_from_template(job["spec"]["template"], job)
        pod["metadata"]["finalizers"] = [*(pod["metadata"].get("finalizers") or ()), TRACKING_FINALIZER]
        if index is not None:
            pod = with_index(pod, job["metadata"]["name"], index)
            if has_backoff_limit_per_index(job):
                pod["metadata"]["annotations"].update(failure_counts(job, delayed.get(index)))
        await self._pod_control.create_pod(orjson.dumps(pod), job["metadata"]["namespace"], job)

    async def _delete(self, job: Object, pods: Sequence[Object]) -> int:
        """Delete pods; their finalizers stay until they are counted. How many went. Raises StatusError."""
        key = meta_namespace_key(job)
        self._expectations.expect_deletions(key, [meta_namespace_key(pod) for pod in pods])
        for pod in pods:
            try:
                await self._pod_control.delete_pod(pod["metadata"]["name"], pod["metadata"]["namespace"], job)
            except StatusError as error:
                self._expectations.deletion_observed(key, meta_namespace_key(pod))
                if error.code != 404:
                    raise
        return len(pods)

    def _set_suspended(self, job: Object, status: Object, suspended: bool, target: Condition | None) -> None:
        if target is not None:
            return
        conditions = status.setdefault("conditions", [])
        now = self._clock.now()
        if suspended:
            changed = ensure_condition(
                conditions, new_condition("Suspended", "True", "JobSuspended", "Job suspended", now)
            )
            if changed:
                self._recorder.event(job, "Normal", "Suspended", "Job suspended")
                status.pop("startTime", None)
        elif ensure_condition(conditions, new_condition("Suspended", "False", "JobResumed", "Job resumed", now)):
            self._recorder.event(job, "Normal", "Resumed", "Job resumed")
            status["startTime"] = format_time(now)
        if not conditions:
            del status["conditions"]

    # Counting.

    async def _track(self, key: str, count: _Count, target: Condition | None) -> None:
        """The three steps, and the end if this is it. Upstream: `trackJobStatusAndRemoveFinalizers`."""
        job, status = count.job, count.status
        uncounted = status.setdefault("uncountedTerminatedPods", {})
        waiting = {pod["metadata"]["uid"] for pod in count.delayed.values()}
        new_failed = [pod for pod in count.new_failed if pod["metadata"]["uid"] not in waiting]
        for kind, pods in (("succeeded", count.new_succeeded), ("failed", new_failed)):
            if count.indexed and kind == "succeeded":
                continue  # an index is counted where it stands, in completedIndexes
            room = MAX_UNCOUNTED_PODS - sum(map(len, uncounted.values()))
            uids = [*(uncounted.get(kind) or ()), *(pod["metadata"]["uid"] for pod in pods[:room])]
            if uids:
                uncounted[kind] = uids
        if count.indexed:
            status["completedIndexes"] = format_intervals(count.done)
            status["succeeded"] = len(count.done)
            if has_backoff_limit_per_index(job):
                status["failedIndexes"] = format_intervals(count.failed_indexes)
        conditions = status.setdefault("conditions", [])
        if target is not None:
            ensure_condition(conditions, target)
        if not conditions:
            del status["conditions"]
        job = await self._write(key, job, status)
        listed = {uid for uids in uncounted.values() for uid in uids}
        known = {pod["metadata"]["uid"]: pod for pod in count.pods}
        to_free = [pod for uid, pod in known.items() if uid in listed]
        to_free += [pod for pod in count.ignored if pod["metadata"]["uid"] not in waiting]
        if count.indexed:
            to_free += count.new_succeeded
        for pod in to_free:
            if has_finalizer(pod):
                await self._free_quietly(pod)
        for kind in ("succeeded", "failed"):
            gone = uncounted.pop(kind, ())
            if gone:
                status[kind] = status.get(kind, 0) + len(gone)
        if (
            target is not None
            and not status["active"]
            and not any(is_pod_terminating(pod) or is_pod_active(pod) for pod in count.pods)
        ):
            self._finish(job, status, target)
        await self._write(key, job, status)

    def _finish(self, job: Object, status: Object, target: Condition) -> None:
        now = self._clock.now()
        succeeded = target["type"] == "SuccessCriteriaMet"
        kind = "Complete" if succeeded else "Failed"
        status["conditions"].append(new_condition(kind, "True", target["reason"], target["message"], now))
        if succeeded:
            status["completionTime"] = format_time(now)
            if job["spec"].get("completions") is None and status.get("succeeded", 0) > 0:
                status["terminating"] = 0
            self._recorder.event(job, "Normal", "Completed", "Job completed")
        else:
            self._recorder.event(job, "Warning", target["reason"], target["message"])

    async def _write(self, key: str, job: Object, status: Object) -> Object:
        """Write the status if it differs; the Job as it is then. Raises StatusError."""
        wanted = {name: value for name, value in status.items() if value or name in _ALWAYS}
        if not wanted.get("active"):
            wanted.pop("active", None)
        if wanted == {k: v for k, v in (job.get("status") or {}).items() if v or k in _ALWAYS}:
            return job
        updated = await self._client.update(
            self._resource, {**mutable_copy(job), "status": wanted}, subresource="status"
        )
        self._written[key] = updated["metadata"]["resourceVersion"]
        return updated

    async def _remove_finalizer(self, pod: Object) -> None:
        meta = pod["metadata"]
        patch: Any = {"metadata": {"uid": meta["uid"], "$deleteFromPrimitiveList/finalizers": [TRACKING_FINALIZER]}}
        await self._client.patch(
            self._pods.informer.resource, meta["name"], meta["namespace"], patch, patch_type=STRATEGIC_MERGE_PATCH
        )


_ALWAYS = frozenset({"uncountedTerminatedPods", "terminating", "ready", "failedIndexes"})


async def _in_growing_batches(
    items: Sequence[int | None], create: Callable[[int | None], Awaitable[None]]
) -> tuple[int, Exception | None]:
    """1, 2, 4 … at once, until one fails: as `slow_start_batch`, with an argument."""
    done, size = 0, 1
    while done < len(items):
        batch = items[done : done + size]
        results = await asyncio.gather(*(create(item) for item in batch), return_exceptions=True)
        errors = [result for result in results if isinstance(result, Exception)]
        done += len(batch) - len(errors)
        if errors:
            return done, errors[0]
        size *= 2
    return done, None
