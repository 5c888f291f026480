"""Work that ends: Jobs, and CronJobs that make them.

Upstream: `kubectl/pkg/describe/describe.go` (`describeJob`, `capIndexesListOrNone`,
`describeCronJob`, `describeJobTemplate`, `printActiveJobs`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import human_duration
from lifecycle.api.labels import selector_from_label_selector
from lifecycle.api.loop.clock import parse_time
from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.containers import print_bool_ptr
from lifecycle.kubectl.describe.events import describe_events, events_of
from lifecycle.kubectl.describe.moments import rfc1123z
from lifecycle.kubectl.describe.multiline import (
    print_controller,
    print_labels_and_annotations,
    print_metadata,
)
from lifecycle.kubectl.describe.pod_template import describe_pod_template
from lifecycle.kubectl.describe.writer import PrefixWriter

MOST_INDEXES = 50
"""Characters of the completed indexes that are shown at least."""


async def describe_job(client: Clientset, namespace: str, name: str) -> str:
    """Describe a Job. Raises StatusError."""
    job = await client.get("jobs.batch", namespace, name)
    events = await events_of(client, job)
    w = PrefixWriter()
    w.field(0, "Name", job["metadata"]["name"])
    w.field(0, "Namespace", job["metadata"].get("namespace", ""))
    w.field(0, "Selector", _selector(job["spec"].get("selector")))
    print_labels_and_annotations(w, job)
    print_controller(w, job)
    _wishes(job["spec"], w)
    _progress(job, w)
    describe_pod_template(job["spec"]["template"], w)
    describe_events(events, w)
    return w.tabbed


def _selector(selector: Object | None) -> str:
    return str(selector_from_label_selector(selector))


def _wishes(spec: Object, w: PrefixWriter) -> None:
    if spec.get("parallelism") is not None:
        w.field(0, "Parallelism", spec["parallelism"])
    w.field(0, "Completions", _or_unset(spec.get("completions")))
    for title, field in (
        ("Completion Mode", "completionMode"),
        ("Suspend", "suspend"),
        ("Backoff Limit", "backoffLimit"),
        ("TTL Seconds After Finished", "ttlSecondsAfterFinished"),
    ):
        if spec.get(field) is not None:
            w.field(0, title, spec[field])


def _or_unset(value: Any, unit: str = "") -> str:
    return "<unset>" if value is None else f"{value}{unit}"


def _progress(job: Object, w: PrefixWriter) -> None:
    spec, status = job["spec"], job.get("status") or {}
    start, end = status.get("startTime"), status.get("completionTime")
    if start:
        w.field(0, "Start Time", rfc1123z(start))
    if end:
        w.field(0, "Completed At", rfc1123z(end))
    if start and end:
        lasted = parse_time(end) - parse_time(start)
        w.field(0, "Duration", human_duration(lasted))
    _deadline(spec, w)
    ready = "" if status.get("ready") is None else f" ({status['ready']} Ready)"
    text = (
        f"{status.get('active', 0)} Active{ready}"
        f" / {status.get('succeeded', 0)} Succeeded / {status.get('failed', 0)} Failed"
    )
    w.field(0, "Pods Statuses", text)
    if spec.get("completionMode") == "Indexed":
        indexes = cap_indexes_list_or_none(status.get("completedIndexes", ""))
        w.field(0, "Completed Indexes", indexes)


def _deadline(spec: Object, w: PrefixWriter) -> None:
    if spec.get("activeDeadlineSeconds") is not None:
        w.field(0, "Active Deadline Seconds", f"{spec['activeDeadlineSeconds']}s")


def cap_indexes_list_or_none(indexes: str) -> str:
    """The list, cut at the first comma that is far enough to the right."""
    if not indexes:
        return "<none>"
    comma = indexes.find(",", MOST_INDEXES)
    return indexes if comma < 0 else indexes[: comma + 1] + "..."


async def describe_cron_job(client: Clientset, namespace: str, name: str) -> str:
    """Describe a CronJob. Raises StatusError."""
    cron_job = await client.get("cronjobs.batch", namespace, name)
    events = await events_of(client, cron_job)
    spec, status = cron_job["spec"], cron_job.get("status") or {}
    w = PrefixWriter()
    print_metadata(w, cron_job)
    w.field(0, "Schedule", spec["schedule"])
    w.field(0, "Concurrency Policy", spec.get("concurrencyPolicy", ""))
    w.field(0, "Suspend", print_bool_ptr(spec.get("suspend")))
    for title, field, unit in (
        ("Time Zone", "timeZone", ""),
        ("Successful Job History Limit", "successfulJobsHistoryLimit", ""),
        ("Failed Job History Limit", "failedJobsHistoryLimit", ""),
        ("Starting Deadline Seconds", "startingDeadlineSeconds", "s"),
    ):
        w.field(0, title, _or_unset(spec.get(field), unit))
    _job_template(spec["jobTemplate"]["spec"], w)
    last = status.get("lastScheduleTime")
    w.field(0, "Last Schedule Time", rfc1123z(last) if last else "<unset>")
    active = ", ".join(each.get("name", "") for each in status.get("active") or ())
    w.field(0, "Active Jobs", active or "<none>")
    describe_events(events, w)
    return w.tabbed


def _job_template(spec: Object, w: PrefixWriter) -> None:
    selector = spec.get("selector")
    w.field(0, "Selector", "<unset>" if selector is None else _selector(selector))
    for field in ("parallelism", "completions"):
        w.field(0, field.capitalize(), _or_unset(spec.get(field)))
    _deadline(spec, w)
    describe_pod_template(spec["template"], w)
