"""PodDisruptionBudgets: how many pods may be missing at once, if somebody evicts them.

Upstream: `pkg/registry/policy/poddisruptionbudget/strategy.go`,
`pkg/apis/policy/validation/validation.go` (`ValidatePodDisruptionBudget`),
`pkg/printers/internalversion/printers.go` (`printPodDisruptionBudget`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    invalid,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.conditions import validate_conditions
from lifecycle.apiserver.registry.rest.enum import validate_enum
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.label_selectors import validate_label_selector
from lifecycle.apiserver.registry.rest.numbers import (
    not_negative,
    validate_int_or_percent,
    validate_not_over_100_percent,
)
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_object_meta,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy, UpdateStrategy


def validate(budget: Object) -> list[FieldError]:
    """One bound or the other. (Its metadata is judged by the general rule behind.)"""
    return _validate_spec(budget) or validate_object_meta(
        budget.get("metadata") or {}, True, content.name_is_path_segment
    )


def _validate_spec(budget: Object) -> list[FieldError]:
    spec = budget.get("spec") or {}
    errors: list[FieldError] = []
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        value = internal_value("policy/v1.PodDisruptionBudgetSpec", spec)
        errors.append(
            invalid("spec", value, "minAvailable and maxUnavailable cannot be both set")
        )
    for field in ("minAvailable", "maxUnavailable"):
        if spec.get(field) is not None:
            errors += validate_int_or_percent(spec[field], f"spec.{field}")
            errors += validate_not_over_100_percent(spec[field], f"spec.{field}")
    errors += validate_label_selector(spec.get("selector"), "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy")
    return errors + validate_enum(
        "spec.unhealthyPodEvictionPolicy", policy, ("AlwaysAllow", "IfHealthyBudget")
    )


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed budget."""
    return _validate_spec(new)


_STATUS_COUNTS = (
    "disruptionsAllowed",
    "currentHealthy",
    "desiredHealthy",
    "expectedPods",
)


def validate_status_update(new: Object, old: Object) -> list[FieldError]:
    """Sound conditions, counts from zero up."""
    status = new.get("status") or {}
    errors = validate_conditions(status.get("conditions") or [], "status.conditions")
    return errors + not_negative(status, *_STATUS_COUNTS, path="status")


def print_pod_disruption_budget(obj: Object, now: float) -> Cells:
    """The cells of `kubectl get poddisruptionbudgets`."""
    spec = obj.get("spec") or {}
    bounds = [spec.get(bound) for bound in ("minAvailable", "maxUnavailable")]
    return [
        obj["metadata"]["name"],
        *("N/A" if bound is None else str(bound) for bound in bounds),
        (obj.get("status") or {}).get("disruptionsAllowed", 0),
        age(obj, now),
    ]


PRINTER = Printer(
    (
        NAME,
        Column("Min Available", "The minimum number of pods that must be available."),
        Column(
            "Max Unavailable", "The maximum number of pods that may be unavailable."
        ),
        Column(
            "Allowed Disruptions",
            "Calculated number of pods that may be disrupted at this time.",
            "integer",
        ),
        AGE,
    ),
    print_pod_disruption_budget,
)

STRATEGY = Strategy(
    generation=Generation.SPEC,
    validate=validate,
    allow_unconditional_update=False,
    validate_update=validate_update,
    subresources={
        "status": UpdateStrategy(
            update.prepare_for_status_update, validate_status_update
        )
    },
    printer=PRINTER,
)
