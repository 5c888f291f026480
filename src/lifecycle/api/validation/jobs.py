"""Jobs and CronJobs.

Upstream: `pkg/apis/batch/validation/validation.go` (`ValidateJob`, `ValidateGeneratedSelector`, `ValidateCronJobSpec`), v1.36. Left out:
the fine print of success policies.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, forbidden, invalid, not_supported, required
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.api.validation.cron_schedule import schedule_complaint
from lifecycle.api.validation.label_selectors import selector_is_usable, selector_matches, validate_label_selector
from lifecycle.api.validation.object_meta import IMMUTABLE, validate_core_object_meta, validate_core_object_meta_update
from lifecycle.api.validation.pod_spec import validate_pod_template_spec
from lifecycle.api.validation.workloads import MISMATCH, not_negative, sorted_map
from lifecycle.api.wire import Object

_MAX_INDEXED = 100000
_PREFIX = "batch.kubernetes.io/"
_CRON_NAME_LIMIT = 52


def validate_job(job: Object) -> list[FieldError]:
    """A new Job, its selector already generated."""
    errors = validate_core_object_meta(job.get("metadata") or {}, True, content.name_is_dns_subdomain)
    spec = job.get("spec") or {}
    errors += _validate_generated_selector(job)
    return errors + _validate_job_spec_with_selector(spec, "spec")


def _validate_generated_selector(job: Object) -> list[FieldError]:
    meta, spec = job.get("metadata") or {}, job.get("spec") or {}
    if spec.get("manualSelector") or spec.get("selector") is None:
        return []
    errors: list[FieldError] = []
    uid, name = meta.get("uid", ""), meta.get("name", "")
    if not uid:
        errors.append(required("metadata.uid"))
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    wanted = {f"{_PREFIX}controller-uid": uid, f"{_PREFIX}job-name": name, "controller-uid": uid, "job-name": name}
    for key in ("controller-uid", "job-name", f"{_PREFIX}controller-uid", f"{_PREFIX}job-name"):
        here = f"spec.template.metadata.labels[{key}]"
        if key not in labels:
            errors.append(required(here, f"must be '{wanted[key]}'"))
        elif labels[key] != wanted[key]:
            errors.append(invalid(here, sorted_map(labels), f"must be '{wanted[key]}'"))
    if selector_is_usable(spec["selector"]) and not selector_matches(spec["selector"], wanted):
        errors.append(invalid("spec.selector", spec["selector"], "`selector` not auto-generated"))
    return errors


def _validate_job_spec_with_selector(spec: Object, path: str) -> list[FieldError]:
    errors = _validate_job_spec(spec, path)
    selector = spec.get("selector")
    if selector is None:
        errors.append(required(f"{path}.selector"))
    else:
        errors += validate_label_selector(selector, f"{path}.selector")
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if selector is None or (selector_is_usable(selector) and not selector_matches(selector, labels or {})):
        errors.append(invalid(f"{path}.template.metadata.labels", sorted_map(labels or None), MISMATCH))
    return errors


_COUNTS = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
)


def _validate_job_spec(spec: Object, path: str) -> list[FieldError]:
    errors = not_negative(spec, *_COUNTS, path=path)
    per_index, failed = spec.get("backoffLimitPerIndex"), spec.get("maxFailedIndexes")
    mode, completions = spec.get("completionMode"), spec.get("completions")
    if failed is not None:
        errors += not_negative(spec, "maxFailedIndexes", path=path)
        if per_index is None:
            errors.append(required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    if mode is not None:
        if mode not in ("NonIndexed", "Indexed"):
            errors.append(not_supported(f"{path}.completionMode", mode, ("NonIndexed", "Indexed")))
        if mode == "Indexed":
            if completions is None:
                errors.append(required(f"{path}.completions", "when completion mode is Indexed"))
            if (spec.get("parallelism") or 0) > _MAX_INDEXED:
                why = f"must be less than or equal to {_MAX_INDEXED} when completion mode is Indexed"
                errors.append(invalid(f"{path}.parallelism", spec["parallelism"], why))
    if mode != "Indexed" and per_index is not None:
        errors.append(invalid(f"{path}.backoffLimitPerIndex", per_index, "requires indexed completion mode"))
    policy, replacement = spec.get("podFailurePolicy"), spec.get("podReplacementPolicy")
    if policy is not None:
        errors += _validate_failure_policy(policy, spec, f"{path}.podFailurePolicy")
    if replacement is not None:
        if policy is not None and replacement != "Failed":
            errors.append(not_supported(f"{path}.podReplacementPolicy", replacement, ("Failed",)))
        elif policy is None and replacement not in ("Failed", "TerminatingOrFailed"):
            errors.append(not_supported(f"{path}.podReplacementPolicy", replacement, ("Failed", "TerminatingOrFailed")))
    template = spec.get("template") or {}
    errors += validate_pod_template_spec(template, f"{path}.template")
    restart, here = (template.get("spec") or {}).get("restartPolicy", ""), f"{path}.template.spec.restartPolicy"
    if restart == "Always":
        errors.append(required(here, 'valid values: "OnFailure", "Never"'))
    elif restart not in ("OnFailure", "Never"):
        errors.append(not_supported(here, restart, ("OnFailure", "Never")))
    elif policy is not None and restart != "Never":
        errors.append(invalid(here, restart, 'only "Never" is supported when podFailurePolicy is specified'))
    return errors


_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")


def _validate_failure_policy(policy: Object, spec: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    names = {
        c.get("name")
        for g in ("containers", "initContainers")
        for c in ((spec.get("template") or {}).get("spec") or {}).get(g) or ()
    }
    for index, rule in enumerate(policy.get("rules") or ()):
        here, action = f"{path}.rules[{index}]", rule.get("action", "")
        if not action:
            errors.append(required(f"{here}.action"))
        elif action not in _ACTIONS:
            errors.append(not_supported(f"{here}.action", action, _ACTIONS))
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or []
        if codes is not None:
            values, operator = codes.get("values") or [], codes.get("operator", "")
            if operator not in ("In", "NotIn"):
                errors.append(not_supported(f"{here}.onExitCodes.operator", operator, ("In", "NotIn")))
            if codes.get("containerName") is not None and codes["containerName"] not in names:
                why = "must be one of the container or initContainer names in the pod template"
                errors.append(invalid(f"{here}.onExitCodes.containerName", codes["containerName"], why))
            if not values:
                errors.append(invalid(f"{here}.onExitCodes.values", None, "at least one value is required"))
            if operator == "In" and 0 in values:
                where = f"{here}.onExitCodes.values[{values.index(0)}]"
                errors.append(invalid(where, 0, "must not be 0 for the In operator"))
        if codes is not None and conditions:
            errors.append(invalid(here, rule, "specifying both OnExitCodes and OnPodConditions is not supported"))
        if codes is None and not conditions:
            errors.append(invalid(here, rule, "specifying one of OnExitCodes and OnPodConditions is required"))
    return errors


def validate_job_update(new: Object, old: Object) -> list[FieldError]:
    """What a running Job is made of stays; parallelism, suspension and deadlines may change."""
    errors = validate_job(new) + validate_core_object_meta_update(new["metadata"], old["metadata"])
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    errors += _validate_job_spec_with_selector(spec, "spec")  # a second time, as upstream
    if before.get("suspend") and not (old.get("status") or {}).get("startTime"):
        before = {**before, "template": _steered(before.get("template") or {}, spec.get("template") or {})}
    elastic = (
        spec.get("completionMode") == "Indexed"
        and spec.get("completions") == spec.get("parallelism")
        and before.get("completions") is not None
    )
    if spec.get("completions") != before.get("completions") and not elastic:
        errors.append(invalid("spec.completions", spec.get("completions"), IMMUTABLE))
    for field in ("selector", "template"):
        if spec.get(field) != before.get(field):
            shown = internal_value("core/v1.PodTemplateSpec", spec[field]) if field == "template" else spec.get(field)
            errors.append(invalid(f"spec.{field}", shown, IMMUTABLE))
    for field in ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
        if spec.get(field) != before.get(field):
            errors.append(invalid(f"spec.{field}", spec.get(field), IMMUTABLE))
    return errors


def _steered(old: Object, new: Object) -> Object:
    """The old template with what may be changed while the job is suspended and has not begun: where its pods go, labels, resources."""
    spec, wanted = dict(old.get("spec") or {}), new.get("spec") or {}
    for field in ("nodeSelector", "tolerations", "schedulingGates"):
        _take(spec, wanted, field)
    affinity = dict(spec.get("affinity") or {})
    _take(affinity, wanted.get("affinity") or {}, "nodeAffinity")
    if affinity or wanted.get("affinity") is not None:
        spec["affinity"] = affinity
    else:
        spec.pop("affinity", None)
    for group in ("containers", "initContainers"):
        if len(spec.get(group) or ()) == len(wanted.get(group) or ()):
            pairs = zip(spec.get(group) or (), wanted.get(group) or ())
            kept = [{**one, "resources": other["resources"]} if "resources" in other else one for one, other in pairs]
            if kept:
                spec[group] = kept
    meta = dict(old.get("metadata") or {})
    for field in ("labels", "annotations"):
        _take(meta, new.get("metadata") or {}, field)
    return {**old, "metadata": meta, "spec": spec}


def _take(target: Object, source: Object, field: str) -> None:
    if source.get(field) is not None:
        target[field] = source[field]
    else:
        target.pop(field, None)


def validate_cron_job(cron_job: Object) -> list[FieldError]:
    """A new CronJob: eleven characters of its jobs' names are the time."""
    errors = validate_core_object_meta(cron_job.get("metadata") or {}, True, content.name_is_dns_subdomain)
    errors += _validate_cron_job_spec(cron_job.get("spec") or {}, "spec")
    name = (cron_job.get("metadata") or {}).get("name", "")
    if len(name) > _CRON_NAME_LIMIT:
        errors.append(invalid("metadata.name", name, f"must be no more than {_CRON_NAME_LIMIT} characters"))
    return errors


