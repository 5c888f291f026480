"""CronJobs: a Job for every time the clock says so.

A run that was missed while nobody watched is made up for, but only the last one, and
only within `startingDeadlineSeconds`. The Job's name ends in its due time in minutes,
so that two controllers cannot start the same run twice.

Upstream: `pkg/controller/cronjob/cronjob_controllerv2.go` (`syncCronJob`,
`cleanupFinishedJobs`), `utils.go` (`getJobFromTemplate2`, `formatSchedule`), v1.36.
Left out: the event `MissSchedule`, which cannot happen there either. Whoever looks for
what is due begins at the deadline, so nothing that is found is too late.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from lifecycle.api.cron.location import load_location
from lifecycle.api.cron.parser import parse_standard
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, format_time, parse_time
from lifecycle.api.loop.worker import beside
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.events import EventRecorder, object_reference
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.cronjob.schedule_time import (
    TOO_MANY_MISSED,
    InvalidScheduleError,
    most_recent_schedule_time,
    next_schedule_delay,
)
from lifecycle.controllers.job.job_status import is_job_finished, job_condition
from lifecycle.controllers.namespace_terminating import is_namespace_terminating
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.owner_references import (
    get_controller_of,
    is_controlled_by,
    new_controller_ref,
)

SCHEDULED_TIMESTAMP = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_UNSUPPORTED = (
    "CRON_TZ or TZ used in schedule %s is not officially supported, see"
    " https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more"
    " details"
)


class CronJobController:
    """Starts Jobs when they are due."""

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
        self._resource, self._job_resource = (
            resource("cronjobs.batch"),
            resource("jobs.batch"),
        )
        self._cron_jobs = informers.informer(self._resource)
        self._jobs = informers.informer(self._job_resource)
        self._recorder = EventRecorder(client, "cronjob-controller", clock=clock)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._cron_jobs.add_event_handler(
            add=lambda cj: self._queue.add(meta_namespace_key(cj)),
            update=self._cron_job_updated,
        )
        self._jobs.add_event_handler(
            add=self._job_changed,
            update=lambda old, new: self._job_changed(new),
            delete=self._job_changed,
        )

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            await self._jobs.wait_for_sync()
            await self._cron_jobs.wait_for_sync()
            await run_workers(
                self._queue, self._sync, workers=5, name="cronjob-controller"
            )
        finally:
            await self._recorder.stop()

    def _cron_job_updated(self, old: Object, new: Object) -> None:
        key, spec = meta_namespace_key(new), new["spec"]
        if any(
            old["spec"].get(name) != spec.get(name) for name in ("schedule", "timeZone")
        ):
            try:
                schedule = parse_standard(_format_schedule(spec))
            except ValueError:
                message = f"unparseable schedule for cronjob: {spec['schedule']}"
                self._recorder.event(
                    new, "Warning", "UnParseableCronJobSchedule", message
                )
                return
            # another timetable: wait for its next run, rather than start one that the
            # new table would have had
            self._queue.add_after(
                key, next_schedule_delay(new, self._clock.now(), schedule)
            )
        else:
            self._queue.add(key)

    def _job_changed(self, job: Object) -> None:
        reference = get_controller_of(job)
        if reference is None or reference["kind"] != "CronJob":
            return
        key = f"{job['metadata']['namespace']}/{reference['name']}"
        cron_job = self._cron_jobs.indexer.get_by_key(key)
        if cron_job is not None and cron_job["metadata"]["uid"] == reference["uid"]:
            self._queue.add(key)

    async def _sync(self, key: str) -> None:
        cached = self._cron_jobs.indexer.get_by_key(key)
        if cached is None:
            return
        name, namespace = cached["metadata"]["name"], cached["metadata"]["namespace"]
        jobs = [
            job
            for job in self._jobs.indexer.list_namespace(namespace)
            if (get_controller_of(job) or {}).get("name") == name
        ]
        cron_job = mutable_copy(cached)
        status = cron_job.setdefault("status", {})
        cleaned = await self._clean_up(cron_job, jobs)
        delay = None
        try:
            await self._note_finished(cron_job, jobs)
            if "deletionTimestamp" not in cron_job["metadata"]:
                delay = await self._start_if_due(cron_job)
        finally:  # what was learnt is written down, whatever went wrong after it
            if not status.get("active"):
                status.pop("active", None)
            if cleaned or status != (cached.get("status") or {}):
                await self._client.update(
                    self._resource, cron_job, subresource="status"
                )
        if delay is not None:
            self._queue.add_after(key, delay)

    # Its Jobs.

    async def _note_finished(self, cron_job: Object, jobs: list[Object]) -> None:
        """Bring `active` and `lastSuccessfulTime` up to date."""
        status = cron_job["status"]
        for job in jobs:
            name = job["metadata"]["name"]
            active = any(
                reference["uid"] == job["metadata"]["uid"]
                for reference in status.get("active") or ()
            )
            if not is_job_finished(job):
                if not active and not await self._is_in_active_list(cron_job, job):
                    message = (
                        "Saw a job that the controller did not create or forgot:"
                        f" {name}"
                    )
                    self._recorder.event(cron_job, "Warning", "UnexpectedJob", message)
                continue
            complete = job_condition(job, "Complete")
            if active:
                _no_longer_active(cron_job, job)
                message = (
                    f"Saw completed job: {name}, condition:"
                    f" {'Complete' if complete else 'Failed'}"
                )
                self._recorder.event(cron_job, "Normal", "SawCompletedJob", message)
            end = (job.get("status") or {}).get("completionTime", "")
            if complete and end > status.get("lastSuccessfulTime", ""):
                status["lastSuccessfulTime"] = end
        known = {job["metadata"]["uid"] for job in jobs}
        for reference in list(status.get("active") or ()):
            if reference["uid"] not in known and await self._get_job(reference) is None:
                message = f"Active job went missing: {reference['name']}"
                self._recorder.event(cron_job, "Normal", "MissingJob", message)
                status["active"].remove(reference)

    async def _is_in_active_list(self, cron_job: Object, job: Object) -> bool:
        """Whether the cache of CronJobs is just behind the one of Jobs."""
        meta = cron_job["metadata"]
        fresh = await self._client.get(self._resource, meta["name"], meta["namespace"])
        active = (fresh.get("status") or {}).get("active") or []
        if not any(reference["uid"] == job["metadata"]["uid"] for reference in active):
            return False
        cron_job["status"].clear()
        cron_job["status"].update(fresh["status"])
        meta["resourceVersion"] = fresh["metadata"]["resourceVersion"]
        return True

    async def _get_job(self, reference: Object) -> Object | None:
        """The Job from the server: the cache may not have seen it yet."""
        try:
            return await self._client.get(
                self._job_resource, reference["name"], reference["namespace"]
            )
        except StatusError as error:
            if error.code == 404:
                return None
            raise

    async def _clean_up(self, cron_job: Object, jobs: list[Object]) -> bool:
        """Old finished Jobs beyond the limits go; of those that never started, the
        last. Whether any went: then the status is written, changed or not.
        """
        spec, cleaned = cron_job["spec"], False
        for kind, limit in (
            ("Complete", spec.get("successfulJobsHistoryLimit")),
            ("Failed", spec.get("failedJobsHistoryLimit")),
        ):
            if limit is None:
                continue
            finished = sorted(
                (
                    job
                    for job in jobs
                    if job_condition(job, kind)
                    and "deletionTimestamp" not in job["metadata"]
                ),
                key=lambda job: (
                    (job.get("status") or {}).get("startTime", "~"),
                    job["metadata"]["name"],
                ),
            )
            for job in finished[: max(0, len(finished) - limit)]:
                cleaned = await self._delete(cron_job, job) or cleaned
        return cleaned

    async def _delete(self, cron_job: Object, job: Object) -> bool:
        """Delete a Job with its pods, and forget that it runs. Whether that worked."""
        name = job["metadata"]["name"]
        try:
            await self._client.delete(
                self._job_resource,
                name,
                cron_job["metadata"]["namespace"],
                propagation="Background",
            )
        except StatusError as error:
            self._recorder.event(
                cron_job, "Warning", "FailedDelete", f"Deleted job: {error.message}"
            )
            return False
        _no_longer_active(cron_job, job)
        self._recorder.event(
            cron_job, "Normal", "SuccessfulDelete", f"Deleted job {name}"
        )
        return True

    # The next one.

    async def _start_if_due(self, cron_job: Object) -> float | None:
        """Start what is due; after how many seconds to look again. Raises StatusError,
        ReplaceError.
        """
        spec, status, now = cron_job["spec"], cron_job["status"], self._clock.now()
        try:
            zone = load_location(spec.get("timeZone") or "")
        except ValueError as error:
            message = f"invalid timeZone: {go_quote(spec['timeZone'])}: {error}"
            self._recorder.event(cron_job, "Warning", "UnknownTimeZone", message)
            return None
        if spec.get("suspend"):
            return None
        text = spec["schedule"]
        if "TZ" in text:
            message = _UNSUPPORTED % go_quote(text)
            self._recorder.event(cron_job, "Warning", "UnsupportedSchedule", message)
        try:
            schedule = await beside(len(text), parse_standard, _format_schedule(spec))
        except ValueError as error:
            message = f"unparseable schedule: {go_quote(text)} : {error}"
            self._recorder.event(cron_job, "Warning", "UnparseableSchedule", message)
            return None
        try:
            _, due, missed = most_recent_schedule_time(cron_job, now, schedule)
        except InvalidScheduleError as error:
            message = f"invalid schedule: {spec['schedule']} : {error}"
            self._recorder.event(cron_job, "Warning", "InvalidSchedule", message)
            return None
        if due is None:
            return next_schedule_delay(cron_job, now, schedule)
        if missed > TOO_MANY_MISSED:
            message = (
                "too many missed start times. Set or decrease"
                " .spec.startingDeadlineSeconds or check clock skew"
            )
            self._recorder.event(cron_job, "Warning", "TooManyMissedTimes", message)
        last = status.get("lastScheduleTime")
        if (last is not None and parse_time(last) == due) or any(
            reference["name"] == _job_name(cron_job, due)
            for reference in status.get("active") or ()
        ):
            pass  # this run has been started
        elif status.get("active") and spec.get("concurrencyPolicy") == "Forbid":
            message = (
                "Not starting job because prior execution is running and concurrency"
                " policy is Forbid"
            )
            self._recorder.event(cron_job, "Normal", "JobAlreadyActive", message)
        elif not await self._start(cron_job, due, zone):
            return None
        return next_schedule_delay(cron_job, now, schedule)

    async def _start(self, cron_job: Object, due: float, zone: tzinfo) -> bool:
        """Start a run, in place of those that still run if the policy is Replace.
        Whether there is anything to write down.
        """
        status, namespace = cron_job["status"], cron_job["metadata"]["namespace"]
        if cron_job["spec"].get("concurrencyPolicy") == "Replace":
            for reference in list(status.get("active") or ()):
                try:
                    running = await self._client.get(
                        self._job_resource, reference["name"], namespace
                    )
                except StatusError as error:
                    self._recorder.event(
                        cron_job, "Warning", "FailedGet", f"Get job: {error.message}"
                    )
                    raise
                if not await self._delete(cron_job, running):
                    raise ReplaceError(
                        f"could not replace job {namespace}/{reference['name']}"
                    )
        job_req = _job_from_template(cron_job, due, zone)
        try:
            job = await self._client.create(self._job_resource, job_req, namespace)
        except StatusError as error:
            if is_namespace_terminating(error):
                raise
            if error.reason != "AlreadyExists":
                self._recorder.event(
                    cron_job,
                    "Warning",
                    "FailedCreate",
                    f"Error creating job: {error.message}",
                )
                raise
            # Ours, if we were interrupted between making it and noting it; else
            # somebody took the name.
            job = await self._client.get(
                self._job_resource, job_req["metadata"]["name"], namespace
            )
            if not is_controlled_by(job, cron_job):
                return False
        else:
            self._recorder.event(
                cron_job,
                "Normal",
                "SuccessfulCreate",
                f"Created job {job['metadata']['name']}",
            )
        status["active"] = [*(status.get("active") or ()), object_reference(job)]
        status["lastScheduleTime"] = format_time(due)
        return True


class ReplaceError(Exception):
    """What runs could not be deleted."""


def _format_schedule(spec: Object) -> str:
    """The schedule with its zone in front, as the parser wants it. A zone that nobody
    knows is left out.
    """
    schedule: str = spec["schedule"]
    zone = spec.get("timeZone")
    if zone is None or "TZ" in schedule:
        return schedule
    try:
        load_location(zone)
    except ValueError:
        return schedule
    return f"TZ={zone} {schedule}"


def _no_longer_active(cron_job: Object, job: Object) -> None:
    status, uid = cron_job["status"], job["metadata"]["uid"]
    status["active"] = [
        reference for reference in status.get("active") or () if reference["uid"] != uid
    ]


def _job_name(cron_job: Object, due: float) -> str:
    return f"{cron_job['metadata']['name']}-{int(due) // 60}"


def _job_from_template(cron_job: Object, due: float, zone: tzinfo) -> Object:
    """The Job of a run; its annotation gives the due time as the CronJob's zone tells
    it.
    """
    template = cron_job["spec"]["jobTemplate"]
    meta = template.get("metadata") or {}
    stamp = (
        format_time(due)
        if zone is UTC
        else datetime.fromtimestamp(due, zone).isoformat(timespec="seconds")
    )
    metadata: Object = {
        "name": _job_name(cron_job, due),
        "namespace": cron_job["metadata"]["namespace"],
        "annotations": {
            **(meta.get("annotations") or {}),
            SCHEDULED_TIMESTAMP: stamp.replace("+00:00", "Z"),
        },
        "ownerReferences": [new_controller_ref(cron_job)],
    }
    if meta.get("labels"):
        metadata["labels"] = meta["labels"]
    return {
        "kind": "Job",
        "apiVersion": "batch/v1",
        "metadata": metadata,
        "spec": template["spec"],
    }
