"""With which rights a container runs: the pod's wishes, overruled by the container's
own, in the words of CRI.

Who it runs as is said three times over: by the container, by the pod, by the image.
Whoever says it first in this order wins; an image that says nothing means root.
`runAsNonRoot` is only a check on the outcome, and the last moment for it is now,
because only now the image is there and can be looked at. An image that names its user
by name defeats it: which number that is stands in the image's own `/etc/passwd`, which
the kubelet does not read.

Upstream: `pkg/kubelet/kuberuntime/security_context.go`
(`determineEffectiveSecurityContext`, `verifyRunAsNonRoot`), `util/util.go`
(`NamespacesForPod`), `helpers.go` (`getSeccompProfile`, `getAppArmorProfile`), v1.36.
Left out: SELinux.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.kubelet.container.container_facts import format_pod

MASKED_PATHS = (
    "/proc/asound",
    "/proc/acpi",
    "/proc/interrupts",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/sys/firmware",
    "/sys/devices/virtual/powercap",
)
READONLY_PATHS = (
    "/proc/bus",
    "/proc/fs",
    "/proc/irq",
    "/proc/sys",
    "/proc/sysrq-trigger",
)
SECCOMP_ROOT = "/var/lib/kubelet/seccomp"
APPARMOR_TEXTS = {"RuntimeDefault": "runtime/default", "Unconfined": "unconfined"}


def namespace_options(
    spec: Object, userns: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Which namespaces are shared: the network always, processes only if asked.
    `userns`: CRI's `UserNamespace` of the pod.
    """
    options: dict[str, Any] = {"network": "NODE" if spec.get("hostNetwork") else "POD"}
    options["ipc"] = "NODE" if spec.get("hostIPC") else "POD"
    options["pid"] = (
        "NODE"
        if spec.get("hostPID")
        else "POD"
        if spec.get("shareProcessNamespace")
        else "CONTAINER"
    )
    if userns is not None:
        options["userns_options"] = userns
    return options


def supplemental_groups(pod: Object) -> list[int]:
    """Groups that every container of the pod is in beside its own: that of its volumes
    first.
    """
    context = pod["spec"].get("securityContext") or {}
    group = context.get("fsGroup")
    return [
        *([group] if group is not None else []),
        *(context.get("supplementalGroups") or ()),
    ]


def run_as(pod: Object, container: Object, key: str) -> Any:
    """`runAsUser`, `runAsGroup`, `runAsNonRoot` … as it holds for the container; None
    if nobody says.
    """
    own = (container.get("securityContext") or {}).get(key)
    return (
        own if own is not None else (pod["spec"].get("securityContext") or {}).get(key)
    )


def verify_run_as_non_root(
    pod: Object, container: Object, image_uid: int | None, image_username: str
) -> str:
    """Why the container must not be started; empty if it may. The text is what
    `CreateContainerConfigError` says.
    """
    if not run_as(pod, container, "runAsNonRoot"):
        return ""
    which = f"(pod: {go_quote(format_pod(pod))}, container: {container['name']})"
    user = run_as(pod, container, "runAsUser")
    if user is not None:
        return (
            f"container's runAsUser breaks non-root policy {which}" if user == 0 else ""
        )
    if image_uid is None and image_username:
        return (
            "container has runAsNonRoot and image has non-numeric user"
            f" ({image_username}), cannot verify user is non-root {which}"
        )
    return (
        f"container has runAsNonRoot and image will run as root {which}"
        if not image_uid
        else ""
    )


def security_context(
    pod: Object,
    container: Object,
    image_uid: int | None = None,
    image_username: str = "",
    userns: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """`LinuxContainerSecurityContext`. `image_uid`, `image_username`: whom the image
    names; neither: root. `userns`: CRI's `UserNamespace` of the pod.
    """
    own = container.get("securityContext") or {}
    context: dict[str, Any] = {
        "namespace_options": namespace_options(pod["spec"], userns)
    }
    if own.get("procMount", "Default") == "Default":
        context |= {
            "masked_paths": list(MASKED_PATHS),
            "readonly_paths": list(READONLY_PATHS),
        }
    capabilities = own.get("capabilities") or {}
    lists = {
        f"{key}_capabilities": list(capabilities[key])
        for key in ("add", "drop")
        if capabilities.get(key)
    }
    if lists:
        context["capabilities"] = lists
    if own.get("privileged"):
        context["privileged"] = True
    user = run_as(pod, container, "runAsUser")
    if user is None and image_uid is None and image_username:
        context["run_as_username"] = image_username
    else:
        user = user if user is not None else image_uid
        context["run_as_user"] = {"value": user} if user else {}
    group = run_as(pod, container, "runAsGroup")
    if group is not None:
        context["run_as_group"] = {"value": group}
    groups = supplemental_groups(pod)
    if groups:
        context["supplemental_groups"] = groups
    if (pod["spec"].get("securityContext") or {}).get(
        "supplementalGroupsPolicy"
    ) == "Strict":
        context["supplemental_groups_policy"] = "Strict"
    selinux = run_as(pod, container, "seLinuxOptions")
    if selinux:
        context["selinux_options"] = dict(selinux)
    if own.get("readOnlyRootFilesystem"):
        context["readonly_rootfs"] = True
    if own.get("allowPrivilegeEscalation") is False:
        context["no_new_privs"] = True
    context["seccomp"] = security_profile(
        run_as(pod, container, "seccompProfile"), "Unconfined", f"{SECCOMP_ROOT}/"
    )
    armor = run_as(pod, container, "appArmorProfile")
    if armor:
        context["apparmor"] = security_profile(armor, "RuntimeDefault")
        context["apparmor_profile"] = APPARMOR_TEXTS.get(
            armor["type"], f"localhost/{armor.get('localhostProfile', '')}"
        )
    return context


def security_profile(
    profile: Object | None, default: str, root: str = ""
) -> dict[str, Any]:
    """A seccomp or AppArmor profile as CRI's `SecurityProfile`.

    `default`: what holds if nobody says anything. `root`: what comes before the name of
    a profile of the node's own.
    """
    kind = (profile or {}).get("type") or default
    cri_profile: dict[str, Any] = {"profile_type": kind}
    if kind == "Localhost":
        cri_profile["localhost_ref"] = root + (profile or {}).get(
            "localhostProfile", ""
        )
    return cri_profile


def sandbox_security_context(
    pod: Object, userns: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """`LinuxSandboxSecurityContext`: what holds for the pause process."""
    spec = pod["spec"]
    context = spec.get("securityContext") or {}
    sandbox_context: dict[str, Any] = {
        "namespace_options": namespace_options(spec, userns),
        "seccomp": {"profile_type": "RuntimeDefault"},
    }
    containers = [*spec["containers"], *(spec.get("initContainers") or ())]
    if any(
        (container.get("securityContext") or {}).get("privileged")
        for container in containers
    ):
        sandbox_context["privileged"] = True
    if context.get("seLinuxOptions"):
        sandbox_context["selinux_options"] = dict(context["seLinuxOptions"])
    for key, field in (("runAsUser", "run_as_user"), ("runAsGroup", "run_as_group")):
        if context.get(key) is not None:
            sandbox_context[field] = {"value": context[key]} if context[key] else {}
    groups = supplemental_groups(pod)
    if groups:
        sandbox_context["supplemental_groups"] = groups
    return sandbox_context
