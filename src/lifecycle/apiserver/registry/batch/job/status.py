"""What a Job's status may say, whoever writes it: a controller from elsewhere
(`managedBy`) is held to the same story as the built-in one.

Most rules look only at what the update changes, so that a status which broke one before
can still be mended step by step.

Upstream: `pkg/apis/batch/validation/validation.go` (`validateJobStatus`,
`ValidateJobStatusUpdate`), `pkg/registry/batch/job/strategy.go`
(`getStatusValidationOptions`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.field_errors import (
    OMIT,
    FieldError,
    duplicate,
    invalid,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.apiserver.registry.batch.job.policies import (
    count_indexes,
    first_overlap,
)
from lifecycle.apiserver.registry.rest.numbers import not_negative
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta_update,
)

_CONDITIONS = "status.conditions"
_COMPLETION_TIME = "status.completionTime"
_FAILING = ("Failed", "FailureTarget")
_ANNOUNCED_BY = {"Failed": "FailureTarget", "Complete": "SuccessCriteriaMet"}
_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")


def validate_status_update(new: Object, old: Object) -> list[FieldError]:
    """The new status on its own, then against the old one."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    spec, status = new.get("spec") or {}, new.get("status") or {}
    before = old.get("status") or {}
    errors += not_negative(status, *_COUNTS, path="status")
    errors += _validate_uncounted(status.get("uncountedTerminatedPods") or {})
    errors += _validate_completion(status, before)
    errors += _validate_finished(status, before)
    errors += _validate_indexes(spec, status, before)
    errors += _validate_pod_counts(status, before)
    errors += _validate_success_criteria(spec, status)
    return errors + _validate_transition(spec, status, before)


def _holds(status: Object, type_: str) -> bool:
    return any(
        condition.get("type") == type_ and condition.get("status") == "True"
        for condition in status.get("conditions") or ()
    )


def _is_finished(status: Object) -> bool:
    return _holds(status, "Complete") or _holds(status, "Failed")


def _turned(status: Object, before: Object, *types: str) -> bool:
    """Whether one of the conditions is true now and was not, or the other way round."""
    return any(_holds(status, type_) != _holds(before, type_) for type_ in types)


def _changed(status: Object, before: Object, *fields: str) -> bool:
    return any(_value(status, field) != _value(before, field) for field in fields)


def _value(status: Object, field: str) -> Any:
    """A field as Go holds it: times as moments, what is no pointer never as nothing."""
    value = status.get(field)
    if field.endswith("Time") and value is not None:
        return parse_time(value)
    if field in ("active", "completedIndexes"):
        return value or None
    if field == "uncountedTerminatedPods" and value is not None:
        return {name: uids for name, uids in value.items() if uids}
    return value


def _contradiction(what: str) -> FieldError:
    return invalid(_CONDITIONS, OMIT, what)


