"""Jobs: so many pods are to end well, at most so many at once, and not for ever.

What its pods have come to is in `job_count.py`, how they are counted without a mistake
in `status_tracking.py`; here is what follows from it: pods to create, pods to delete,
and when to look again.

Upstream: `pkg/controller/job/job_controller.go` (`syncJob`, `manageJob`), v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.labels import selector_from_label_selector
from lifecycle.api.loop.clock import Clock, format_time, parse_time
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.events import EventRecorder
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import REQUEST_ERRORS, Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.expectations import ControllerExpectations
from lifecycle.controllers.job.backoff import remaining_backoff
from lifecycle.controllers.job.indexes import (
    completion_index,
    first_pending_indexes,
    superfluous,
    with_index,
)
from lifecycle.controllers.job.job_count import (
    TRACKING_FINALIZER,
    JobCount,
    count_pods,
    has_finalizer,
    settle_the_rest,
    tracked,
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
from lifecycle.controllers.job.status_tracking import StatusTracker
from lifecycle.controllers.job.success_policy import match_success_policy
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.owned_pods import OwnedPods
from lifecycle.controllers.owner_references import get_controller_of
from lifecycle.controllers.pod_control import PodControl, pod_from_template
from lifecycle.controllers.pod_readiness import (
    is_pod_ready,
    is_pod_terminal,
    pod_phase,
)
from lifecycle.controllers.replicaset.victim_ranking import get_pods_to_delete

CONTROLLER_NAME = "kubernetes.io/job-controller"
"""The `managedBy` of Jobs that are this controller's. Another's are left alone."""

MAX_POD_CREATE_DELETE_PER_SYNC = 500
SYNC_JOB_BATCH_PERIOD = 1.0
"""Seconds that pod events wait for company."""


class JobController:
    """Runs every Job to its end."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._clock = clock
        self._resource = resource("jobs.batch")
        self._jobs = informers.informer(self._resource)
        self._recorder = EventRecorder(client, "job-controller", clock=clock)
        self._pod_control = PodControl(client, self._recorder)
        self._expectations = ControllerExpectations(clock)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._tracker = StatusTracker(client, self._recorder, clock)
        self._pods = OwnedPods(
            informers, self._jobs, "Job", self._pod_changed, self._expectations
        )
        self._pods.informer.add_event_handler(
            add=self._pod_seen,
            update=lambda old, new: self._pod_seen(new),
            delete=self._observe_removal,
        )
        self._orphans: RateLimitingQueue[str] = RateLimitingQueue()
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
                self._pod_seen(pod)
            name = "job-controller"
            async with asyncio.TaskGroup() as group:
                group.create_task(
                    run_workers(self._queue, self._sync_job, workers=5, name=name)
                )
                group.create_task(
                    run_workers(
                        self._orphans,
                        self._sync_orphan_pod,
                        workers=1,
                        name=f"{name} orphans",
                    )
                )
        finally:
            await self._recorder.stop()

    def _pod_changed(self, key: str, pod: Object) -> None:
        self._queue.add_after(key, SYNC_JOB_BATCH_PERIOD)

    def _job_deleted(self, job: Object) -> None:
        self._queue.add(meta_namespace_key(job))
        for pod in self._pods.of(job):
            self._enqueue_orphan(pod)

    def _pod_seen(self, pod: Object) -> None:
        if not has_finalizer(pod):
            self._observe_removal(pod)
        elif get_controller_of(pod) is None or "deletionTimestamp" in pod["metadata"]:
            self._enqueue_orphan(pod)  # others wait for their Job's end, or their own

    def _observe_removal(self, pod: Object) -> None:
        reference, meta = get_controller_of(pod), pod["metadata"]
        if reference is not None and reference["kind"] == "Job":
            key = f"{meta['namespace']}/{reference['name']}"
            self._tracker.finalizers.finalizer_removal_observed(key, meta["uid"])

    def _enqueue_orphan(self, pod: Object) -> None:
        if self._is_orphan(pod):
            self._orphans.add(meta_namespace_key(pod))

    def _is_orphan(self, pod: Object) -> bool:
        """Whether it waits for a Job that will not come."""
        if not has_finalizer(pod) or not self._jobs.has_synced:
            return False
        reference = get_controller_of(pod)
        if reference is not None:
            if reference["kind"] != "Job":
                return False
            owner = self._pods.owner_of(pod["metadata"]["namespace"], reference)
            return owner is None or is_job_finished(owner)
        return True

    async def _sync_orphan_pod(self, key: str) -> None:
        """A pod whose Job is gone waits for nobody. Raises what the request does: then
        it is tried again. Upstream: `syncOrphanPod`.
        """
        pod = self._pods.informer.indexer.get_by_key(key)
        if pod is not None and self._is_orphan(pod):
            await self._tracker.free(pod)

    # The sync.

    async def _sync_job(self, key: str) -> None:
        job = self._jobs.indexer.get_by_key(key)
        if job is None:
            self._expectations.delete_expectations(key)
            self._tracker.consistency.clear(key)
            self._tracker.finalizers.delete_expectations(key)
            return
        if (
            is_job_finished(job)
            or job["spec"].get("managedBy", CONTROLLER_NAME) != CONTROLLER_NAME
        ):
            return
        self._tracker.consistency.ensure_ready(key, job)
        needs_sync = self._expectations.satisfied(key)
        spec, now = job["spec"], self._clock.now()
        selector = selector_from_label_selector(spec["selector"])
        claimed = await self._pods.claim(
            self._client, job, self._resource, selector, (TRACKING_FINALIZER,)
        )
        pods = [tracked(pod, job["metadata"]["uid"]) for pod in claimed]
        status = mutable_copy({"metadata": {}, "status": job.get("status") or {}})[
            "status"
        ]
        freed = self._tracker.finalizers.expected_uids(key)
        count = count_pods(job, pods, status, freed)
        suspended = bool(spec.get("suspend"))
        if not suspended and not status.get("startTime"):
            status["startTime"] = format_time(now)
        if (
            spec.get("activeDeadlineSeconds") is not None
            and status.get("startTime")
            and not suspended
        ):
            left = parse_time(status["startTime"]) + spec["activeDeadlineSeconds"] - now
            if left > 0:
                self._queue.add_after(key, left)
        target = failure_target({**job, "status": status}, pods, count.failed, now)
        if count.indexed:
            target = self._index_conditions(count, target)
        if target is None:
            target = success_criteria(
                {**job, "status": status}, count.succeeded, len(count.active), now
            )
        settle_the_rest(count, target)
        active, error = len(count.active), None
        if target is not None or suspended:
            active -= await self._delete(count, count.active)
        elif needs_sync and "deletionTimestamp" not in job["metadata"]:
            active, error = await self._manage(count, key)
        self._set_suspended(job, status, suspended, target)
        status.update(
            {"active": active, "ready": count.ready, "terminating": count.terminating}
        )
        await self._tracker.track(key, count, target)
        if error is not None:
            raise error

    def _index_conditions(
        self, count: JobCount, target: Condition | None
    ) -> Condition | None:
        """What the Job's limits per index and its success policy say, if nothing else
        has decided.
        """
        job, now = {**count.job, "status": count.status}, self._clock.now()
        completions, failed = (
            job["spec"].get("completions") or 0,
            [*count.new_failed, *count.ignored],
        )
        if has_backoff_limit_per_index(job):
            count.failed_indexes = failed_indexes(job, failed)
            target = target or failed_indexes_target(
                job, count.failed_indexes, count.done, now
            )
            running = map(completion_index, count.active)
            if "deletionTimestamp" not in job["metadata"] and target is None:
                settled = count.done.with_intervals(count.failed_indexes)
                count.delayed = delayed_pods(
                    failed, settled.with_indexes(running), completions
                )
        if target is None and job_condition(job, "SuccessCriteriaMet") is None:
            message = match_success_policy(
                job["spec"].get("successPolicy"), completions, count.done
            )
            if message is not None:
                target = new_condition(
                    "SuccessCriteriaMet", "True", "SuccessPolicy", message, now
                )
        return target

    async def _manage(self, count: JobCount, key: str) -> tuple[int, Exception | None]:
        """Create what is missing, delete what is too much; how many pods are active
        then. Upstream: `manageJob`.
        """
        job, spec, active = count.job, count.job["spec"], len(count.active)
        parallelism, completions = spec.get("parallelism", 1), spec.get("completions")
        if completions is None:
            want_active = active if count.succeeded > 0 else parallelism
        else:
            want_active = min(completions - count.succeeded, parallelism)
        want_active = max(0, want_active)
        victims = self._pods_to_remove(count, max(0, active - want_active))
        if victims:
            return active - await self._delete(count, victims), None
        only_failed = spec.get("podReplacementPolicy") == "Failed"
        missing = want_active - active - (count.terminating if only_failed else 0)
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
            pending = first_pending_indexes(
                missing,
                completions or 0,
                count.active,
                count.done.with_intervals(count.failed_indexes),
            )
            if per_index:
                pending, wait = indexes_to_add_now(
                    pending, count.delayed, self._clock.now()
                )
                if wait > 0:
                    self._queue.add_after(key, wait)
                    return active, None
            indexes = pending
        self._expectations.expect_creations(key, len(indexes))
        created, error = await _slow_start_batch(
            indexes, lambda index: self._create(job, index, count.delayed)
        )
        for _ in range(len(indexes) - created):
            self._expectations.creation_observed(key)
        return active + created, error

    def _pods_to_remove(self, count: JobCount, at_least: int) -> list[Object]:
        """The least useful active pods; of an Indexed Job first what no index needs.
        Upstream: `activePodsForRemoval`.
        """
        useless: list[Object] = []
        left = count.active
        if count.indexed:
            useless, left = superfluous(
                count.active,
                count.job["spec"].get("completions") or 0,
                self._clock.now(),
            )
        if len(useless) < at_least:
            useless = [
                *useless,
                *get_pods_to_delete(
                    left, left, at_least - len(useless), self._clock.now()
                ),
            ]
        return useless[:MAX_POD_CREATE_DELETE_PER_SYNC]

    async def _create(
        self, job: Object, index: int | None, delayed: Mapping[int, Object]
    ) -> None:
        pod = pod_from_template(job["spec"]["template"], job)
        pod["metadata"]["finalizers"] = [
            *(pod["metadata"].get("finalizers") or ()),
            TRACKING_FINALIZER,
        ]
        if index is not None:
            pod = with_index(pod, job["metadata"]["name"], index)
            if has_backoff_limit_per_index(job):
                pod["metadata"]["annotations"].update(
                    failure_counts(job, delayed.get(index))
                )
        await self._pod_control.create_pod(
            fast_json.dumps(pod), job["metadata"]["namespace"], job
        )

    async def _delete(self, count: JobCount, pods: Sequence[Object]) -> int:
        """Delete pods; their finalizers stay until they are counted. How many went.
        Raises the first error, once all were tried.
        """
        first: Exception | None = None
        job, key = count.job, meta_namespace_key(count.job)
        self._expectations.expect_deletions(
            key, [meta_namespace_key(pod) for pod in pods]
        )
        for pod in pods:
            try:
                await self._pod_control.delete_pod(
                    pod["metadata"]["name"], pod["metadata"]["namespace"], job
                )
            except REQUEST_ERRORS as error:
                self._expectations.deletion_observed(key, meta_namespace_key(pod))
                if not (isinstance(error, StatusError) and error.code == 404):
                    first = first or error
        if first is not None:
            raise first
        count.terminating += len(pods)
        count.ready -= sum(map(is_pod_ready, pods))
        return len(pods)

    def _set_suspended(
        self, job: Object, status: Object, suspended: bool, target: Condition | None
    ) -> None:
        if target is not None:
            return
        conditions = status.setdefault("conditions", [])
        now = self._clock.now()
        if suspended:
            changed = ensure_condition(
                conditions,
                new_condition(
                    "Suspended", "True", "JobSuspended", "Job suspended", now
                ),
            )
            if changed:
                self._recorder.event(job, "Normal", "Suspended", "Job suspended")
                status.pop("startTime", None)
        elif ensure_condition(
            conditions,
            new_condition("Suspended", "False", "JobResumed", "Job resumed", now),
        ):
            self._recorder.event(job, "Normal", "Resumed", "Job resumed")
            status["startTime"] = format_time(now)
        if not conditions:
            del status["conditions"]


async def _slow_start_batch(
    items: Sequence[int | None], create: Callable[[int | None], Awaitable[None]]
) -> tuple[int, Exception | None]:
    """1, 2, 4 … at once, until one fails: as `slow_start_batch`, with an argument."""
    done, size = 0, 1
    while done < len(items):
        batch = items[done : done + size]
        results = await asyncio.gather(
            *(create(item) for item in batch), return_exceptions=True
        )
        errors = [result for result in results if isinstance(result, Exception)]
        done += len(batch) - len(errors)
        if errors:
            return done, errors[0]
        size *= 2
    return done, None
