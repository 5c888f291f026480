"""The other admit handlers: node pressure, sysctls, exclusive CPUs, AppArmor, shutdown.

Upstream: `pkg/kubelet/eviction/eviction_manager.go` (`Admit`), `sysctl/allowlist.go`
and `safe_sysctls.go`, `cm/container_manager_linux.go` (`resourceAllocator.Admit`),
`lifecycle/handlers.go` (`appArmorAdmitHandler`), `pkg/security/apparmor/validate.go`,
`nodeshutdown/nodeshutdown_manager_linux.go` (`Admit`), v1.36. Left out: whether this
kubelet knows the features that a pod uses (`NewDeclaredFeaturesAdmitHandler`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.qos import get_pod_qos
from lifecycle.api.pods.taints import tolerates
from lifecycle.kubelet.lifecycle.interfaces import (
    ADMITTED,
    AdmitHandler,
    PodAdmitAttributes,
    PodAdmitResult,
)
from lifecycle.kubelet.types.pod_update import is_critical_pod

SAFE_SYSCTLS = (
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
)
"""What any pod may set: it harms nobody but itself. Those that need a newer kernel are
checked when the kubelet starts.
"""

_NAMESPACES = (
    ("kernel.shm", "IPC"),
    ("kernel.msg", "IPC"),
    ("kernel.sem", "IPC"),
    ("fs.mqueue.", "IPC"),
    ("net.", "Net"),
)
_EXACT_IPC = ("kernel.sem",)
APPARMOR_MODULE = Path("/sys/module/apparmor/parameters/enabled")
APPARMOR_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"


def eviction_handler(node_conditions: Callable[[], Sequence[str]]) -> AdmitHandler:
    """A node under pressure takes no more pods. `node_conditions`: `MemoryPressure`,
    `DiskPressure`, `PIDPressure`.

    When it is only memory that is short, pods that asked for some are still let in, and
    so are those that tolerate it.
    """

    def admit(attributes: PodAdmitAttributes) -> PodAdmitResult:
        conditions = list(node_conditions())
        pod = attributes.pod
        if not conditions or is_critical_pod(pod):
            return ADMITTED
        if conditions == ["MemoryPressure"]:
            taint = {
                "key": "node.kubernetes.io/memory-pressure",
                "effect": "NoSchedule",
            }
            tolerant = any(
                tolerates(toleration, taint)
                for toleration in pod["spec"].get("tolerations") or ()
            )
            if get_pod_qos(pod) != "BestEffort" or tolerant:
                return ADMITTED
        return PodAdmitResult(
            False, "Evicted", f"The node had condition: [{' '.join(conditions)}]. "
        )

    return admit


def namespaced_by(sysctl: str) -> str:
    """The namespace that a sysctl belongs to, `IPC` or `Net`; empty if the kernel has
    only one of it.
    """
    for prefix, namespace in _NAMESPACES:
        if sysctl.startswith(prefix) and (prefix not in _EXACT_IPC or sysctl == prefix):
            return namespace
    return ""


def dotted(sysctl: str) -> str:
    """`net/ipv4/x` → `net.ipv4.x`; dots in a name written with slashes become
    slashes.
    """
    for separator in sysctl:
        if separator == ".":
            return sysctl
        if separator == "/":
            return sysctl.translate(str.maketrans("./", "/."))
    return sysctl


class SysctlAllowlist:
    """Which sysctls a pod may set: the safe ones, and those that the node's
    administrator allows (`net.*`).
    """

    def __init__(self, unsafe: Iterable[str] = ()) -> None:
        self._names: dict[str, str] = {}
        self._prefixes: dict[str, str] = {}
        for pattern in (*SAFE_SYSCTLS, *(dotted(pattern) for pattern in unsafe)):
            namespace = namespaced_by(pattern.removesuffix("*"))
            if not namespace:
                many = pattern.endswith("*")
                raise ValueError(
                    f'the sysctl{"s" if many else ""} "{pattern}" are not known to be'
                    " namespaced"
                )
            if pattern.endswith("*"):
                self._prefixes[pattern[:-1]] = namespace
            else:
                self._names[pattern] = namespace

    def validate_sysctl(self, sysctl: str, host_network: bool, host_ipc: bool) -> str:
        """Why it may not be set; empty if it may. A pod in the node's namespace would
        set it for all.
        """
        name = dotted(sysctl)
        namespace = self._names.get(name) or next(
            (
                namespace
                for prefix, namespace in self._prefixes.items()
                if name.startswith(prefix)
            ),
            "",
        )
        if not namespace:
            return f'"{name}" not allowlisted'
        if (namespace == "IPC" and host_ipc) or (namespace == "Net" and host_network):
            return f'"{name}" not allowed with host {namespace} enabled'
        return ""

    def admit(self, attributes: PodAdmitAttributes) -> PodAdmitResult:
        """The handler."""
        spec = attributes.pod["spec"]
        for sysctl in (spec.get("securityContext") or {}).get("sysctls") or ():
            err = self.validate_sysctl(
                sysctl["name"], bool(spec.get("hostNetwork")), bool(spec.get("hostIPC"))
            )
            if err:
                return PodAdmitResult(
                    False, "SysctlForbidden", f"forbidden sysctl: {err}"
                )
        return ADMITTED


def allocation_handler(allocate: Callable[[Object], tuple[str, str]]) -> AdmitHandler:
    """Let the manager of CPUs set aside what a pod's containers are to have for
    themselves. `allocate` answers with reason and message of a refusal, or with
    nothing.
    """

    def admit(attributes: PodAdmitAttributes) -> PodAdmitResult:
        reason, message = allocate(attributes.pod)
        return PodAdmitResult(False, reason, message) if reason else ADMITTED

    return admit


def apparmor_enabled() -> bool:
    """Whether this machine's kernel enforces AppArmor."""
    return APPARMOR_MODULE.is_file() and APPARMOR_MODULE.read_text().startswith("Y")


