"""Disruption budgets, autoscalers, priority classes, leases, storage and runtime
classes.

Upstream:
`pkg/apis/{policy,autoscaling,scheduling,coordination,storage,node}/validation/validation.go`,
v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.validation import content
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
    validate_label_name,
)
from lifecycle.apiserver.registry.unmigrated.validation.storage_drivers import (
    validate_parameters,
    validate_provisioner,
)

# --- autoscaling ----------------------------------------------------------------------


# --- classes and leases ---------------------------------------------------------------


def validate_storage_class(storage_class: Object) -> list[FieldError]:
    """Provisioner, parameters, policies, topologies."""
    errors = validate_core_object_meta(
        storage_class.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    errors += validate_provisioner(storage_class.get("provisioner", ""), "provisioner")
    errors += validate_parameters(
        storage_class.get("parameters"), "parameters", allow_none=True
    )
    policy, mode = (
        storage_class.get("reclaimPolicy"),
        storage_class.get("volumeBindingMode"),
    )
    if policy and policy not in ("Delete", "Retain"):
        errors.append(not_supported("reclaimPolicy", policy, ("Delete", "Retain")))
    if mode is None:
        errors.append(required("volumeBindingMode"))
    elif mode not in ("Immediate", "WaitForFirstConsumer"):
        errors.append(
            not_supported(
                "volumeBindingMode", mode, ("Immediate", "WaitForFirstConsumer")
            )
        )
    return errors + _validate_topologies(
        storage_class.get("allowedTopologies") or [], "allowedTopologies"
    )


def _validate_topologies(terms: list[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    before: list[dict[str, set[str]]] = [
        {} for _ in terms
    ]  # upstream starts with as many empty ones: an empty term is double
    for index, term in enumerate(terms):
        here, found = f"{path}[{index}].matchLabelExpressions", {}
        for position, requirement in enumerate(term.get("matchLabelExpressions") or ()):
            key, values = requirement.get("key", ""), requirement.get("values") or []
            if not values:
                errors.append(required(f"{here}[{position}].values"))
            errors += [
                duplicate(f"{here}[{position}].values[{i}]", value)
                for i, value in enumerate(values)
                if value in values[:i]
            ]
            errors += validate_label_name(key, f"{here}[{position}].key")
            if key in found:
                errors.append(duplicate(f"{here}[{position}].key", key))
            found[key] = set(values)
        errors += [duplicate(here, "") for other in before if other == found]
        before.append(found)
    return errors


def validate_storage_class_update(new: Object, old: Object) -> list[FieldError]:
    """What decides about volumes stays."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    for field in ("parameters", "provisioner", "reclaimPolicy"):
        if (new.get(field) or None) != (old.get(field) or None):
            errors.append(forbidden(field, f"updates to {field} are forbidden."))
    if new.get("volumeBindingMode") != old.get("volumeBindingMode"):
        errors.append(
            invalid("volumeBindingMode", new.get("volumeBindingMode"), IMMUTABLE)
        )
    return errors
