"""What an autoscaler may say: whom it scales, between which bounds, by which metrics,
how fast.

Upstream: `pkg/apis/autoscaling/validation/validation.go`
(`ValidateHorizontalPodAutoscaler` …), v1.36.
"""

from __future__ import annotations

from dataclasses import replace

from lifecycle.api.field_errors import (
    FieldError,
    Named,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.pod.resources import (
    validate_container_resource_name,
)
from lifecycle.apiserver.registry.rest.enum import validate_enum
from lifecycle.apiserver.registry.rest.numbers import not_negative
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.references import (
    validate_cross_version_reference,
)

_METRICS = ("ContainerResource", "External", "Object", "Pods", "Resource")


_METRIC_FIELDS = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def validate(autoscaler: Object) -> list[FieldError]:
    """A new autoscaler."""
    errors = validate_core_object_meta(
        autoscaler.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    return errors + _validate_spec(autoscaler.get("spec") or {}, {})


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed autoscaler."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    return errors + _validate_spec(new.get("spec") or {}, old.get("spec") or {})


def validate_status_update(new: Object, old: Object) -> list[FieldError]:
    """How many there are, and should be."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    return errors + not_negative(
        new.get("status") or {}, "currentReplicas", "desiredReplicas", path="status"
    )


def _validate_scale_target(target: Object, before: Object | None) -> list[FieldError]:
    same = before is not None and all(
        target.get(f, "") == before.get(f, "") for f in ("apiVersion", "kind")
    )
    controller = (
        target.get("kind") == "ReplicationController"
    )  # the one thing of the core group that scales
    return validate_cross_version_reference(
        target, "spec.scaleTargetRef", core_allowed=controller, known_version=same
    )


def _validate_spec(spec: Object, before: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    low, high = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    lowest = 0 if before.get("minReplicas") == 0 else 1
    if low is not None and low < lowest:
        errors.append(
            invalid(
                "spec.minReplicas", low, f"must be greater than or equal to {lowest}"
            )
        )
    if high == 0:
        errors.append(required("spec.maxReplicas", "must be set and greater than 0"))
    elif high < 1:
        errors.append(
            invalid("spec.maxReplicas", high, "must be greater than or equal to 1")
        )
    if low is not None and high < low:
        errors.append(
            invalid(
                "spec.maxReplicas",
                high,
                "must be greater than or equal to `minReplicas`",
            )
        )
    errors += _validate_scale_target(
        spec.get("scaleTargetRef") or {}, before.get("scaleTargetRef")
    )
    for index, metric in enumerate(spec.get("metrics") or ()):
        errors += _validate_metric(metric, f"spec.metrics[{index}]")
    if low == 0 and not any(
        metric.get("type") in ("Object", "External")
        for metric in spec.get("metrics") or ()
    ):
        why = (
            "must specify at least one Object or External metric to support scaling to"
            " zero replicas"
        )
        errors.append(forbidden("spec.metrics", why))
    behavior = spec.get("behavior") or {}
    for direction in ("scaleUp", "scaleDown"):
        if behavior.get(direction) is not None:
            errors += _validate_scaling_rules(
                behavior[direction], f"spec.behavior.{direction}"
            )
    return errors


def _validate_metric(metric: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    type_ = metric.get("type", "")
    if not type_:
        errors.append(required(f"{path}.type", "must specify a metric source type"))
    if type_ not in _METRICS:
        errors.append(not_supported(f"{path}.type", type_, _METRICS))
    present = [
        field
        for field in ("object", "external", "pods", "resource", "containerResource")
        if metric.get(field) is not None
    ]
    for field in present[:1]:
        errors += _validate_metric_source(field, metric[field], f"{path}.{field}")
    expected = _METRIC_FIELDS.get(type_)
    if expected is None:  # upstream says it twice
        errors.append(not_supported(f"{path}.type", type_, _METRICS))
    if expected is not None and expected not in present:
        errors.append(
            required(
                f"{path}.{expected}",
                "must populate information for the given metric source",
            )
        )
    if len(present) != 1:
        errors += [
            forbidden(f"{path}.{field}", "must populate the given metric source only")
            for field in present
            if field != expected
        ]
    return errors


def _validate_metric_source(field: str, source: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    target = source.get("target") or {}
    if field in ("resource", "containerResource"):
        name, container = source.get("name", ""), source.get("container", "")
        if not name:
            errors.append(required(f"{path}.name", "must specify a resource name"))
        elif field == "containerResource":
            plain = content.qualified_name(name)  # upstream asks it of the text
            errors += [
                replace(error, bad_value=name) if error.detail in plain else error
                for error in validate_container_resource_name(name, f"{path}.name")
            ]
        if field == "containerResource" and not container:
            errors.append(required(f"{path}.container", "must specify a container"))
        elif field == "containerResource":
            errors += [
                invalid(f"{path}.container", container, why)
                for why in content.dns1123_label(container)
            ]
    else:
        if field == "object":
            described = source.get("describedObject") or {}
            errors += validate_cross_version_reference(
                described, f"{path}.describedObject", core_allowed=True
            )
        name = (source.get("metric") or {}).get("name", "")
        if not name:
            errors.append(required(f"{path}.metric.name", "must specify a metric name"))
        else:
            messages = content.name_is_path_segment(name, False)
            errors += [invalid(f"{path}.metric.name", name, why) for why in messages]
    errors += _validate_metric_target(target, f"{path}.target")
    value, average, utilization = (
        target.get("value"),
        target.get("averageValue"),
        target.get("averageUtilization"),
    )
    if field in ("resource", "containerResource"):
        if utilization is None and average is None:
            why = "must set either a target raw value or a target utilization"
            errors.append(required(f"{path}.target.averageUtilization", why))
        if utilization is not None and average is not None:
            why = "may not set both a target raw value and a target utilization"
            errors.append(forbidden(f"{path}.target.averageValue", why))
    elif field == "object" and value is None and average is None:
        errors.append(
            required(
                f"{path}.target.averageValue",
                "must set either a target value or averageValue",
            )
        )
    elif field == "external":
        if value is None and average is None:
            why = "must set either a target value for metric or a per-pod target"
            errors.append(required(f"{path}.target.averageValue", why))
        if value is not None and average is not None:
            errors.append(
                forbidden(
                    f"{path}.target.value",
                    "may not set both a target value for metric and a per-pod target",
                )
            )
    elif field == "pods" and average is None:
        errors.append(
            required(
                f"{path}.target.averageValue",
                "must specify a positive target averageValue",
            )
        )
    return errors


def _validate_metric_target(target: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    type_ = target.get("type", "")
    if not type_:
        errors.append(required(f"{path}.type", "must specify a metric target type"))
    if type_ not in ("Utilization", "Value", "AverageValue"):
        errors.append(
            invalid(
                f"{path}.type",
                Named(type_),
                "must be either Utilization, Value, or AverageValue",
            )
        )
    for field in ("value", "averageValue"):
        if target.get(field) is not None and parse_quantity(
            target[field]
        ) <= parse_quantity("0"):
            errors.append(invalid(f"{path}.{field}", target[field], "must be positive"))
    utilization = target.get("averageUtilization")
    if utilization is not None and utilization < 1:
        errors.append(
            invalid(f"{path}.averageUtilization", utilization, "must be greater than 0")
        )
    return errors


def _validate_scaling_rules(rules: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    window, select, policies = (
        rules.get("stabilizationWindowSeconds"),
        rules.get("selectPolicy"),
        rules.get("policies") or [],
    )
    if window is not None and window < 0:
        errors.append(
            invalid(
                f"{path}.stabilizationWindowSeconds",
                window,
                "must be greater than or equal to zero",
            )
        )
    if window is not None and window > 3600:
        errors.append(
            invalid(
                f"{path}.stabilizationWindowSeconds",
                window,
                "must be less than or equal to 3600",
            )
        )
    errors += validate_enum(f"{path}.selectPolicy", select, ("Disabled", "Max", "Min"))
    if not policies:
        errors.append(required(f"{path}.policies", "must specify at least one Policy"))
    for index, policy in enumerate(policies):
        here, period = f"{path}.policies[{index}]", policy.get("periodSeconds", 0)
        if policy.get("type") not in ("Percent", "Pods"):
            errors.append(
                not_supported(
                    f"{here}.type", policy.get("type", ""), ("Percent", "Pods")
                )
            )
        if policy.get("value", 0) <= 0:
            errors.append(
                invalid(
                    f"{here}.value", policy.get("value", 0), "must be greater than zero"
                )
            )
        if period <= 0:
            errors.append(
                invalid(f"{here}.periodSeconds", period, "must be greater than zero")
            )
        if period > 1800:
            errors.append(
                invalid(
                    f"{here}.periodSeconds",
                    period,
                    "must be less than or equal to 1800",
                )
            )
    tolerance = rules.get("tolerance")
    if tolerance is not None and parse_quantity(tolerance) < parse_quantity("0"):
        errors.append(
            invalid(
                f"{path}.tolerance", tolerance, "must be greater than or equal to 0"
            )
        )
    return errors