def apparmor_profiles(pod: Object) -> list[tuple[str, str]]:
    """Type and local name of every profile the pod asks for, by field or by the older
    annotation.
    """
    spec = pod["spec"]
    holders = [spec, *spec["containers"], *(spec.get("initContainers") or ())]
    fields = [
        (holder.get("securityContext") or {}).get("appArmorProfile")
        for holder in holders
    ]
    profiles = [
        (field["type"], field.get("localhostProfile", "")) for field in fields if field
    ]
    for key, value in (pod["metadata"].get("annotations") or {}).items():
        if key.startswith(APPARMOR_ANNOTATION):
            kinds = {"runtime/default": "RuntimeDefault", "unconfined": "Unconfined"}
            profiles.append(
                (kinds.get(value, "Localhost"), value.removeprefix("localhost/"))
            )
    return profiles


def apparmor_handler(enabled: Callable[[], bool] = apparmor_enabled) -> AdmitHandler:
    """A pod that asks for a profile needs a node that can enforce one; the runtime will
    apply it.
    """

    def admit(attributes: PodAdmitAttributes) -> PodAdmitResult:
        profiles = [
            kind
            for kind, _ in apparmor_profiles(attributes.pod)
            if kind != "Unconfined"
        ]
        running = (attributes.pod.get("status") or {}).get("phase") not in (
            None,
            "",
            "Pending",
        )
        if not profiles or running or enabled():
            return ADMITTED
        return PodAdmitResult(
            False,
            "AppArmor",
            "Cannot enforce AppArmor: AppArmor is not enabled on the host",
        )

    return admit


def shutdown_handler(shutting_down: Callable[[], bool]) -> AdmitHandler:
    """No more pods on a node that goes down."""

    def admit(attributes: PodAdmitAttributes) -> PodAdmitResult:
        if shutting_down():
            return PodAdmitResult(
                False, "NodeShutdown", "Pod was rejected as the node is shutting down."
            )
        return ADMITTED

    return admit


def default_handlers(
    predicate: AdmitHandler,
    *,
    node_conditions: Callable[[], Sequence[str]] = list,
    unsafe_sysctls: Collection[str] = (),
    allocate: Callable[[Object], tuple[str, str]] | None = None,
    apparmor: Callable[[], bool] = apparmor_enabled,
    shutting_down: Callable[[], bool] = lambda: False,
) -> list[AdmitHandler]:
    """The handlers in the order in which upstream's kubelet registers them."""
    handlers = [
        eviction_handler(node_conditions),
        SysctlAllowlist(unsafe_sysctls).admit,
    ]
    if allocate is not None:
        handlers.append(allocation_handler(allocate))
    return [
        *handlers,
        predicate,
        apparmor_handler(apparmor),
        shutdown_handler(shutting_down),
    ]
