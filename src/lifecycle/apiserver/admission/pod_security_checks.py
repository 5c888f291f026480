"""The Pod Security Standards: what a pod may not do at a level.

Three levels. *Privileged* forbids nothing. *Baseline* forbids what breaks out of the
container: host namespaces, host paths, added capabilities. *Restricted* moreover
demands what a careful author would write: not root, no escalation, all capabilities
dropped, a seccomp profile. The standards change with Kubernetes versions, so each check
knows what it forbade when (`minor`: 36 for v1.36).

A check gets the pod's metadata, its spec and the version; it returns the reason and the
detail of a violation, or None.

Upstream: `pod-security-admission/policy/check_*.go`, order and overriding in
`registry.go` (`populate`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from lifecycle.api.go_format import go_quote
from lifecycle.api.wire import Object

Violation = tuple[str, str]
Check = Callable[[Object, Object, int], Violation | None]

BASELINE_CAPABILITIES = frozenset(
    (
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD"),
        *("NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    )
)
ALLOWED_VOLUMES = frozenset(
    [
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    ]
)
SYSCTLS = {
    0: (
        "kernel.shm_rmid_forced net.ipv4.ip_local_port_range net.ipv4.tcp_syncookies"
        " net.ipv4.ping_group_range net.ipv4.ip_unprivileged_port_start"
    ),
    27: "net.ipv4.ip_local_reserved_ports",
    29: (
        "net.ipv4.tcp_keepalive_time net.ipv4.tcp_fin_timeout"
        " net.ipv4.tcp_keepalive_intvl net.ipv4.tcp_keepalive_probes"
    ),
    32: "net.ipv4.tcp_rmem net.ipv4.tcp_wmem",
}
APPARMOR_PREFIX = "container.apparmor.security.beta.kubernetes.io/"
SECCOMP_TYPES = ("Localhost", "RuntimeDefault")
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER_PREFIX = "container.seccomp.security.alpha.kubernetes.io/"
SECCOMP_FIELDS_SINCE = 19
USER_NAMESPACES_SINCE = 35
WINDOWS_EXEMPT_SINCE = 25


def _containers(spec: Object) -> Iterator[Object]:
    for key in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(key) or ()


def _context(holder: Object) -> Object:
    return holder.get("securityContext") or {}


def _names(words: str, names: Iterable[str]) -> str:
    """`container "a"` or `containers "a", "b"`."""
    listed = list(names)
    return f"{words if len(listed) == 1 else words + 's'} {_quoted(listed)}"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _setters(pod_is_bad: bool, bad: list[str]) -> str:
    return " and ".join(
        (["pod"] if pod_is_bad else []) + ([_names("container", bad)] if bad else [])
    )


def _in_user_namespace(spec: Object, minor: int) -> bool:
    return minor >= USER_NAMESPACES_SINCE and spec.get("hostUsers") is False


def _on_windows(spec: Object, minor: int) -> bool:
    return (
        minor >= WINDOWS_EXEMPT_SINCE
        and (spec.get("os") or {}).get("name") == "windows"
    )


def _app_armor_profile(meta: Object, spec: Object, minor: int) -> Violation | None:
    bad_values: set[str] = set()

    def bad(holder: Object) -> bool:
        profile = _context(holder).get("appArmorProfile")
        if profile is None or profile.get("type") in SECCOMP_TYPES:
            return False
        bad_values.add(profile.get("type", ""))
        return True

    setters = _setters(bad(spec), [c["name"] for c in _containers(spec) if bad(c)])
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
    return reason, f"{setters} must not set AppArmor profile type to {_quoted(values)}"


def _capabilities_baseline(meta: Object, spec: Object, minor: int) -> Violation | None:
    return _added_capabilities(spec, BASELINE_CAPABILITIES, "non-default capabilities")


def _added_capabilities(
    spec: Object, allowed: frozenset[str], reason: str
) -> Violation | None:
    added = {
        c["name"]: (
            set((_context(c).get("capabilities") or {}).get("add") or ()) - allowed
        )
        for c in _containers(spec)
    }
    bad = [name for name, capabilities in added.items() if capabilities]
    if not bad:
        return None
    capabilities = _quoted(sorted(set().union(*added.values())))
    return (
        reason,
        (
            f"{_names('container', bad)} must not include {capabilities} in"
            " securityContext.capabilities.add"
        ),
    )


def _capabilities_restricted(
    meta: Object, spec: Object, minor: int
) -> Violation | None:
    if _on_windows(spec, minor):
        return None
    kept = [
        c["name"]
        for c in _containers(spec)
        if "ALL" not in ((_context(c).get("capabilities") or {}).get("drop") or ())
    ]
    details = []
    if kept:
        details.append(
            f"{_names('container', kept)} must set"
            ' securityContext.capabilities.drop=["ALL"]'
        )
    added = _added_capabilities(spec, frozenset({"NET_BIND_SERVICE"}), "")
    if added:
        details.append(added[1])
    return ("unrestricted capabilities", "; ".join(details)) if details else None


def _host_namespaces(meta: Object, spec: Object, minor: int) -> Violation | None:
    used = [
        f"{key}=true" for key in ("hostNetwork", "hostPID", "hostIPC") if spec.get(key)
    ]
    return ("host namespaces", ", ".join(used)) if used else None


def _host_path_volumes(meta: Object, spec: Object, minor: int) -> Violation | None:
    bad = [
        v["name"] for v in spec.get("volumes") or () if v.get("hostPath") is not None
    ]
    return ("hostPath volumes", _names("volume", bad)) if bad else None


def _host_ports(meta: Object, spec: Object, minor: int) -> Violation | None:
    ports = {
        c["name"]: {
            str(p["hostPort"]) for p in c.get("ports") or () if p.get("hostPort")
        }
        for c in _containers(spec)
    }
    bad = [name for name, used in ports.items() if used]
    if not bad:
        return None
    numbers = sorted(set().union(*ports.values()))
    word = "hostPort" if len(numbers) == 1 else "hostPorts"
    return (
        "hostPort",
        (
            f"{_names('container', bad)} {'uses' if len(bad) == 1 else 'use'} {word}"
            f" {', '.join(numbers)}"
        ),
    )


def _host_probes(meta: Object, spec: Object, minor: int) -> Violation | None:
    if minor < 34:
        return None
    bad, hosts = set(), set()
    for container in _containers(spec):
        lifecycle = container.get("lifecycle") or {}
        handlers = [
            container.get(key) or {}
            for key in ("livenessProbe", "readinessProbe", "startupProbe")
        ]
        handlers += [lifecycle.get(key) or {} for key in ("postStart", "preStop")]
        for handler in handlers:
            for action in ("httpGet", "tcpSocket"):
                host = (handler.get(action) or {}).get("host")
                if host:
                    bad.add(container["name"])
                    hosts.add(host)
    if not bad:
        return None
    uses = "uses" if len(bad) == 1 else "use"
    word = "probe or lifecycle host" + ("" if len(hosts) == 1 else "s")
    return (
        "probe or lifecycle host",
        f"{_names('container', sorted(bad))} {uses} {word} {_quoted(sorted(hosts))}",
    )


def _privileged(meta: Object, spec: Object, minor: int) -> Violation | None:
    bad = [c["name"] for c in _containers(spec) if _context(c).get("privileged")]
    return (
        (
            "privileged",
            f"{_names('container', bad)} must not set securityContext.privileged=true",
        )
        if bad
        else None
    )


def _proc_mount(meta: Object, spec: Object, minor: int) -> Violation | None:
    mounts = {c["name"]: _context(c).get("procMount") for c in _containers(spec)}
    bad = {name: kind for name, kind in mounts.items() if kind not in (None, "Default")}
    if not bad:
        return None
    kinds = _quoted(sorted({str(kind) for kind in bad.values()}))
    return (
        "procMount",
        f"{_names('container', bad)} must not set securityContext.procMount to {kinds}",
    )


def _proc_mount_baseline(meta: Object, spec: Object, minor: int) -> Violation | None:
    return None if _in_user_namespace(spec, minor) else _proc_mount(meta, spec, minor)


def _se_linux_options(meta: Object, spec: Object, minor: int) -> Violation | None:
    allowed = ["", "container_t", "container_init_t", "container_kvm_t"] + (
        ["container_engine_t"] if minor >= 31 else []
    )
    bad_types, forbidden = set(), set()

    def bad(holder: Object) -> bool:
        options = _context(holder).get("seLinuxOptions") or {}
        found = {
            f"{key} may not be set" for key in ("user", "role") if options.get(key)
        }
        forbidden.update(found)
        if options.get("type", "") not in allowed:
            bad_types.add(options["type"])
            return True
        return bool(found)

    setters = _setters(bad(spec), [c["name"] for c in _containers(spec) if bad(c)])
    if not setters:
        return None
    data = ([_names("type", sorted(bad_types))] if bad_types else []) + sorted(
        forbidden, reverse=True
    )
    return (
        "seLinuxOptions",
        f"{setters} set forbidden securityContext.seLinuxOptions: {'; '.join(data)}",
    )


def _seccomp_type(holder: Object) -> Any:
    profile = _context(holder).get("seccompProfile")
    return None if profile is None else profile.get("type", "")


def _seccomp_annotations(meta: Object, spec: Object) -> Violation | None:
    """How seccomp profiles were named before there was a field."""
    keys = [
        SECCOMP_POD,
        *(f"{SECCOMP_CONTAINER_PREFIX}{c['name']}" for c in _containers(spec)),
    ]
    given = {
        key: value
        for key, value in (meta.get("annotations") or {}).items()
        if key in keys
    }
    bad = sorted(
        f"{key}={go_quote(value)}"
        for key, value in given.items()
        if value not in ("runtime/default", "docker/default")
        and not value.startswith("localhost/")
    )
    word = "annotation" if len(bad) == 1 else "annotations"
    return ("seccompProfile", f"forbidden {word} {', '.join(bad)}") if bad else None


def _seccomp_baseline(meta: Object, spec: Object, minor: int) -> Violation | None:
    if minor < SECCOMP_FIELDS_SINCE:
        return _seccomp_annotations(meta, spec)
    types = {c["name"]: _seccomp_type(c) for c in _containers(spec)}
    bad = [
        name
        for name, kind in types.items()
        if kind is not None and kind not in SECCOMP_TYPES
    ]
    pod_type = _seccomp_type(spec)
    pod_is_bad = pod_type is not None and pod_type not in SECCOMP_TYPES
    if not bad and not pod_is_bad:
        return None
    values = _quoted(
        sorted({types[name] for name in bad} | ({pod_type} if pod_is_bad else set()))
    )
    return (
        "seccompProfile",
        (
            f"{_setters(pod_is_bad, bad)} must not set"
            f" securityContext.seccompProfile.type to {values}"
        ),
    )


def _seccomp_restricted(meta: Object, spec: Object, minor: int) -> Violation | None:
    if _on_windows(spec, minor):
        return None
    explicit = _seccomp_baseline(meta, spec, minor)
    if explicit:
        return explicit
    unset = [c["name"] for c in _containers(spec) if _seccomp_type(c) is None]
    if not unset or _seccomp_type(spec) is not None:
        return None
    must = (
        'must set securityContext.seccompProfile.type to "RuntimeDefault" or'
        ' "Localhost"'
    )
    return "seccompProfile", f"pod or {_names('container', unset)} {must}"


def _sysctls(meta: Object, spec: Object, minor: int) -> Violation | None:
    allowed = {
        name
        for since, names in SYSCTLS.items()
        if minor >= since
        for name in names.split()
    }
    bad = [
        s["name"]
        for s in _context(spec).get("sysctls") or ()
        if s.get("name") not in allowed
    ]
    return ("forbidden sysctls", ", ".join(bad)) if bad else None


def _windows_host_process(meta: Object, spec: Object, minor: int) -> Violation | None:
    def bad(holder: Object) -> bool:
        return bool((_context(holder).get("windowsOptions") or {}).get("hostProcess"))

    setters = _setters(bad(spec), [c["name"] for c in _containers(spec) if bad(c)])
    detail = f"{setters} must not set securityContext.windowsOptions.hostProcess=true"
    return ("hostProcess", detail) if setters else None


def _allow_privilege_escalation(
    meta: Object, spec: Object, minor: int
) -> Violation | None:
    if _on_windows(spec, minor):
        return None
    bad = [
        c["name"]
        for c in _containers(spec)
        if _context(c).get("allowPrivilegeEscalation") is not False
    ]
    detail = (
        f"{_names('container', bad)} must set"
        " securityContext.allowPrivilegeEscalation=false"
    )
    return ("allowPrivilegeEscalation != false", detail) if bad else None


def _restricted_volumes(meta: Object, spec: Object, minor: int) -> Violation | None:
    given = {
        v["name"]: [key for key in v if key != "name" and v[key] is not None]
        for v in spec.get("volumes") or ()
    }
    bad = {
        name: (kinds or ["unknown"])[0]
        for name, kinds in given.items()
        if ALLOWED_VOLUMES.isdisjoint(kinds)
    }
    if not bad:
        return None
    kinds = sorted(set(bad.values()))
    word = "restricted volume type" + ("" if len(kinds) == 1 else "s")
    uses = "uses" if len(bad) == 1 else "use"
    return (
        "restricted volume types",
        f"{_names('volume', bad)} {uses} {word} {_quoted(kinds)}",
    )


def _run_as_non_root(meta: Object, spec: Object, minor: int) -> Violation | None:
    if _in_user_namespace(spec, minor):
        return None
    pod = _context(spec).get("runAsNonRoot")
    said = {c["name"]: _context(c).get("runAsNonRoot") for c in _containers(spec)}
    setters = _setters(
        pod is False, [name for name, value in said.items() if value is False]
    )
    if setters:
        return (
            "runAsNonRoot != true",
            f"{setters} must not set securityContext.runAsNonRoot=false",
        )
    silent = [name for name, value in said.items() if value is None]
    if pod or not silent:
        return None
    detail = (
        f"pod or {_names('container', silent)} must set"
        " securityContext.runAsNonRoot=true"
    )
    return "runAsNonRoot != true", detail


def _run_as_user(meta: Object, spec: Object, minor: int) -> Violation | None:
    if _in_user_namespace(spec, minor):
        return None
    bad = [c["name"] for c in _containers(spec) if _context(c).get("runAsUser") == 0]
    setters = _setters(_context(spec).get("runAsUser") == 0, bad)
    return ("runAsUser=0", f"{setters} must not set runAsUser=0") if setters else None


BASELINE_CHECKS: tuple[Check, ...] = (
    _app_armor_profile,
    _capabilities_baseline,
    _host_namespaces,
    _host_path_volumes,
    _host_ports,
    _host_probes,
    _privileged,
    _proc_mount_baseline,
    _se_linux_options,
    _seccomp_baseline,
    _sysctls,
    _windows_host_process,
)
"""In the order their violations are listed: by upstream's check ids."""

