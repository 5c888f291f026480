"""MutatingAdmissionPolicyBindings: where a policy is in force.

Upstream:
`pkg/registry/admissionregistration/mutatingadmissionpolicybinding/strategy.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.admissionregistration.policy_bindings import (
    PRINTER,
    set_policy_binding_defaults,
    validate_policy_binding,
)
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.strategy import Strategy


def validate(binding: Object) -> list[FieldError]:
    """A new binding."""
    return validate_policy_binding(binding, mutating=True)


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """The same."""
    return validate(new)


STRATEGY = Strategy(
    set_defaults=set_policy_binding_defaults,
    generation=Generation.SPEC,
    validate=validate,
    allow_unconditional_update=False,
    validate_update=validate_update,
    printer=PRINTER,
)
