"""Which profiles confine a pod: AppArmor, SELinux, seccomp.

Upstream: `pod-security-admission/policy/check_appArmorProfile.go`,
`check_seLinuxOptions.go`, `check_seccompProfile_*.go`, v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.admission.pod_security.check import (
    Violation,
    bad_setters,
    containers,
    is_windows_pod,
    join_quote,
    pluralize,
    security_context,
)

APPARMOR_PREFIX = "container.apparmor.security.beta.kubernetes.io/"
SECCOMP_TYPES = ("Localhost", "RuntimeDefault")
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER_PREFIX = "container.seccomp.security.alpha.kubernetes.io/"
SECCOMP_FIELDS_SINCE = 19


def check_app_armor_profile(meta: Object, spec: Object, minor: int) -> Violation | None:
    """A profile that confines, in the fields or in the annotations before them."""
    bad_values: set[str] = set()

    def bad(holder: Object) -> bool:
        profile = security_context(holder).get("appArmorProfile")
        if profile is None or profile.get("type") in SECCOMP_TYPES:
            return False
        bad_values.add(profile.get("type", ""))
        return True

    setters = bad_setters(bad(spec), [c["name"] for c in containers(spec) if bad(c)])
    annotations = sorted(
        f"{key}={go_quote(value)}"
        for key, value in (meta.get("annotations") or {}).items()
        if key.startswith(APPARMOR_PREFIX)
        and value not in ("", "runtime/default")
        and not value.startswith("localhost/")
    )
    if annotations:
        word = "annotation" if len(annotations) == 1 else "annotations"
        setters = f"{setters} and {word}" if setters else word
    if not setters:
        return None
    values = [*sorted(bad_values), *annotations]
    reason = "forbidden AppArmor profile" + ("" if len(values) == 1 else "s")
    return (
        reason,
        f"{setters} must not set AppArmor profile type to {join_quote(values)}",
    )


def check_se_linux_options(meta: Object, spec: Object, minor: int) -> Violation | None:
    """A container's type, and neither user nor role."""
    allowed = ["", "container_t", "container_init_t", "container_kvm_t"] + (
        ["container_engine_t"] if minor >= 31 else []
    )
    bad_types, forbidden = set(), set()

    def bad(holder: Object) -> bool:
        options = security_context(holder).get("seLinuxOptions") or {}
        forbidden_fields = {
            f"{key} may not be set" for key in ("user", "role") if options.get(key)
        }
        forbidden.update(forbidden_fields)
        if options.get("type", "") not in allowed:
            bad_types.add(options["type"])
            return True
        return bool(forbidden_fields)

    setters = bad_setters(bad(spec), [c["name"] for c in containers(spec) if bad(c)])
    if not setters:
        return None
    data = ([pluralize("type", sorted(bad_types))] if bad_types else []) + sorted(
        forbidden, reverse=True
    )
    return (
        "seLinuxOptions",
        f"{setters} set forbidden securityContext.seLinuxOptions: {'; '.join(data)}",
    )


def _seccomp_type(holder: Object) -> Any:
    profile = security_context(holder).get("seccompProfile")
    return None if profile is None else profile.get("type", "")


def _seccomp_annotations(meta: Object, spec: Object) -> Violation | None:
    """How seccomp profiles were named before there was a field."""
    keys = [
        SECCOMP_POD,
        *(f"{SECCOMP_CONTAINER_PREFIX}{c['name']}" for c in containers(spec)),
    ]
    profiles = {
        key: value
        for key, value in (meta.get("annotations") or {}).items()
        if key in keys
    }
    bad = sorted(
        f"{key}={go_quote(value)}"
        for key, value in profiles.items()
        if value not in ("runtime/default", "docker/default")
        and not value.startswith("localhost/")
    )
    word = "annotation" if len(bad) == 1 else "annotations"
    return ("seccompProfile", f"forbidden {word} {', '.join(bad)}") if bad else None


def check_seccomp_baseline(meta: Object, spec: Object, minor: int) -> Violation | None:
    """No profile that is none; before 1.19 annotations said which."""
    if minor < SECCOMP_FIELDS_SINCE:
        return _seccomp_annotations(meta, spec)
    types = {c["name"]: _seccomp_type(c) for c in containers(spec)}
    bad = [
        name
        for name, kind in types.items()
        if kind is not None and kind not in SECCOMP_TYPES
    ]
    pod_type = _seccomp_type(spec)
    pod_is_bad = pod_type is not None and pod_type not in SECCOMP_TYPES
    if not bad and not pod_is_bad:
        return None
    values = join_quote(
        sorted({types[name] for name in bad} | ({pod_type} if pod_is_bad else set()))
    )
    return (
        "seccompProfile",
        (
            f"{bad_setters(pod_is_bad, bad)} must not set"
            f" securityContext.seccompProfile.type to {values}"
        ),
    )


def check_seccomp_restricted(
    meta: Object, spec: Object, minor: int
) -> Violation | None:
    """A profile is set, of the pod or of each container."""
    if is_windows_pod(spec, minor):
        return None
    explicit = check_seccomp_baseline(meta, spec, minor)
    if explicit:
        return explicit
    unset = [c["name"] for c in containers(spec) if _seccomp_type(c) is None]
    if not unset or _seccomp_type(spec) is not None:
        return None
    must = (
        'must set securityContext.seccompProfile.type to "RuntimeDefault" or'
        ' "Localhost"'
    )
    return "seccompProfile", f"pod or {pluralize('container', unset)} {must}"
