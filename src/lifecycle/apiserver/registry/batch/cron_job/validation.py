"""What a CronJob may say: when, in which time zone, and a Job.

Upstream: `pkg/apis/batch/validation/validation.go` (`ValidateCronJobCreate`,
`validateCronJobSpec`, `validateTimeZone`), v1.36.
"""

from __future__ import annotations

import re

from lifecycle.api.cron.location import load_location
from lifecycle.api.cron.parser import parse_standard
from lifecycle.api.field_errors import (
    FieldError,
    Named,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.batch.job.validation import validate_job_spec
from lifecycle.apiserver.registry.rest.enum import validate_required_enum
from lifecycle.apiserver.registry.rest.numbers import not_negative
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)

_MAX_NAME_LENGTH = 52


def validate(cron_job: Object) -> list[FieldError]:
    """A new CronJob: eleven characters of its jobs' names are the time."""
    errors = validate_core_object_meta(
        cron_job.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    errors += _validate_spec(cron_job.get("spec") or {}, "spec")
    name = (cron_job.get("metadata") or {}).get("name", "")
    if len(name) > _MAX_NAME_LENGTH:
        errors.append(
            invalid(
                "metadata.name",
                name,
                f"must be no more than {_MAX_NAME_LENGTH} characters",
            )
        )
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed CronJob."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    return errors + _validate_spec(new.get("spec") or {}, "spec", old.get("spec") or {})


_CONCURRENCY_POLICIES = ("Allow", "Forbid", "Replace")


def _validate_spec(
    spec: Object, path: str, old: Object | None = None
) -> list[FieldError]:
    """`old` is None for a new one. A zone inside the schedule, once tolerated, may stay
    if it was there.
    """
    schedule, zone = spec.get("schedule", ""), spec.get("timeZone")
    errors = [] if schedule else [required(f"{path}.schedule")]
    if schedule:
        try:
            parse_standard(schedule)
        except ValueError as error:
            errors.append(invalid(f"{path}.schedule", schedule, str(error)))
    if "TZ" in schedule:
        tolerated = old is not None and "TZ" in old.get("schedule", "")
        if not tolerated:
            why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
            errors.append(invalid(f"{path}.schedule", schedule, why))
        elif zone is not None:
            why = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
            errors.append(invalid(f"{path}.schedule", schedule, why))
    if zone is not None and (old is None or zone != old.get("timeZone")):
        errors += _validate_time_zone(zone, f"{path}.timeZone")
    errors += not_negative(spec, "startingDeadlineSeconds", path=path)
    concurrency = spec.get("concurrencyPolicy", "")
    errors += validate_required_enum(
        f"{path}.concurrencyPolicy", concurrency, _CONCURRENCY_POLICIES
    )
    template = (spec.get("jobTemplate") or {}).get("spec") or {}
    errors += validate_job_spec(template, f"{path}.jobTemplate.spec")
    if template.get("selector") is not None:
        errors.append(
            invalid(
                f"{path}.jobTemplate.spec.selector",
                template["selector"],
                "`selector` will be auto-generated",
            )
        )
    if template.get("manualSelector"):
        errors.append(
            not_supported(
                f"{path}.jobTemplate.spec.manualSelector", True, ("nil", "false")
            )
        )
    return errors + not_negative(
        spec, "successfulJobsHistoryLimit", "failedJobsHistoryLimit", path=path
    )


_ZONE_PART = re.compile(r"[A-Za-z.\-_0-9+]{1,14}")


def _validate_time_zone(zone: str, path: str) -> list[FieldError]:
    if not zone:
        return [invalid(path, Named(zone), "timeZone must be nil or non-empty string")]
    if not all(
        _ZONE_PART.fullmatch(part) and part not in (".", "..") and part[0] != "-"
        for part in zone.split("/")
    ):
        return [invalid(path, Named(zone), f"unknown time zone {zone}")]
    errors: list[FieldError] = []
    if zone.lower() == "local":
        why = (
            "timeZone must be an explicit time zone as defined in"
            " https://www.iana.org/time-zones"
        )
        errors.append(invalid(path, Named(zone), why))
    try:
        load_location(zone)
    except ValueError as error:
        errors.append(invalid(path, Named(zone), str(error)))
    return errors
