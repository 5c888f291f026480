"""What RoleBindings and ClusterRoleBindings share: a role, and to whom it is given.

Upstream: `pkg/apis/rbac/v1/defaults.go`, `pkg/apis/rbac/validation/validation.go`
(`ValidateRoleBinding`, `ValidateRoleBindingSubject`),
`pkg/printers/internalversion/printers.go` (`printRoleBinding`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, not_supported, required
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
)
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
)

GROUP = "rbac.authorization.k8s.io"


# --- defaults -------------------------------------------------------------------------


def set_binding_defaults(binding: Object) -> None:
    """The group of the role, and of users and groups."""
    role = binding.setdefault("roleRef", {})
    if not role.get("apiGroup"):
        role["apiGroup"] = GROUP
    for subject in binding.get("subjects") or ():
        if not subject.get("apiGroup") and subject.get("kind") in ("User", "Group"):
            subject["apiGroup"] = GROUP


# --- validation -----------------------------------------------------------------------


def validate_binding(
    binding: Object, namespaced: bool, kinds: tuple[str, ...]
) -> list[FieldError]:
    """A binding to a role of one of some kinds."""
    errors = validate_core_object_meta(
        binding.get("metadata") or {}, namespaced, content.name_is_path_segment
    )
    role = binding.get("roleRef") or {}
    if role.get("apiGroup", "") != GROUP:
        errors.append(
            not_supported(
                "roleRef.apiGroup", role.get("apiGroup", ""), (GROUP,), plain=True
            )
        )
    if role.get("kind", "") not in kinds:
        errors.append(
            not_supported("roleRef.kind", role.get("kind", ""), kinds, plain=True)
        )
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
            errors.append(not_supported(f"{path}.apiGroup", group, ("",), plain=True))
        if not namespaced and not subject.get("namespace"):
            errors.append(required(f"{path}.namespace"))
    elif kind in ("User", "Group"):
        if group != GROUP:
            errors.append(
                not_supported(f"{path}.apiGroup", group, (GROUP,), plain=True)
            )
    else:
        errors.append(
            not_supported(
                f"{path}.kind", kind, ("ServiceAccount", "User", "Group"), plain=True
            )
        )
    return errors


def validate_role_ref_stays(new: Object, old: Object) -> list[FieldError]:
    """An update cannot change which role is given."""
    if new.get("roleRef") == old.get("roleRef"):
        return []
    return [
        invalid(
            "roleRef",
            internal_value("rbac/v1.RoleRef", new.get("roleRef")),
            "cannot change roleRef",
        )
    ]


# --- table ----------------------------------------------------------------------------


def print_role_binding(obj: Object, now: float) -> Cells:
    """The cells of `kubectl get rolebindings`, and of cluster-wide ones."""
    role = obj.get("roleRef") or {}
    subjects = obj.get("subjects") or ()
    return [
        obj["metadata"]["name"],
        f"{role.get('kind', '')}/{role.get('name', '')}",
        age(obj, now),
        ", ".join(s["name"] for s in subjects if s["kind"] == "User"),
        ", ".join(s["name"] for s in subjects if s["kind"] == "Group"),
        ", ".join(
            f"{s.get('namespace', '')}/{s['name']}"
            for s in subjects
            if s["kind"] == "ServiceAccount"
        ),
    ]


_ROLE_REF = {
    "RoleBinding": (
        "RoleRef can reference a Role in the current namespace or a ClusterRole in the"
        " global namespace. If the RoleRef cannot be resolved, the Authorizer must"
        " return an error."
    ),
    "ClusterRoleBinding": (
        "RoleRef can only reference a ClusterRole in the global namespace. If the"
        " RoleRef cannot be resolved, the Authorizer must return an error."
    ),
}
"""As `v1beta1` describes the field, which is what upstream's printer reads."""


def role_binding_columns(kind: str) -> tuple[Column, ...]:
    """The columns; their descriptions name the kind."""
    word = kind[0].lower() + kind[1:]
    return (
        NAME,
        Column("Role", _ROLE_REF[kind]),
        AGE,
        *(
            Column(who, f"{who} in the {word}", priority=1)
            for who in ("Users", "Groups", "ServiceAccounts")
        ),
    )