def validate_cron_job_update(new: Object, old: Object) -> list[FieldError]:
    """A changed CronJob."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    return errors + _validate_cron_job_spec(new.get("spec") or {}, "spec")


_CONCURRENCY = ("Allow", "Forbid", "Replace")


def _validate_cron_job_spec(spec: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    schedule, zone = spec.get("schedule", ""), spec.get("timeZone")
    if not schedule:
        errors.append(required(f"{path}.schedule"))
    elif "TZ" in schedule:
        why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        errors.append(invalid(f"{path}.schedule", schedule, why))
    else:
        complaint = schedule_complaint(schedule)
        if complaint:
            errors.append(invalid(f"{path}.schedule", schedule, complaint))
    if zone is not None:
        errors += _validate_time_zone(zone, f"{path}.timeZone")
    errors += not_negative(spec, "startingDeadlineSeconds", path=path)
    concurrency = spec.get("concurrencyPolicy", "")
    if not concurrency:
        errors.append(required(f"{path}.concurrencyPolicy"))
    elif concurrency not in _CONCURRENCY:
        errors.append(not_supported(f"{path}.concurrencyPolicy", concurrency, _CONCURRENCY))
    template = (spec.get("jobTemplate") or {}).get("spec") or {}
    errors += _validate_job_spec(template, f"{path}.jobTemplate.spec")
    if template.get("selector") is not None:
        errors.append(
            invalid(f"{path}.jobTemplate.spec.selector", template["selector"], "`selector` will be auto-generated")
        )
    if template.get("manualSelector"):
        errors.append(not_supported(f"{path}.jobTemplate.spec.manualSelector", True, ("nil", "false")))
    return errors + not_negative(spec, "successfulJobsHistoryLimit", "failedJobsHistoryLimit", path=path)


def _validate_time_zone(zone: str, path: str) -> list[FieldError]:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    if not zone:
        return [invalid(path, zone, "timeZone must be nil or non-empty string")]
    if zone.lower() == "local":
        return [
            invalid(path, zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
        ]
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return [invalid(path, zone, f"unknown time zone {zone}")]
    return []


def validate_job_status_update(new: Object, old: Object) -> list[FieldError]:
    """Counts from zero up; a finished Job stays finished."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    status, before = new.get("status") or {}, old.get("status") or {}
    errors += not_negative(status, "active", "succeeded", "failed", "ready", "terminating", path="status")
    for type_ in ("Complete", "Failed"):

        def holds(one: Object, type_: str = type_) -> bool:
            return any(c.get("type") == type_ and c.get("status") == "True" for c in one.get("conditions") or ())

        if holds(before) and not holds(status):
            errors.append(
                invalid(
                    "status.conditions", status.get("conditions"), f"cannot disable the terminal {type_}=True condition"
                )
            )
    if holds(status, "Complete") and holds(status, "Failed"):
        errors.append(forbidden("status.conditions", "cannot set Complete=True and Failed=true conditions"))
    return errors
