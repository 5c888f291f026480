"""What of the kernel a pod sees and sets: `/proc`, sysctls, kinds of volumes.

Upstream: `pod-security-admission/policy/check_procMount.go`, `check_sysctls.go`,
`check_restrictedVolumes.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.admission.pod_security.check import (
    Violation,
    containers,
    join_quote,
    pluralize,
    relax_policy_for_user_namespace_pod,
    security_context,
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


def check_proc_mount(meta: Object, spec: Object, minor: int) -> Violation | None:
    """`/proc` is masked as it is by default."""
    mounts = {c["name"]: security_context(c).get("procMount") for c in containers(spec)}
    bad = {name: kind for name, kind in mounts.items() if kind not in (None, "Default")}
    if not bad:
        return None
    kinds = join_quote(sorted({str(kind) for kind in bad.values()}))
    return (
        "procMount",
        f"{pluralize('container', bad)} must not set securityContext.procMount"
        f" to {kinds}",
    )


def check_proc_mount_baseline(
    meta: Object, spec: Object, minor: int
) -> Violation | None:
    """The same, unless the pod has a user namespace."""
    return (
        None
        if relax_policy_for_user_namespace_pod(spec, minor)
        else check_proc_mount(meta, spec, minor)
    )


def check_sysctls(meta: Object, spec: Object, minor: int) -> Violation | None:
    """Only those that stay in the pod's namespaces, each from its version on."""
    allowed = {
        name
        for since, names in SYSCTLS.items()
        if minor >= since
        for name in names.split()
    }
    bad = [
        s["name"]
        for s in security_context(spec).get("sysctls") or ()
        if s.get("name") not in allowed
    ]
    return ("forbidden sysctls", ", ".join(bad)) if bad else None


def check_restricted_volumes(
    meta: Object, spec: Object, minor: int
) -> Violation | None:
    """Only volumes that come from the API or from a driver."""
    volume_types = {
        v["name"]: [key for key in v if key != "name" and v[key] is not None]
        for v in spec.get("volumes") or ()
    }
    bad = {
        name: (kinds or ["unknown"])[0]
        for name, kinds in volume_types.items()
        if ALLOWED_VOLUMES.isdisjoint(kinds)
    }
    if not bad:
        return None
    kinds = sorted(set(bad.values()))
    word = "restricted volume type" + ("" if len(kinds) == 1 else "s")
    uses = "uses" if len(bad) == 1 else "use"
    return (
        "restricted volume types",
        f"{pluralize('volume', bad)} {uses} {word} {join_quote(kinds)}",
    )
