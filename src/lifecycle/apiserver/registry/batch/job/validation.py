"""What a Job may say, and what of it may change.

Upstream: `pkg/apis/batch/validation/validation.go` (`ValidateJob`,
`ValidateGeneratedSelector`, `ValidateJobUpdate`), v1.36. Its status: `status.py`.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    invalid,
    named,
    not_supported,
    required,
    too_long,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.batch.job.policies import (
    validate_failure_policy,
    validate_success_policy,
)
from lifecycle.apiserver.registry.core.pod.spec import (
    validate_pod_template_spec,
)
from lifecycle.apiserver.registry.core.pod.template import MISMATCH, sorted_map
from lifecycle.apiserver.registry.rest.enum import validate_enum
from lifecycle.apiserver.registry.rest.label_selectors import (
    selector_is_usable,
    selector_matches,
    validate_label_selector,
)
from lifecycle.apiserver.registry.rest.numbers import not_negative
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.references import validate_domain_prefixed_path

_MAX_INDEXED, _MAX_PER_INDEX_WHEN_MANY = 100_000, 10_000
_MAX_MANAGED_BY_LENGTH = 63
_PREFIX = "batch.kubernetes.io/"


def validate(job: Object) -> list[FieldError]:
    """A new Job, its selector already generated."""
    errors = validate_core_object_meta(
        job.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    spec = job.get("spec") or {}
    errors += _validate_generated_selector(job)
    errors += _validate_spec_with_selector(spec, "spec")
    if spec.get("completionMode") == "Indexed" and (spec.get("completions") or 0) > 0:
        name = (job.get("metadata") or {}).get("name", "")
        host = f"{name}-{spec['completions'] - 1}"  # of the last pod
        if content.dns1123_label(host):
            errors.append(
                invalid(
                    "metadata.name",
                    name,
                    f"will not able to create pod with invalid DNS label: {host}",
                )
            )
    return errors


def _validate_generated_selector(job: Object) -> list[FieldError]:
    meta, spec = job.get("metadata") or {}, job.get("spec") or {}
    if spec.get("manualSelector") or spec.get("selector") is None:
        return []
    errors: list[FieldError] = []
    uid, name = meta.get("uid", ""), meta.get("name", "")
    if not uid:
        errors.append(required("metadata.uid"))
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    expected = {
        f"{_PREFIX}controller-uid": uid,
        f"{_PREFIX}job-name": name,
        "controller-uid": uid,
        "job-name": name,
    }
    for key in (
        "controller-uid",
        "job-name",
        f"{_PREFIX}controller-uid",
        f"{_PREFIX}job-name",
    ):
        here = f"spec.template.metadata.labels[{key}]"
        if key not in labels:
            errors.append(required(here, f"must be '{expected[key]}'"))
        elif labels[key] != expected[key]:
            errors.append(
                invalid(here, sorted_map(labels), f"must be '{expected[key]}'")
            )
    if selector_is_usable(spec["selector"]) and not selector_matches(
        spec["selector"], expected
    ):
        errors.append(
            invalid("spec.selector", spec["selector"], "`selector` not auto-generated")
        )
    return errors


def _validate_spec_with_selector(spec: Object, path: str) -> list[FieldError]:
    errors = validate_job_spec(spec, path)
    selector = spec.get("selector")
    if selector is None:
        errors.append(required(f"{path}.selector"))
    else:
        errors += validate_label_selector(selector, f"{path}.selector")
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if selector is None or (
        selector_is_usable(selector) and not selector_matches(selector, labels or {})
    ):
        errors.append(
            invalid(
                f"{path}.template.metadata.labels", sorted_map(labels or None), MISMATCH
            )
        )
    return errors


_COUNTS = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
)


def validate_job_spec(spec: Object, path: str) -> list[FieldError]:
    """A Job's spec, apart from the selector; also that in a CronJob's template."""
    errors = not_negative(spec, *_COUNTS, path=path)
    per_index, failed = spec.get("backoffLimitPerIndex"), spec.get("maxFailedIndexes")
    mode, manager = spec.get("completionMode"), spec.get("managedBy")
    if failed is not None:
        errors += not_negative(spec, "maxFailedIndexes", path=path)
        if per_index is None:
            errors.append(
                required(
                    f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified"
                )
            )
    if manager is not None:
        errors += validate_domain_prefixed_path(manager, f"{path}.managedBy")
        if len(manager) > _MAX_MANAGED_BY_LENGTH:
            errors.append(too_long(f"{path}.managedBy", _MAX_MANAGED_BY_LENGTH))
    errors += validate_enum(f"{path}.completionMode", mode, ("NonIndexed", "Indexed"))
    if mode == "Indexed":
        errors += _validate_indexed(spec, path)
    if mode in (None, "NonIndexed"):
        for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(field) is not None:
                errors.append(
                    invalid(
                        f"{path}.{field}",
                        spec[field],
                        "requires indexed completion mode",
                    )
                )
    policy, replacement = spec.get("podFailurePolicy"), spec.get("podReplacementPolicy")
    if policy is not None:
        errors += validate_failure_policy(policy, spec, f"{path}.podFailurePolicy")
    success = spec.get("successPolicy")
    if success is not None and mode != "Indexed":
        value = internal_value("batch/v1.SuccessPolicy", success)
        errors.append(
            invalid(f"{path}.successPolicy", value, "requires indexed completion mode")
        )
    elif success is not None:
        errors += validate_success_policy(
            success, spec.get("completions") or 0, f"{path}.successPolicy"
        )
    if replacement is not None:
        if policy is not None and replacement != "Failed":
            errors.append(
                not_supported(f"{path}.podReplacementPolicy", replacement, ("Failed",))
            )
        elif policy is None and replacement not in ("Failed", "TerminatingOrFailed"):
            errors.append(
                not_supported(
                    f"{path}.podReplacementPolicy",
                    replacement,
                    ("Failed", "TerminatingOrFailed"),
                )
            )
    template = spec.get("template") or {}
    errors += validate_pod_template_spec(template, f"{path}.template")
    restart, here = (
        (template.get("spec") or {}).get("restartPolicy", ""),
        f"{path}.template.spec.restartPolicy",
    )
    if restart == "Always":
        errors.append(required(here, 'valid values: "OnFailure", "Never"'))
    elif restart not in ("OnFailure", "Never"):
        errors.append(not_supported(here, restart, ("OnFailure", "Never")))
    elif policy is not None and restart != "Never":
        errors.append(
            invalid(
                here,
                restart,
                'only "Never" is supported when podFailurePolicy is specified',
            )
        )
    return errors


def _validate_indexed(spec: Object, path: str) -> list[FieldError]:
    """Limits of jobs whose pods are numbered: many numbers and many failures to
    remember do not go together.
    """
    errors: list[FieldError] = []
    completions, parallelism, failed = (
        spec.get(f) for f in ("completions", "parallelism", "maxFailedIndexes")
    )
    if completions is None:
        errors.append(
            required(f"{path}.completions", "when completion mode is Indexed")
        )
    if (parallelism or 0) > _MAX_INDEXED:
        why = (
            f"must be less than or equal to {_MAX_INDEXED} when completion mode is"
            " Indexed"
        )
        errors.append(invalid(f"{path}.parallelism", parallelism, why))
    if completions is not None and failed is not None and failed > completions:
        errors.append(
            invalid(
                f"{path}.maxFailedIndexes",
                failed,
                "must be less than or equal to completions",
            )
        )
    if (failed or 0) > _MAX_INDEXED:
        errors.append(
            invalid(
                f"{path}.maxFailedIndexes",
                failed,
                f"must be less than or equal to {_MAX_INDEXED}",
            )
        )
    if (completions or 0) > _MAX_INDEXED and spec.get(
        "backoffLimitPerIndex"
    ) is not None:
        if failed is None:
            why = f"must be specified when completions is above {_MAX_INDEXED}"
            errors.append(required(f"{path}.maxFailedIndexes", why))
        when = (
            f"when completions are above {_MAX_INDEXED} and used with backoff limit per"
            " index"
        )
        for field, value in (
            ("parallelism", parallelism),
            ("maxFailedIndexes", failed),
        ):
            if (value or 0) > _MAX_PER_INDEX_WHEN_MANY:
                errors.append(
                    invalid(
                        f"{path}.{field}",
                        value,
                        f"must be less than or equal to {_MAX_PER_INDEX_WHEN_MANY} "
                        f"{when}",
                    )
                )
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """What a running Job is made of stays; parallelism, suspension and deadlines may
    change.
    """
    errors = validate(new) + validate_core_object_meta_update(
        new["metadata"], old["metadata"]
    )
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    errors += _validate_spec_with_selector(spec, "spec")  # a second time, as upstream
    errors += _validate_completions_mutation(spec, before)
    if spec.get("selector") != before.get("selector"):
        errors.append(invalid("spec.selector", spec.get("selector"), IMMUTABLE))
    waits = before.get("suspend") and not (old.get("status") or {}).get("startTime")
    errors += _validate_template_update(
        spec.get("template") or {}, before.get("template") or {}, bool(waits)
    )
    for field in (
        "completionMode",
        "podFailurePolicy",
        "backoffLimitPerIndex",
        "managedBy",
        "successPolicy",
    ):
        if spec.get(field) != before.get(field):
            type_ = _POLICY_TYPES.get(field)
            value = named(spec.get(field))
            if type_:
                value = internal_value(type_, value)
            errors.append(invalid(f"spec.{field}", value, IMMUTABLE))
    return errors


_POLICY_TYPES = {
    "podFailurePolicy": "*batch/v1.PodFailurePolicy",
    "successPolicy": "*batch/v1.SuccessPolicy",
}


def _validate_completions_mutation(spec: Object, before: Object) -> list[FieldError]:
    """An indexed Job can grow or shrink if it does all its work at once."""
    completions = spec.get("completions")
    if completions == before.get("completions"):
        return []
    if spec.get("completionMode") != "Indexed":
        return [invalid("spec.completions", completions, IMMUTABLE)]
    if completions is None or completions == spec.get("parallelism"):
        return []
    return [
        invalid(
            "spec.completions",
            completions,
            "can only be modified in tandem with spec.parallelism",
        )
    ]


def _validate_template_update(
    new: Object, old: Object, waits: bool
) -> list[FieldError]:
    """It stays. `waits`: the job is suspended and has not begun, so the metadata of its
    pods may change, and what `_steered` takes over.
    """
    path, type_, after, before = (
        "spec.template",
        "core/v1.PodTemplateSpec",
        new,
        old,
    )
    if waits:
        path, type_, after = f"{path}.spec", "core/v1.PodSpec", new.get("spec") or {}
        before = _steered(old.get("spec") or {}, after)
    if after == before:
        return []
    return [invalid(path, internal_value(type_, after), IMMUTABLE)]


def _steered(old: Object, new_spec: Object) -> Object:
    """The old spec with what says where pods go, and how much they get."""
    spec = dict(old)
    for field in ("nodeSelector", "tolerations", "schedulingGates"):
        _take_over(spec, new_spec, field)
    affinity = dict(spec.get("affinity") or {})
    _take_over(affinity, new_spec.get("affinity") or {}, "nodeAffinity")
    if affinity or new_spec.get("affinity") is not None:
        spec["affinity"] = affinity
    else:
        spec.pop("affinity", None)
    for group in ("containers", "initContainers"):
        if len(spec.get(group) or ()) == len(new_spec.get(group) or ()):
            pairs = zip(spec.get(group) or (), new_spec.get(group) or ())
            kept = [
                (
                    {**one, "resources": other["resources"]}
                    if "resources" in other
                    else one
                )
                for one, other in pairs
            ]
            if kept:
                spec[group] = kept
    return spec


def _take_over(target: Object, source: Object, field: str) -> None:
    if source.get(field) is not None:
        target[field] = source[field]
    else:
        target.pop(field, None)