def _validate_uncounted(pods: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for name in ("succeeded", "failed"):
        for index, uid in enumerate(pods.get(name) or ()):
            here = f"status.uncountedTerminatedPods.{name}[{index}]"
            if not uid:
                errors.append(invalid(here, "", "must not be empty"))
            elif uid in seen:
                errors.append(duplicate(here, uid))
            seen.add(uid)
    return errors


def _validate_completion(status: Object, before: Object) -> list[FieldError]:
    """What being complete goes with, and when it was."""
    errors: list[FieldError] = []
    complete = _holds(status, "Complete")
    start, end = (_value(status, field) for field in ("startTime", "completionTime"))
    end_moved = _changed(status, before, "completionTime")
    start_moved = _changed(status, before, "startTime")
    turned = _turned(status, before, "Complete")
    for other in _FAILING:
        if (
            _turned(status, before, "Complete", other)
            and complete
            and _holds(status, other)
        ):
            why = f"cannot set Complete=True and {other}=true conditions"
            errors.append(_contradiction(why))
    if turned or end_moved:
        if end is not None and not complete:
            why = "cannot set completionTime when there is no Complete=True condition"
            errors.append(invalid(_COMPLETION_TIME, status["completionTime"], why))
        if end is None and complete:
            why = "completionTime is required for Complete jobs"
            errors.append(required(_COMPLETION_TIME, why))
    if (start_moved or end_moved) and start and end and end < start:
        why = "must be equal to or after `startTime`"
        errors.append(invalid(_COMPLETION_TIME, status["completionTime"], why))
    return errors


def _validate_finished(status: Object, before: Object) -> list[FieldError]:
    """No Job ends out of the blue: what leads to its end is said first or with it, and
    nothing of it still runs.
    """
    errors: list[FieldError] = []
    for last, first in _ANNOUNCED_BY.items():
        announced = _holds(status, first) or not _holds(status, last)
        # taking back the announcement of a failure has a complaint of its own
        turned = (last, first) if last == "Complete" else (last,)
        if _turned(status, before, *turned) and not announced:
            condition = f"{last}=True condition without the {first}=true condition"
            errors.append(_contradiction(f"cannot set {condition}"))
    if not _is_finished(status):
        return errors
    ended = not _is_finished(before)
    active, pods = status.get("active") or 0, status.get("uncountedTerminatedPods")
    if (ended or _changed(status, before, "active")) and active > 0:
        why = "active>0 is invalid for finished job"
        errors.append(invalid("status.active", active, why))
    if (ended or _changed(status, before, "startTime")) and not status.get("startTime"):
        errors.append(
            required("status.startTime", "startTime is required for finished job")
        )
    uncounted = "uncountedTerminatedPods"
    if (ended or _changed(status, before, uncounted)) and any((pods or {}).values()):
        value = internal_value("*batch/v1.UncountedTerminatedPods", pods)
        why = "must be empty for finished job"
        errors.append(invalid(f"status.{uncounted}", value, why))
    return errors


def _validate_indexes(spec: Object, status: Object, before: Object) -> list[FieldError]:
    """Which numbers succeeded and which failed, written as `1,3-5,7`."""
    errors: list[FieldError] = []
    completions, per_index = spec.get("completions"), spec.get("backoffLimitPerIndex")
    completed, failed = (
        status.get("completedIndexes") or "",
        status.get("failedIndexes"),
    )
    completed_changed = _changed(status, before, "completedIndexes")
    failed_changed = _changed(status, before, "failedIndexes")

    def check_format(field: str, text: str) -> None:
        if completions is None:
            return
        _, complaint = count_indexes(text, completions)
        if complaint:
            why = f"error parsing {field}: {complaint}"
            errors.append(invalid(f"status.{field}", text, why))

    if completed_changed:
        check_format("completedIndexes", completed)
    if failed_changed and per_index is not None and failed is not None:
        check_format("failedIndexes", failed)
    if completed_changed and completed and spec.get("completionMode") != "Indexed":
        why = "cannot set non-empty completedIndexes when non-indexed completion mode"
        errors.append(invalid("status.completedIndexes", completed, why))
    if failed_changed and per_index is None and failed is not None:
        why = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        errors.append(invalid("status.failedIndexes", failed, why))
    changed = failed_changed or completed_changed
    if changed and completions is not None and failed is not None:
        overlap = first_overlap(completed, failed, completions)
        if overlap is not None:
            why = f"failedIndexes and completedIndexes overlap at index: {overlap}"
            errors.append(invalid("status.failedIndexes", failed, why))
    return errors


def _validate_pod_counts(status: Object, before: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    ready, active = status.get("ready"), status.get("active") or 0
    terminating = status.get("terminating") or 0
    ended = _is_finished(status) and not _is_finished(before)
    terminating_counts = ended or _changed(status, before, "terminating")
    if terminating_counts and _is_finished(status) and terminating > 0:
        why = "terminating>0 is invalid for finished job"
        errors.append(invalid("status.terminating", terminating, why))
    counts = _changed(status, before, "ready", "active")
    if counts and ready is not None and ready > active:
        why = "cannot set more ready pods than active"
        errors.append(invalid("status.ready", ready, why))
    return errors


def _validate_success_criteria(spec: Object, status: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    met = _holds(status, "SuccessCriteriaMet")
    for other in _FAILING:
        if met and _holds(status, other):
            why = f"cannot set SuccessCriteriaMet=True and {other}=true conditions"
            errors.append(_contradiction(why))
    if spec.get("successPolicy") is not None and _holds(status, "Complete") and not met:
        why = "Job with SuccessPolicy unless SuccessCriteriaMet=True"
        errors.append(_contradiction(f"cannot set Complete=True for {why}"))
    return errors


def _validate_transition(
    spec: Object, status: Object, before: Object
) -> list[FieldError]:
    """What has ended stays ended, and counters do not run backwards. An indexed Job
    that does all its work at once can be made smaller, and then has fewer successes.
    """
    errors = [
        _contradiction(f"cannot disable the terminal {type_}=True condition")
        for type_ in ("Failed", "Complete", "FailureTarget")
        if _holds(before, type_) and not _holds(status, type_)
    ]
    elastic = spec.get("completionMode") == "Indexed" and (
        spec.get("completions") == spec.get("parallelism")
    )
    for field in ("failed", "succeeded"):
        count = status.get(field) or 0
        if count < (before.get(field) or 0) and not (field == "succeeded" and elastic):
            why = f"cannot decrease the {field} counter"
            errors.append(invalid(f"status.{field}", count, why))
    end, start = status.get("completionTime"), status.get("startTime")
    ends = end and before.get("completionTime")
    if ends and _changed(status, before, "completionTime"):
        errors.append(invalid(_COMPLETION_TIME, end, IMMUTABLE))
    started = before.get("startTime") and not spec.get("suspend")
    if started and _changed(status, before, "startTime"):
        why = "field is immutable for unsuspended job once set"
        errors.append(invalid("status.startTime", start, why))
    met = "SuccessCriteriaMet"
    if _holds(before, met) and not _holds(status, met):
        errors.append(_contradiction(f"cannot disable the {met}=True condition"))
    return errors
