"""Who may do what: service accounts, bindings, signing requests. (Roles themselves get
the default table.)

Upstream: `pkg/printers/internalversion/printers.go` (`printServiceAccount`,
`printRoleBinding`, `printCertificateSigningRequest`), v1.36. Before 1.36 service
accounts had a Secrets column.
"""

from __future__ import annotations

from lifecycle.api.human_duration import age, human_duration
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)


def _print_role_binding(obj: Object, now: float) -> Cells:
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


def _binding_columns(kind: str) -> tuple[Column, ...]:
    word = kind[0].lower() + kind[1:]
    return (
        NAME,
        Column("Role", field(f"rbac/v1.{kind}", "roleRef")),
        AGE,
        *(
            Column(who, f"{who} in the {word}", priority=1)
            for who in ("Users", "Groups", "ServiceAccounts")
        ),
    )


def _print_certificate_signing_request(obj: Object, now: float) -> Cells:
    spec, seconds = (
        obj.get("spec") or {},
        (obj.get("spec") or {}).get("expirationSeconds"),
    )
    return [
        obj["metadata"]["name"],
        age(obj, now),
        spec.get("signerName") or "<none>",
        spec.get("username", ""),
        "<none>" if seconds is None else human_duration(seconds),
        _request_state(obj.get("status") or {}),
    ]


def _request_state(status: Object) -> str:
    """Upstream: `extractCSRStatus`; a denial outweighs an approval."""
    types = {condition["type"] for condition in status.get("conditions") or ()}
    state = (
        "Denied"
        if "Denied" in types
        else "Approved"
        if "Approved" in types
        else "Pending"
    )
    if "Failed" in types:
        state += ",Failed"
    return state + ",Issued" if status.get("certificate") else state


_REQUEST = "certificates/v1.CertificateSigningRequest"

PRINTERS = {
    "serviceaccounts": Printer(
        (NAME, AGE), lambda obj, now: [obj["metadata"]["name"], age(obj, now)]
    ),
    "rolebindings.rbac.authorization.k8s.io": Printer(
        _binding_columns("RoleBinding"), _print_role_binding
    ),
    "clusterrolebindings.rbac.authorization.k8s.io": Printer(
        _binding_columns("ClusterRoleBinding"), _print_role_binding
    ),
    "certificatesigningrequests.certificates.k8s.io": Printer(
        (
            NAME,
            AGE,
            Column("SignerName", field(f"{_REQUEST}Spec", "signerName")),
            Column("Requestor", field(f"{_REQUEST}Spec", "request")),
            Column("RequestedDuration", field(f"{_REQUEST}Spec", "expirationSeconds")),
            Column("Condition", field(f"{_REQUEST}Status", "conditions")),
        ),
        _print_certificate_signing_request,
    ),
}
