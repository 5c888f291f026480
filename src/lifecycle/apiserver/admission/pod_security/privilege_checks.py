"""What a container may not be allowed: privileges, capabilities, to be root.

Upstream: `pod-security-admission/policy/check_privileged.go`,
`check_capabilities_*.go`, `check_allowPrivilegeEscalation.go`, `check_runAsNonRoot.go`,
`check_runAsUser.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.admission.pod_security.check import (
    Violation,
    bad_setters,
    containers,
    is_windows_pod,
    join_quote,
    pluralize,
    relax_policy_for_user_namespace_pod,
    security_context,
)

BASELINE_CAPABILITIES = frozenset(
    (
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD"),
        *("NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    )
)


def check_privileged(meta: Object, spec: Object, minor: int) -> Violation | None:
    """Nothing that the node's root may do."""
    bad = [c["name"] for c in containers(spec) if security_context(c).get("privileged")]
    return (
        (
            "privileged",
            f"{pluralize('container', bad)} must not set"
            " securityContext.privileged=true",
        )
        if bad
        else None
    )


def check_capabilities_baseline(
    meta: Object, spec: Object, minor: int
) -> Violation | None:
    """None beyond a container runtime's default."""
    return _added_capabilities(spec, BASELINE_CAPABILITIES, "non-default capabilities")


def _added_capabilities(
    spec: Object, allowed: frozenset[str], reason: str
) -> Violation | None:
    added = {
        c["name"]: (
            set((security_context(c).get("capabilities") or {}).get("add") or ())
            - allowed
        )
        for c in containers(spec)
    }
    bad = [name for name, capabilities in added.items() if capabilities]
    if not bad:
        return None
    capabilities = join_quote(sorted(set().union(*added.values())))
    return (
        reason,
        (
            f"{pluralize('container', bad)} must not include {capabilities} in"
            " securityContext.capabilities.add"
        ),
    )


def check_capabilities_restricted(
    meta: Object, spec: Object, minor: int
) -> Violation | None:
    """All are dropped; only one may come back."""
    if is_windows_pod(spec, minor):
        return None
    kept = [
        c["name"]
        for c in containers(spec)
        if "ALL"
        not in ((security_context(c).get("capabilities") or {}).get("drop") or ())
    ]
    details = []
    if kept:
        details.append(
            f"{pluralize('container', kept)} must set"
            ' securityContext.capabilities.drop=["ALL"]'
        )
    added = _added_capabilities(spec, frozenset({"NET_BIND_SERVICE"}), "")
    if added:
        details.append(added[1])
    return ("unrestricted capabilities", "; ".join(details)) if details else None


def check_allow_privilege_escalation(
    meta: Object, spec: Object, minor: int
) -> Violation | None:
    """A child gets no more than its parent."""
    if is_windows_pod(spec, minor):
        return None
    bad = [
        c["name"]
        for c in containers(spec)
        if security_context(c).get("allowPrivilegeEscalation") is not False
    ]
    detail = (
        f"{pluralize('container', bad)} must set"
        " securityContext.allowPrivilegeEscalation=false"
    )
    return ("allowPrivilegeEscalation != false", detail) if bad else None


def check_run_as_non_root(meta: Object, spec: Object, minor: int) -> Violation | None:
    """It is run_as_non_root, of the pod or of each container, that nobody is root."""
    if relax_policy_for_user_namespace_pod(spec, minor):
        return None
    pod = security_context(spec).get("runAsNonRoot")
    run_as_non_root = {
        c["name"]: security_context(c).get("runAsNonRoot") for c in containers(spec)
    }
    setters = bad_setters(
        pod is False,
        [name for name, value in run_as_non_root.items() if value is False],
    )
    if setters:
        return (
            "runAsNonRoot != true",
            f"{setters} must not set securityContext.runAsNonRoot=false",
        )
    unset = [name for name, value in run_as_non_root.items() if value is None]
    if pod or not unset:
        return None
    detail = (
        f"pod or {pluralize('container', unset)} must set"
        " securityContext.runAsNonRoot=true"
    )
    return "runAsNonRoot != true", detail


def check_run_as_user(meta: Object, spec: Object, minor: int) -> Violation | None:
    """Nobody is user 0."""
    if relax_policy_for_user_namespace_pod(spec, minor):
        return None
    bad = [
        c["name"] for c in containers(spec) if security_context(c).get("runAsUser") == 0
    ]
    setters = bad_setters(security_context(spec).get("runAsUser") == 0, bad)
    return ("runAsUser=0", f"{setters} must not set runAsUser=0") if setters else None
