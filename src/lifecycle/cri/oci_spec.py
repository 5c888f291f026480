"""From CRI to OCI: what a container is to be, said in the words of the kernel.

The kubelet speaks of pods (`PodSandboxConfig`, `ContainerConfig`); what starts a
process, runc or our `launch.py`, wants a list of namespaces to make or join, mounts,
capabilities, cgroup limits and a command. This translation is where a pod becomes
visible: the sandbox *makes* network, IPC and UTS namespaces, each container *joins*
them through `/proc/PID/ns/…` of the pause process, and gets a PID and a mount namespace
of its own.

Upstream: containerd `internal/cri/server/podsandbox/sandbox_run_linux.go`
(`sandboxContainerSpec`), `internal/cri/server/container_create.go` (`buildLinuxSpec`),
`pkg/cri/opts/spec_opts.go` (`orderedMounts`, `WithResources`); OCI runtime-spec v1.3.
Left out: AppArmor and SELinux labels, hooks, the device list of privileged containers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lifecycle.cri.apis.container import ContainerConfig
from lifecycle.cri.apis.message import Fields
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig
from lifecycle.cri.capability_names import ALL_CAPABILITIES, DEFAULT_CAPABILITIES
from lifecycle.cri.id_mappings import id_mappings, oci_id_mappings
from lifecycle.cri.seccomp_profile import seccomp_of

Spec = dict[str, Any]

DEFAULT_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

SANDBOX_MASKED_PATHS = (
    "/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
    "/proc/timer_list",
    "/proc/timer_stats", "/proc/sched_debug", "/sys/firmware",
    "/sys/devices/virtual/powercap", "/proc/scsi",
)  # fmt: skip
SANDBOX_READONLY_PATHS = (
    "/proc/bus",
    "/proc/fs",
    "/proc/irq",
    "/proc/sys",
    "/proc/sysrq-trigger",
)

SANDBOX_CPU_SHARES = 2
"""Pause needs next to nothing. Its pod's limits are the pod cgroup's matter, the
kubelet's.
"""

SANDBOX_OOM_SCORE_ADJ = -998

PAUSE_USER = 65535

PROPAGATION = {
    "PROPAGATION_PRIVATE": "rprivate",
    "PROPAGATION_HOST_TO_CONTAINER": "rslave",
    "PROPAGATION_BIDIRECTIONAL": "rshared",
}


def capabilities(security: Fields) -> list[str]:
    """`CAP_…` names that the container's processes may ever have.

    `ALL` in add or drop is taken first, then what is added by name, then what is
    dropped by name.
    """
    if security.get("privileged"):
        return ["CAP_" + name for name in ALL_CAPABILITIES]
    requested = security.get("capabilities") or {}
    add = [
        name.upper().removeprefix("CAP_")
        for name in requested.get("add_capabilities") or ()
    ]
    drop = [
        name.upper().removeprefix("CAP_")
        for name in requested.get("drop_capabilities") or ()
    ]
    kept = list(DEFAULT_CAPABILITIES)
    if "ALL" in add:
        kept = list(ALL_CAPABILITIES)
    if "ALL" in drop:
        kept = []
    kept += [name for name in add if name != "ALL" and name not in kept]
    return ["CAP_" + name for name in kept if name not in drop]


def cgroups_path(cgroup_parent: str, container_id: str) -> str:
    """Where the container's cgroup goes.

    Below a systemd slice it is said as `SLICE:cri-containerd:ID`, otherwise as a path.
    """
    base = cgroup_parent.rstrip("/").rsplit("/", 1)[-1]
    if base.endswith(".slice"):
        return f"{base}:cri-containerd:{container_id}"
    return f"{cgroup_parent.rstrip('/') or '/k8s.io'}/{container_id}"


def _base_mounts(privileged: bool, cgroup: bool) -> list[Spec]:
    write = "rw" if privileged else "ro"
    quiet = ["nosuid", "noexec", "nodev"]
    mounts: list[Spec] = [
        {"destination": "/proc", "type": "proc", "source": "proc", "options": quiet},
        {
            "destination": "/dev",
            "type": "tmpfs",
            "source": "tmpfs",
            "options": ["nosuid", "strictatime", "mode=755", "size=65536k"],
        },
        {
            "destination": "/dev/pts",
            "type": "devpts",
            "source": "devpts",
            "options": [
                "nosuid",
                "noexec",
                "newinstance",
                "ptmxmode=0666",
                "mode=0620",
                "gid=5",
            ],
        },
        {
            "destination": "/dev/mqueue",
            "type": "mqueue",
            "source": "mqueue",
            "options": quiet,
        },
        {
            "destination": "/sys",
            "type": "sysfs",
            "source": "sysfs",
            "options": [*quiet, write],
        },
    ]
    if cgroup:
        options = [*quiet, "relatime", write]
        mounts.append(
            {
                "destination": "/sys/fs/cgroup",
                "type": "cgroup",
                "source": "cgroup",
                "options": options,
            }
        )
    return mounts


def _bind(mount: Fields) -> Spec:
    propagation = PROPAGATION[mount.get("propagation") or "PROPAGATION_PRIVATE"]
    write = "ro" if mount.get("readonly") else "rw"
    return {
        "destination": mount["container_path"],
        "type": "bind",
        "source": mount["host_path"],
        "options": ["rbind", propagation, write],
    }


def sandbox_files(config: ContainerConfig, directory: str, shm: str) -> list[Fields]:
    """What the sandbox gives every container beside the kubelet's mounts: names, name
    servers, shared memory.
    """
    taken = {mount["container_path"] for mount in config.mounts}
    # containerd adds `/etc/hosts` too when the kubelet does not
    mounts: list[Fields] = [
        {"container_path": f"/etc/{name}", "host_path": f"{directory}/{name}"}
        for name in ("hostname", "hosts", "resolv.conf")
    ]
    mounts.append({"container_path": "/dev/shm", "host_path": shm})
    readonly = bool(config.security_context.get("readonly_rootfs"))
    return [
        {**mount, "readonly": readonly and mount["container_path"] != "/dev/shm"}
        for mount in mounts
        if mount["container_path"] not in taken
    ]


def ordered(mounts: Sequence[Fields]) -> list[Fields]:
    """Outer ones before what goes inside them: by the number of parts of the path,
    otherwise as they came.
    """
    return sorted(
        mounts,
        key=lambda mount: len(
            [part for part in mount["container_path"].split("/") if part]
        ),
    )


def resources(fields: Fields, privileged: bool = False) -> Spec:
    """`linux.resources`: zeros mean "not set". Privileged containers may use every
    device.
    """
    cpu = {
        "shares": fields.get("cpu_shares"),
        "quota": fields.get("cpu_quota"),
        "period": fields.get("cpu_period"),
    }
    cpu["cpus"], cpu["mems"] = fields.get("cpuset_cpus"), fields.get("cpuset_mems")
    memory = {
        "limit": fields.get("memory_limit_in_bytes"),
        "swap": fields.get("memory_swap_limit_in_bytes"),
    }
    spec: Spec = {
        "cpu": {key: value for key, value in cpu.items() if value},
        "memory": {key: value for key, value in memory.items() if value},
        "devices": [{"allow": privileged, "access": "rwm"}],
    }
    if fields.get("unified"):
        spec["unified"] = dict(fields["unified"])
    return spec


def _annotations(
    kind: str, sandbox: PodSandboxConfig, sandbox_id: str
) -> dict[str, str]:
    metadata = sandbox.metadata
    return {
        "io.kubernetes.cri.container-type": kind,
        "io.kubernetes.cri.sandbox-id": sandbox_id,
        "io.kubernetes.cri.sandbox-name": metadata.name,
        "io.kubernetes.cri.sandbox-namespace": metadata.namespace,
        "io.kubernetes.cri.sandbox-uid": metadata.uid,
    }


def sandbox_spec(
    config: PodSandboxConfig,
    sandbox_id: str,
    netns: str,
    directory: str,
    shm: str,
    image: str = "pause",
    oom_floor: int = -1000,
    nodename: str = "",
    userns: str = "",
) -> Spec:
    """The pause container. It makes the namespaces that the others join, except the
    network's and, at the path `userns`, the users', which were made before.

    `oom_floor`: a runtime that may not lower its own `oom_score_adj` cannot give anyone
    a lower one. `nodename`: the name of a node that shares its machine with others;
    empty: the machine's is right.
    """
    linux = config.linux
    security = linux.get("security_context") or {}
    options = config.namespace_options
    host_network = config.host_network
    namespaces: list[Spec] = [{"type": "user", "path": userns}] if userns else []
    if options.get("pid") != "NODE":
        namespaces.append({"type": "pid"})
    if options.get("ipc") != "NODE":
        namespaces.append({"type": "ipc"})
    # the host's network keeps the host's name
    hostname = nodename if host_network else config.hostname or config.metadata.name
    if hostname:
        namespaces.append({"type": "uts"})
    namespaces.append({"type": "mount"})
    if not host_network:
        namespaces.append({"type": "network", "path": netns})
    # what used to need privileges and does no harm in a network namespace of one's own
    sysctl = dict(linux.get("sysctls") or {})
    if not host_network:
        sysctl.setdefault("net.ipv4.ip_unprivileged_port_start", "0")
        if not userns:  # most of these groups would have no number on the machine
            sysctl.setdefault("net.ipv4.ping_group_range", "0 2147483647")
    limits = linux.get("resources") or {}
    annotations = {
        **_annotations("sandbox", config, sandbox_id),
        "io.kubernetes.cri.podsandbox.image-name": image,
        "io.kubernetes.cri.sandbox-cpu-period": str(limits.get("cpu_period", 0)),
        "io.kubernetes.cri.sandbox-cpu-quota": str(limits.get("cpu_quota", 0)),
        "io.kubernetes.cri.sandbox-cpu-shares": str(limits.get("cpu_shares", 0)),
        "io.kubernetes.cri.sandbox-log-directory": config.log_directory,
        "io.kubernetes.cri.sandbox-memory": str(limits.get("memory_limit_in_bytes", 0)),
    }
    user, group = security.get("run_as_user") or {}, security.get("run_as_group") or {}
    uid = user.get("value", 0) if user else PAUSE_USER
    gid = group.get("value", 0) if group else (PAUSE_USER if not user else 0)
    guarded = ["rbind", "ro", "nosuid", "nodev", "noexec"]
    held = ["CAP_" + name for name in DEFAULT_CAPABILITIES]
    spec: Spec = {
        "ociVersion": "1.3.0",
        "annotations": annotations,
        "process": {
            "args": ["/pause"],
            "cwd": "/",
            "env": [DEFAULT_PATH],
            "noNewPrivileges": True,
            "oomScoreAdj": max(SANDBOX_OOM_SCORE_ADJ, oom_floor),
            "capabilities": {"bounding": held, "effective": held, "permitted": held},
            "user": {"uid": uid, "gid": gid, "additionalGids": [gid]},
        },
        "root": {"path": "rootfs", "readonly": True},
        "mounts": [
            *_base_mounts(bool(security.get("privileged")), cgroup=False),
            {
                "destination": "/dev/shm",
                "type": "bind",
                "source": shm,
                "options": guarded,
            },
            {
                "destination": "/etc/resolv.conf",
                "type": "bind",
                "source": f"{directory}/resolv.conf",
                "options": guarded,
            },
        ],
        "linux": {
            "cgroupsPath": cgroups_path(linux.get("cgroup_parent") or "", sandbox_id),
            "namespaces": namespaces,
            "maskedPaths": list(SANDBOX_MASKED_PATHS),
            "readonlyPaths": list(SANDBOX_READONLY_PATHS),
            "resources": {
                "cpu": {"shares": SANDBOX_CPU_SHARES},
                "devices": [{"allow": False, "access": "rwm"}],
            },
        },
    }
    privileged = bool(security.get("privileged"))
    seccomp = seccomp_of(security.get("seccomp"), (), privileged)
    if seccomp is not None:
        spec["linux"]["seccomp"] = seccomp
    spec["linux"] |= oci_id_mappings(options)
    if sysctl:
        spec["linux"]["sysctl"] = sysctl
    if hostname:
        spec["hostname"] = hostname
    return spec


def namespaces_of(
    security: Fields, sandbox_pid: int, target_pid: int = 0
) -> list[Spec]:
    """Which namespaces a container makes (no path) and which it joins.

    PID: `CONTAINER` one of its own, `POD` the pause process's, `NODE` the machine's,
    `TARGET` another container's.
    """
    options = security.get("namespace_options") or {}
    pid = options.get("pid") or "POD"
    spec: list[Spec] = []
    if id_mappings(options):
        spec.append({"type": "user", "path": f"/proc/{sandbox_pid}/ns/user"})
    if pid == "CONTAINER":
        spec.append({"type": "pid"})
    elif pid == "POD":
        spec.append({"type": "pid", "path": f"/proc/{sandbox_pid}/ns/pid"})
    elif pid == "TARGET":
        spec.append({"type": "pid", "path": f"/proc/{target_pid}/ns/pid"})
    spec += [
        {"type": kind, "path": f"/proc/{sandbox_pid}/ns/{kind}"}
        for kind in ("ipc", "uts")
    ]
    spec.append({"type": "mount"})
    spec.append({"type": "network", "path": f"/proc/{sandbox_pid}/ns/net"})
    return spec


def command_line(config: ContainerConfig, image: Mapping[str, Any]) -> list[str]:
    """`command` replaces the image's entry point and its default arguments; `args` only
    the arguments.
    """
    if config.command:
        return [*config.command, *config.args]
    return [*(image.get("Entrypoint") or ()), *(config.args or image.get("Cmd") or ())]


def environment(
    config: ContainerConfig, image: Mapping[str, Any], hostname: str
) -> list[str]:
    """The image's variables, the host name, the pod's: a later one of the same name
    takes the earlier one's place.
    """
    merged: dict[str, str] = {}
    defaults = list(image.get("Env") or ())
    if not any(item.startswith("PATH=") for item in defaults):
        defaults.insert(0, DEFAULT_PATH)
    if config.tty:
        defaults.append("TERM=xterm")
    for item in [
        *defaults,
        f"HOSTNAME={hostname}",
        *(f"{key}={value}" for key, value in config.envs),
    ]:
        merged[item.partition("=")[0]] = item
    return list(merged.values())


def container_spec(
    config: ContainerConfig,
    sandbox: PodSandboxConfig,
    container_id: str,
    sandbox_id: str,
    sandbox_pid: int,
    image: Mapping[str, Any],
    directory: str,
    shm: str,
    hostname: str = "",
    target_pid: int = 0,
    oom_floor: int = -1000,
    user: Spec | None = None,
) -> Spec:
    """A container in a running sandbox.

    `image` is the image's OCI config, `hostname` the name on the host's network.
    `user`: `uid`, `gid` and `additionalGids` as looked up in the image's own
    `/etc/passwd`; None takes the numbers of the config.
    """
    security = config.security_context
    privileged = bool(security.get("privileged"))
    name = sandbox.hostname or hostname or sandbox.metadata.name
    if user is None:
        uid, gid = (
            (security.get(key) or {}).get("value", 0)
            for key in ("run_as_user", "run_as_group")
        )
        extra = [
            gid,
            *(
                int(group)
                for group in security.get("supplemental_groups") or ()
                if int(group) != gid
            ),
        ]
        user = {"uid": uid, "gid": gid, "additionalGids": extra}
    held = capabilities(security)
    mounts = ordered([*config.mounts, *sandbox_files(config, directory, shm)])
    spec: Spec = {
        "ociVersion": "1.3.0",
        "annotations": {
            **_annotations("container", sandbox, sandbox_id),
            "io.kubernetes.cri.container-name": config.metadata.name,
            "io.kubernetes.cri.image-name": config.user_specified_image or config.image,
        },
        "process": {
            "args": command_line(config, image),
            "cwd": config.working_dir or image.get("WorkingDir") or "/",
            "env": environment(config, image, name),
            "oomScoreAdj": max(config.resources.get("oom_score_adj", 0), oom_floor),
            "capabilities": {"bounding": held, "effective": held, "permitted": held},
            "user": user,
        },
        "root": {"path": "rootfs"},
        "mounts": [
            *_base_mounts(privileged, cgroup=True),
            *(_bind(mount) for mount in mounts if not mount.get("image")),
        ],
        "linux": {
            "cgroupsPath": cgroups_path(
                (sandbox.linux or {}).get("cgroup_parent") or "", container_id
            ),
            "namespaces": namespaces_of(security, sandbox_pid, target_pid),
            "resources": resources(config.resources, privileged),
        },
    }
    spec["linux"] |= oci_id_mappings(security.get("namespace_options") or {})
    if config.tty:
        spec["process"]["terminal"] = True
    if security.get("no_new_privs"):
        spec["process"]["noNewPrivileges"] = True
    seccomp = seccomp_of(security.get("seccomp"), held, privileged)
    if seccomp is not None:
        spec["linux"]["seccomp"] = seccomp
    if security.get("readonly_rootfs"):
        spec["root"]["readonly"] = True
    if not privileged:
        for theirs, ours in (
            ("maskedPaths", "masked_paths"),
            ("readonlyPaths", "readonly_paths"),
        ):
            if security.get(ours):
                spec["linux"][theirs] = list(security[ours])
    return spec
