"""Jobs and CronJobs: how far, how long, how it ended.

Upstream: `pkg/printers/internalversion/printers.go` (`printJob`, `printCronJob`),
v1.36.
"""

from __future__ import annotations

from lifecycle.api.clock import parse_time
from lifecycle.api.human_duration import age, human_duration, since
from lifecycle.api.labels import format_label_selector
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    CONTAINERS,
    NAME,
    Cells,
    Column,
    Printer,
    container_cells,
    field,
)

_SELECTOR = Column("Selector", field("batch/v1.JobSpec", "selector"), priority=1)


def _print_job(job: Object, now: float) -> Cells:
    spec, status = job.get("spec") or {}, job.get("status") or {}
    return [
        job["metadata"]["name"],
        _status(job, status),
        _completions(spec, status),
        _duration(status, now),
        age(job, now),
        *container_cells(spec.get("template")),
        format_label_selector(spec.get("selector")),
    ]


def _status(job: Object, status: Object) -> str:
    conditions: dict[str, bool] = {}
    for condition in status.get("conditions") or ():
        conditions.setdefault(condition["type"], condition["status"] == "True")
    for type in ("Complete", "Failed"):
        if conditions.get(type):
            return type
    if job["metadata"].get("deletionTimestamp"):
        return "Terminating"
    for type in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if conditions.get(type):
            return type
    return "Running"


def _completions(spec: Object, status: Object) -> str:
    """`1/3`; without a number of completions, one success is enough: `0/1 of 4` when
    four try.
    """
    succeeded = status.get("succeeded", 0)
    if spec.get("completions") is not None:
        return f"{succeeded}/{spec['completions']}"
    parallelism = spec.get("parallelism") or 0
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _duration(status: Object, now: float) -> str:
    started, completed = status.get("startTime"), status.get("completionTime")
    if not started:
        return ""
    return human_duration(
        (parse_time(completed) if completed else now) - parse_time(started)
    )


def _print_cron_job(obj: Object, now: float) -> Cells:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    job = (spec.get("jobTemplate") or {}).get("spec") or {}
    suspend, last = spec.get("suspend"), status.get("lastScheduleTime")
    return [
        obj["metadata"]["name"],
        spec.get("schedule", ""),
        "<none>" if spec.get("timeZone") is None else spec["timeZone"],
        "<unset>" if suspend is None else str(suspend),
        len(status.get("active") or ()),
        since(last, now) if last else "<none>",
        age(obj, now),
        *container_cells(job.get("template")),
        format_label_selector(job.get("selector")),
    ]


PRINTERS = {
    "jobs.batch": Printer(
        (
            NAME,
            Column("Status", "Status of the job."),
            Column("Completions", field("batch/v1.JobStatus", "succeeded")),
            Column("Duration", "Time required to complete the job."),
            AGE,
            *CONTAINERS,
            _SELECTOR,
        ),
        _print_job,
    ),
    "cronjobs.batch": Printer(
        (
            NAME,
            Column("Schedule", field("batch/v1.CronJobSpec", "schedule")),
            Column("Timezone", field("batch/v1.CronJobSpec", "timeZone")),
            Column("Suspend", field("batch/v1.CronJobSpec", "suspend"), "boolean"),
            Column("Active", field("batch/v1.CronJobStatus", "active"), "integer"),
            Column(
                "Last Schedule", field("batch/v1.CronJobStatus", "lastScheduleTime")
            ),
            AGE,
            *CONTAINERS,
            _SELECTOR,
        ),
        _print_cron_job,
    ),
}
