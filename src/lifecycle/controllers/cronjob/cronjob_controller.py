"""CronJobs: a Job for every time the clock says so.

A run that was missed while nobody watched is made up for, but only the last one, and only within
`startingDeadlineSeconds`. The Job's name ends in its due time in minutes, so that two controllers cannot start the
same run twice.

Upstream: `pkg/controller/cronjob/cronjob_controllerv2.go` (`syncCronJob`, `cleanupFinishedJobs`), `utils.go`
(`mostRecentScheduleTime`, `getJobFromTemplate2`, `getJobName`), v1.36.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lifecycle.api.clock import Clock, format_time, parse_time
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object
from lifecycle.client.events import EventRecorder
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.cronjob.schedule import next_after
from lifecycle.controllers.job.job_status import is_job_finished, job_condition
from lifecycle.controllers.keyed_worker import run_workers
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.owner_references import get_controller_of, new_controller_ref

SCHEDULED_TIMESTAMP = "batch.kubernetes.io/cronjob-scheduled-timestamp"
NEXT_SCHEDULE_DELTA = 0.1
"""Seconds after the due time at which the controller looks: never a moment too early."""
TOO_MANY_MISSED = 100


class CronJobController:
    """Starts Jobs when they are due."""

    def __init__(self, client: Client, informers: SharedInformerFactory, *, clock: Clock, names: NameSource) -> None:
        self._client = client
        self._clock = clock
        self._resource, self._job_resource = resource("cronjobs.batch"), resource("jobs.batch")
        self._cron_jobs = informers.informer(self._resource)
        self._jobs = informers.informer(self._job_resource)
        self._recorder = EventRecorder(client, "cronjob-controller", clock=clock)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._cron_jobs.add_event_handler(
            add=lambda cj: self._queue.add(meta_namespace_key(cj)),
            update=lambda old, new: self._queue.add(meta_namespace_key(new)),
        )
        self._jobs.add_event_handler(
            add=self._job_changed, update=lambda old, new: self._job_changed(new), delete=self._job_changed
        )

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            await self._jobs.wait_for_sync()
            await self._cron_jobs.wait_for_sync()
            await run_workers(self._queue, self._sync, workers=5, name="cronjob-controller")
        finally:
            await self._recorder.stop()

    def _job_changed(self, job: Object) -> None:
        reference = get_controller_of(job)
        if reference is not None and reference["kind"] == "CronJob":
            self._queue.add(f"{job['metadata']['namespace']}/{reference['name']}")

    async def _sync(self, key: str) -> None:
        cron_job = self._cron_jobs.indexer.get_by_key(key)
        if cron_job is None or "deletionTimestamp" in cron_job["metadata"]:
            return
        uid = cron_job["metadata"]["uid"]
        jobs = [
            job
            for job in self._jobs.indexer.list_namespace(cron_job["metadata"]["namespace"])
            if (get_controller_of(job) or {}).get("uid") == uid
        ]
        status = dict(cron_job.get("status") or {})
        await self._clean_up(cron_job, jobs)
        self._note_finished(cron_job, jobs, status)
        due = await self._start_if_due(cron_job, jobs, status)
        if status != (cron_job.get("status") or {}):
            await self._client.update(
                self._resource, {**mutable_copy(cron_job), "status": status}, subresource="status"
            )
        if due is not None:
            self._queue.add_after(key, max(0.0, due - self._clock.now()) + NEXT_SCHEDULE_DELTA)

    def _note_finished(self, cron_job: Object, jobs: list[Object], status: Object) -> None:
        by_uid = {job["metadata"]["uid"]: job for job in jobs}
        active = []
        for reference in status.get("active") or ():
            job = by_uid.get(reference["uid"])
            if job is None:
                message = f"Active job went missing: {reference['name']}"
                self._recorder.event(cron_job, "Normal", "MissingJob", message)
            elif is_job_finished(job):
                complete = job_condition(job, "Complete")
                word = "Complete" if complete else "Failed"
                message = f"Saw completed job: {reference['name']}, condition: {word}"
                self._recorder.event(cron_job, "Normal", "SawCompletedJob", message)
                end = job["status"].get("completionTime")
                if complete and end and end > status.get("lastSuccessfulTime", ""):
                    status["lastSuccessfulTime"] = end
            else:
                active.append(reference)
        if active:
            status["active"] = active
        else:
            status.pop("active", None)

    async def _start_if_due(self, cron_job: Object, jobs: list[Object], status: Object) -> float | None:
        """Start what is due; when the next run is, in seconds since 1970."""
        spec, now = cron_job["spec"], self._clock.now()
        if spec.get("suspend"):
            return None
        zone: tzinfo = UTC
        if spec.get("timeZone"):
            try:
                zone = ZoneInfo(spec["timeZone"])
            except (ZoneInfoNotFoundError, ValueError):
                message = f'invalid timeZone: "{spec["timeZone"]}": unknown time zone {spec["timeZone"]}'
                self._recorder.event(cron_job, "Warning", "UnknownTimeZone", message)
                return None
        following = next_after(spec["schedule"], zone)
        earliest = parse_time(status.get("lastScheduleTime") or cron_job["metadata"]["creationTimestamp"])
        deadline = spec.get("startingDeadlineSeconds")
        if deadline is not None:
            earliest = max(earliest, now - deadline)
        due, missed, at = None, 0, following(earliest)
        while at is not None and at <= now:
            due, missed, at = at, missed + 1, following(at)
        if missed > TOO_MANY_MISSED:
            message = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
            self._recorder.event(cron_job, "Warning", "TooManyMissedTimes", message)
        if due is None:
            return at
        if deadline is not None and due + deadline < now:
            message = f"Missed scheduled time to start a job: {_rfc1123(due)}"
            self._recorder.event(cron_job, "Warning", "MissSchedule", message)
            return at
        active = status.get("active") or []
        policy = spec.get("concurrencyPolicy", "Allow")
        if active and policy == "Forbid":
            message = "Not starting job because prior execution is running and concurrency policy is Forbid"
            self._recorder.event(cron_job, "Normal", "JobAlreadyActive", message)
            return at
        if active and policy == "Replace":
            for reference in active:
                await self._delete(cron_job, reference["name"])
            active = []
        job = _job_from_template(cron_job, due)
        try:
            made = await self._client.create(self._job_resource, job, cron_job["metadata"]["namespace"])
        except StatusError as error:
            if error.reason != "AlreadyExists":
                self._recorder.event(cron_job, "Warning", "FailedCreate", f"Error creating job: {error.message}")
                raise
            return at
        meta = made["metadata"]
        self._recorder.event(cron_job, "Normal", "SuccessfulCreate", f"Created job {meta['name']}")
        reference = {
            "kind": "Job",
            "namespace": meta["namespace"],
            "name": meta["name"],
            "uid": meta["uid"],
            "apiVersion": "batch/v1",
            "resourceVersion": meta["resourceVersion"],
        }
        status["active"] = [*active, reference]
        status["lastScheduleTime"] = format_time(due)
        return at

    async def _clean_up(self, cron_job: Object, jobs: list[Object]) -> None:
        """Old finished Jobs beyond the limits go."""
        spec = cron_job["spec"]
        for kind, limit in (
            ("Complete", spec.get("successfulJobsHistoryLimit", 3)),
            ("Failed", spec.get("failedJobsHistoryLimit", 1)),
        ):
            finished = sorted(
                (job for job in jobs if job_condition(job, kind) and "deletionTimestamp" not in job["metadata"]),
                key=lambda job: ((job.get("status") or {}).get("startTime", ""), job["metadata"]["name"]),
            )
            for job in finished[: max(0, len(finished) - limit)]:
                await self._delete(cron_job, job["metadata"]["name"])

    async def _delete(self, cron_job: Object, name: str) -> None:
        try:
            await self._client.delete(
                self._job_resource, name, cron_job["metadata"]["namespace"], propagation="Background"
            )
        except StatusError as error:
            if error.code == 404:
                return
            self._recorder.event(cron_job, "Warning", "FailedDelete", f"Deleted job: {error.message}")
            raise
        self._recorder.event(cron_job, "Normal", "SuccessfulDelete", f"Deleted job {name}")


def _job_from_template(cron_job: Object, due: float) -> Object:
    template = cron_job["spec"]["jobTemplate"]
    meta = template.get("metadata") or {}
    metadata: Object = {
        "name": f"{cron_job['metadata']['name']}-{int(due) // 60}",
        "namespace": cron_job["metadata"]["namespace"],
        "annotations": {**(meta.get("annotations") or {}), SCHEDULED_TIMESTAMP: format_time(due)},
        "ownerReferences": [new_controller_ref(cron_job)],
    }
    if meta.get("labels"):
        metadata["labels"] = meta["labels"]
    return {"kind": "Job", "apiVersion": "batch/v1", "metadata": metadata, "spec": template["spec"]}


def _rfc1123(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")
