"""Roles and bindings.

Upstream: `pkg/apis/rbac/validation/validation.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, not_supported, required
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.label_selectors import (
    selector_is_usable,
    validate_label_selector,
)
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_object_meta,
    validate_object_meta_update,
)

GROUP = "rbac.authorization.k8s.io"


def validate_role(role: Object) -> list[FieldError]:
    """A namespaced role."""
    errors = validate_object_meta(
        role.get("metadata") or {}, True, content.name_is_path_segment
    )
    for index, rule in enumerate(role.get("rules") or ()):
        errors += validate_policy_rule(rule, True, f"rules[{index}]")
    return errors


def validate_cluster_role(role: Object) -> list[FieldError]:
    """A cluster role, perhaps aggregated from others."""
    errors = validate_object_meta(
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


def validate_role_binding(binding: Object) -> list[FieldError]:
    """A namespaced binding, to a role of either kind."""
    return _validate_binding(binding, True, ("Role", "ClusterRole"))


def validate_cluster_role_binding(binding: Object) -> list[FieldError]:
    """A cluster-wide binding."""
    return _validate_binding(binding, False, ("ClusterRole",))


def _validate_binding(
    binding: Object, namespaced: bool, kinds: tuple[str, ...]
) -> list[FieldError]:
    errors = validate_object_meta(
        binding.get("metadata") or {}, namespaced, content.name_is_path_segment
    )
    role = binding.get("roleRef") or {}
    if role.get("apiGroup", "") != GROUP:
        errors.append(
            not_supported("roleRef.apiGroup", role.get("apiGroup", ""), (GROUP,))
        )
    if role.get("kind", "") not in kinds:
        errors.append(not_supported("roleRef.kind", role.get("kind", ""), kinds))
    name = role.get("name", "")
    if not name:
        errors.append(required("roleRef.name"))
    else:
        errors += [
            invalid("roleRef.name", name, why)
            for why in content.name_is_path_segment(name, False)
        ]
    for index, subject in enumerate(binding.get("subjects") or ()):
        errors += _validate_subject(subject, namespaced, f"subjects[{index}]")
    return errors


def _validate_subject(subject: Object, namespaced: bool, path: str) -> list[FieldError]:
    name, kind, group = (
        subject.get("name", ""),
        subject.get("kind", ""),
        subject.get("apiGroup", ""),
    )
    errors = [] if name else [required(f"{path}.name")]
    if kind == "ServiceAccount":
        if name:
            errors += [
                invalid(f"{path}.name", name, why)
                for why in content.dns1123_subdomain(name)
            ]
        if group:
            errors.append(not_supported(f"{path}.apiGroup", group, ("",)))
        if not namespaced and not subject.get("namespace"):
            errors.append(required(f"{path}.namespace"))
    elif kind in ("User", "Group"):
        if group != GROUP:
            errors.append(not_supported(f"{path}.apiGroup", group, (GROUP,)))
    else:
        errors.append(
            not_supported(f"{path}.kind", kind, ("ServiceAccount", "User", "Group"))
        )
    return errors


def validate_role_update(new: Object, old: Object) -> list[FieldError]:
    """A changed role."""
    return validate_role(new) + validate_object_meta_update(
        new["metadata"], old["metadata"]
    )


def validate_cluster_role_update(new: Object, old: Object) -> list[FieldError]:
    """A changed cluster role."""
    return validate_cluster_role(new) + validate_object_meta_update(
        new["metadata"], old["metadata"]
    )


def _role_ref_stays(new: Object, old: Object) -> list[FieldError]:
    if new.get("roleRef") == old.get("roleRef"):
        return []
    return [
        invalid(
            "roleRef",
            internal_value("rbac/v1.RoleRef", new.get("roleRef")),
            "cannot change roleRef",
        )
    ]


def validate_role_binding_update(new: Object, old: Object) -> list[FieldError]:
    """A changed binding: the role stays."""
    errors = validate_role_binding(new) + validate_object_meta_update(
        new["metadata"], old["metadata"]
    )
    return errors + _role_ref_stays(new, old)


def validate_cluster_role_binding_update(new: Object, old: Object) -> list[FieldError]:
    """A changed cluster binding: the role stays."""
    errors = validate_cluster_role_binding(new) + validate_object_meta_update(
        new["metadata"], old["metadata"]
    )
    return errors + _role_ref_stays(new, old)