RESTRICTED_CHECKS: tuple[tuple[Check, int, Check | None], ...] = (
    (_allow_privilege_escalation, 8, None),
    (_capabilities_restricted, 22, _capabilities_baseline),
    (_proc_mount, USER_NAMESPACES_SINCE, _proc_mount_baseline),
    (_restricted_volumes, 0, _host_path_volumes),
    (_run_as_non_root, 0, None),
    (_run_as_user, 23, None),
    (_seccomp_restricted, SECCOMP_FIELDS_SINCE, _seccomp_baseline),
)
"""A check, the minor version it came with, and the baseline check it stands in for from
then on.
"""


def _checks(level: str, minor: int) -> list[Check]:
    if level == "baseline":
        return list(BASELINE_CHECKS)
    if level != "restricted":
        return []
    stricter = [
        (check, stands_in_for)
        for check, since, stands_in_for in RESTRICTED_CHECKS
        if minor >= since
    ]
    overridden = [check for _, check in stricter]
    return [check for check in BASELINE_CHECKS if check not in overridden] + [
        check for check, _ in stricter
    ]


def violations(
    level: str, minor: int, pod_meta: Object, pod_spec: Object
) -> list[Violation]:
    """All that a pod does against a level, as (reason, detail)."""
    return [
        found
        for check in _checks(level, minor)
        if (found := check(pod_meta, pod_spec, minor)) is not None
    ]
