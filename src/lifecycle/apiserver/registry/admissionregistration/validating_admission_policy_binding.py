"""ValidatingAdmissionPolicyBindings: where a policy is in force, and what happens then.

Upstream:
`pkg/registry/admissionregistration/validatingadmissionpolicybinding/strategy.go`,
`pkg/apis/admissionregistration/validation/validation.go`
(`validateValidationActions`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.admissionregistration.policy_bindings import (
    PRINTER,
    set_policy_binding_defaults,
    validate_policy_binding,
)
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.strategy import Strategy

ACTIONS = ("Audit", "Deny", "Warn")


def validate(binding: Object) -> list[FieldError]:
    """A new binding."""
    actions = (binding.get("spec") or {}).get("validationActions") or []
    return validate_policy_binding(binding) + _validate_actions(actions)


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """The same."""
    return validate(new)


def _validate_actions(actions: list[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    path = "spec.validationActions"
    for index, action in enumerate(actions):
        if action not in ACTIONS:
            errors.append(not_supported(f"{path}[{index}]", action, ACTIONS))
        if action in actions[:index]:
            errors.append(duplicate(f"{path}[{index}]", action))
    if {"Deny", "Warn"} <= set(actions):
        why = (
            "must not contain both Deny and Warn (repeating the same validation failure"
            " information in the API response and headers serves no purpose)"
        )
        errors.append(invalid(path, actions, why))
    if not actions:
        errors.append(required(path, "at least one validation action is required"))
    return errors


STRATEGY = Strategy(
    set_defaults=set_policy_binding_defaults,
    generation=Generation.SPEC,
    validate=validate,
    allow_unconditional_update=False,
    validate_update=validate_update,
    printer=PRINTER,
)
