"""What a cgroup is called: one name for the kubelet, two spellings on disk.

The kubelet thinks in paths of parts: `("kubepods", "burstable", "pod<uid>")`. The
*cgroupfs* driver writes them as directories. The *systemd* driver hands them to
systemd, where a group is a slice and a slice's name carries all its parents:
`kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid>.slice`. There a
dash means "child of", so the dashes of a uid become underscores.

Upstream: `pkg/kubelet/cm/cgroup_manager_linux.go` (`NewCgroupName`, `ToSystemd`,
`ToCgroupfs`, `ParseSystemdToCgroupName`), `pod_container_manager_linux.go`
(`GetPodContainerName`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.qos import get_pod_qos

CgroupName = tuple[str, ...]
"""The parts of a name below the root of the tree. The empty tuple is the root
itself.
"""

SYSTEMD_SUFFIX = ".slice"
DEFAULT_NODE_ALLOCATABLE_CGROUP = "kubepods"
POD_CGROUP_NAME_PREFIX = "pod"
DRIVERS = ("cgroupfs", "systemd")


def new_cgroup_name(base: CgroupName, *components: str) -> CgroupName:
    """`base` and more parts below it. Raises ValueError for a part that holds a slash
    or is empty.
    """
    for component in components:
        if not component or "/" in component:
            raise ValueError(
                f'invalid character in component "{component}" of CgroupName'
            )
    return (*base, *components)


def parse_cgroup_root(path: str) -> CgroupName:
    """The kubelet's setting `cgroupRoot` as a name: `/kubelet` → `("kubelet",)`."""
    return tuple(part for part in path.split("/") if part)


def to_cgroupfs(name: CgroupName) -> str:
    """A path below the root: `/kubepods/burstable/pod<uid>`."""
    return "/" + "/".join(name)


def to_systemd(name: CgroupName) -> str:
    """The same as slices, a path below the root."""
    if not name:
        return "/"
    parts = [part.replace("-", "_") for part in name]
    return "/" + "/".join(
        "-".join(parts[: i + 1]) + SYSTEMD_SUFFIX for i in range(len(parts))
    )


def parse_systemd(path: str) -> CgroupName:
    """The name behind a slice's path. A dash in a part cannot be told from an
    underscore any more: it stays one.
    """
    last = path.rstrip("/").rsplit("/", 1)[-1].removesuffix(SYSTEMD_SUFFIX)
    return tuple(last.split("-")) if last else ()


def cgroup_path(name: CgroupName, driver: str) -> str:
    """As `driver` (`cgroupfs` or `systemd`) writes it. Raises ValueError for another
    driver.
    """
    if driver not in DRIVERS:
        raise ValueError(f'unknown cgroup driver "{driver}": use cgroupfs or systemd')
    return to_systemd(name) if driver == "systemd" else to_cgroupfs(name)


def qos_parent(root: CgroupName, qos: str) -> CgroupName:
    """Where pods of a class go: Guaranteed ones directly below `kubepods`, the others
    below a group of their own.
    """
    base = (*root, DEFAULT_NODE_ALLOCATABLE_CGROUP)
    return base if qos == "Guaranteed" else (*base, qos.lower())


def pod_cgroup_name(
    root: CgroupName, pod: Object, *, cgroups_per_qos: bool = True
) -> CgroupName:
    """A pod's own group. Without `cgroups_per_qos` pods have none: their containers go
    to the root.
    """
    if not cgroups_per_qos:
        return root
    qos = get_pod_qos(pod)
    return new_cgroup_name(
        qos_parent(root, qos), POD_CGROUP_NAME_PREFIX + pod["metadata"]["uid"]
    )


def is_pod_cgroup(root: CgroupName, name: CgroupName) -> str:
    """The uid of the pod that a group belongs to, or nothing. systemd's underscores are
    turned back into dashes.
    """
    base = (*root, DEFAULT_NODE_ALLOCATABLE_CGROUP)
    if len(name) not in (len(base) + 1, len(base) + 2) or name[: len(base)] != base:
        return ""
    if len(name) == len(base) + 2 and name[len(base)] not in (
        "burstable",
        "besteffort",
    ):
        return ""
    last = name[-1]
    return (
        last.removeprefix(POD_CGROUP_NAME_PREFIX).replace("_", "-")
        if last.startswith("pod")
        else ""
    )
