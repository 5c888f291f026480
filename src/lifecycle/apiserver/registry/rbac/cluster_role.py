"""ClusterRoles: what may be done everywhere, perhaps aggregated from others.

Upstream: `pkg/registry/rbac/clusterrole/strategy.go`,
`pkg/apis/rbac/validation/validation.go` (`ValidateClusterRole` …), v1.36. They get the
default table.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, required
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.rbac.policy_rules import validate_policy_rule
from lifecycle.apiserver.registry.rest.label_selectors import (
    selector_is_usable,
    validate_label_selector,
)
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy


def validate(role: Object) -> list[FieldError]:
    """A cluster role, perhaps aggregated from others."""
    errors = validate_core_object_meta(
        role.get("metadata") or {}, False, content.name_is_path_segment
    )
    for index, rule in enumerate(role.get("rules") or ()):
        errors += validate_policy_rule(rule, False, f"rules[{index}]")
    aggregation = role.get("aggregationRule")
    if aggregation is not None:
        path, selectors = (
            "aggregationRule.clusterRoleSelectors",
            aggregation.get("clusterRoleSelectors") or [],
        )
        if not selectors:
            errors.append(
                required(
                    path,
                    "at least one clusterRoleSelector required if aggregationRule is"
                    " non-nil",
                )
            )
        for index, selector in enumerate(selectors):
            errors += validate_label_selector(selector, f"{path}[{index}]")
            if not selector_is_usable(selector):
                errors.append(
                    invalid(f"{path}[{index}]", None, "invalid label selector.")
                )
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed cluster role."""
    return validate(new) + validate_core_object_meta_update(
        new["metadata"], old["metadata"]
    )


STRATEGY = Strategy(
    validate=validate,
    allow_create_on_update=True,
    validate_update=validate_update,
)
