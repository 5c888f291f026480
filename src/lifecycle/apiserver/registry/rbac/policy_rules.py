"""The rules that Roles and ClusterRoles are made of.

Upstream: `pkg/apis/rbac/validation/validation.go` (`ValidatePolicyRule`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, required
from lifecycle.api.http.wire import Object


def validate_policy_rule(rule: Object, namespaced: bool, path: str) -> list[FieldError]:
    """One rule: verbs, and either resources or URLs."""
    errors: list[FieldError] = []
    if not rule.get("verbs"):
        errors.append(
            required(f"{path}.verbs", "verbs must contain at least one value")
        )
    urls = rule.get("nonResourceURLs")
    if urls:
        if namespaced:
            errors.append(
                invalid(
                    f"{path}.nonResourceURLs",
                    urls,
                    "namespaced rules cannot apply to non-resource URLs",
                )
            )
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            why = "rules cannot apply to both regular resources and non-resource URLs"
            errors.append(invalid(f"{path}.nonResourceURLs", urls, why))
        return errors
    if not rule.get("apiGroups"):
        errors.append(
            required(
                f"{path}.apiGroups", "resource rules must supply at least one api group"
            )
        )
    if not rule.get("resources"):
        errors.append(
            required(
                f"{path}.resources", "resource rules must supply at least one resource"
            )
        )
    return errors
