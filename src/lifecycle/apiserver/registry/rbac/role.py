"""Roles: what may be done in one namespace.

Upstream: `pkg/registry/rbac/role/strategy.go`, `pkg/apis/rbac/validation/validation.go`
(`ValidateRole`, `ValidateRoleUpdate`), v1.36. They get the default table.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.rbac.policy_rules import validate_policy_rule
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy


def validate(role: Object) -> list[FieldError]:
    """A namespaced role."""
    errors = validate_core_object_meta(
        role.get("metadata") or {}, True, content.name_is_path_segment
    )
    for index, rule in enumerate(role.get("rules") or ()):
        errors += validate_policy_rule(rule, True, f"rules[{index}]")
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed role."""
    return validate(new) + validate_core_object_meta_update(
        new["metadata"], old["metadata"]
    )


STRATEGY = Strategy(
    validate=validate,
    allow_create_on_update=True,
    validate_update=validate_update,
)
