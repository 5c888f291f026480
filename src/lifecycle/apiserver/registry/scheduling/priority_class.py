"""PriorityClasses: numbers with names, that say which pod goes first.

Upstream: `pkg/apis/scheduling/v1/defaults.go`,
`pkg/registry/scheduling/priorityclass/strategy.go`,
`pkg/apis/scheduling/validation/validation.go`,
`pkg/printers/internalversion/printers.go` (`printPriorityClass`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    Named,
    forbidden,
    invalid,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.rest.enum import validate_required_enum
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy

HIGHEST_USER_DEFINABLE_PRIORITY = 1_000_000_000


SYSTEM_PRIORITIES = {
    "system-node-critical": 2_000_001_000,
    "system-cluster-critical": 2_000_000_000,
}


def set_defaults(priority_class: Object) -> None:
    """Pods of the class may preempt."""
    set_default(priority_class, "preemptionPolicy", "PreemptLowerPriority")


def validate(priority_class: Object) -> list[FieldError]:
    """Up to a billion; above is the system's."""
    meta = priority_class.get("metadata") or {}
    errors = validate_core_object_meta(meta, False, content.name_is_dns_subdomain)
    name, value = meta.get("name", ""), priority_class.get("value", 0)
    if name.startswith("system-"):
        problem = _system_priority_problem(
            name, value, bool(priority_class.get("globalDefault"))
        )
        if problem:
            why = (
                "priority class names with 'system-' prefix are reserved for system"
                f" use only. error: {problem}"
            )
            errors.append(forbidden("metadata.name", why))
    elif value > HIGHEST_USER_DEFINABLE_PRIORITY:
        errors.append(
            forbidden(
                "value",
                "maximum allowed value of a user defined priority is"
                f" {HIGHEST_USER_DEFINABLE_PRIORITY}",
            )
        )
    policy = priority_class.get("preemptionPolicy")
    if policy is not None:
        errors += validate_required_enum(
            "preemptionPolicy", policy, ("PreemptLowerPriority", "Never")
        )
    return errors


def _system_priority_problem(name: str, value: int, default: bool) -> str:
    if name not in SYSTEM_PRIORITIES:
        return f"{name} is not a known system priority class"
    if value != SYSTEM_PRIORITIES[name]:
        return f"value of {name} PriorityClass must be {SYSTEM_PRIORITIES[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if default else ""


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """Value and preemption stay."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    if new.get("value", 0) != old.get("value", 0):
        errors.append(forbidden("value", "may not be changed in an update."))
    if new.get("preemptionPolicy") != old.get("preemptionPolicy"):
        policy = new.get("preemptionPolicy")
        shown = None if policy is None else Named(policy)
        errors.append(invalid("preemptionPolicy", shown, IMMUTABLE))
    return errors


def print_priority_class(obj: Object, now: float) -> Cells:
    """The cells of `kubectl get priorityclasses`."""
    return [
        obj["metadata"]["name"],
        obj.get("value", 0),
        bool(obj.get("globalDefault")),
        age(obj, now),
        obj.get("preemptionPolicy") or "",
    ]


_TYPE = "scheduling/v1.PriorityClass"

PRINTER = Printer(
    (
        NAME,
        Column("Value", field(_TYPE, "value"), "integer"),
        Column("Global-Default", field(_TYPE, "globalDefault"), "boolean"),
        AGE,
        Column("PreemptionPolicy", field(_TYPE, "preemptionPolicy")),
    ),
    print_priority_class,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    generation=Generation.ALWAYS_ONE,
    validate=validate,
    validate_update=validate_update,
    printer=PRINTER,
)
