"""The table of Jobs: how far, how long, how it ended.

Upstream: `pkg/printers/internalversion/printers.go` (`printJob`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age, human_duration
from lifecycle.api.labels import format_label_selector
from lifecycle.api.loop.clock import parse_time
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

SELECTOR = Column("Selector", field("batch/v1.JobSpec", "selector"), priority=1)


def print_job(job: Object, now: float) -> Cells:
    """The cells of `kubectl get jobs`."""
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


PRINTER = Printer(
    (
        NAME,
        Column("Status", "Status of the job."),
        Column("Completions", field("batch/v1.JobStatus", "succeeded")),
        Column("Duration", "Time required to complete the job."),
        AGE,
        *CONTAINERS,
        SELECTOR,
    ),
    print_job,
)
