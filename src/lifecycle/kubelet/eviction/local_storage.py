"""Pods that write more than they may to the disk of their node.

No kernel stops them: an `emptyDir` is a directory like any other, and so is what a
container writes beside its image. So the eviction manager measures, and whoever is over
its limit has to go, however much room there is.

Upstream: `pkg/kubelet/eviction/eviction_manager.go` (`localStorageEviction`,
`emptyDirLimitEviction`, `podEphemeralStorageLimitEviction`,
`containerEphemeralStorageLimitEviction`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.resources import pod_limits
from lifecycle.api.quantity import Quantity, parse_quantity
from lifecycle.kubelet.eviction.storage_usage import LocalStorage, empty_dirs
from lifecycle.kubelet.eviction.thresholds import EPHEMERAL_STORAGE


def is_limited(pod: Object) -> bool:
    """Whether there is anything to measure for."""
    return bool(_size_limits(pod)) or EPHEMERAL_STORAGE in pod_limits(pod)


def over_its_limit(pod: Object, used: LocalStorage) -> str:
    """What is said of a pod that has to go: of its volumes first, then of all of it,
    then of its containers. Empty if it is within its limits.
    """
    for name, size in _size_limits(pod).items():
        if used.empty_dirs.get(name, 0) > size.value():
            return f'Usage of EmptyDir volume "{name}" exceeds the limit "{size}". '
    whole = pod_limits(pod).get(EPHEMERAL_STORAGE)
    if whole is not None and used.total(pod) > whole.value():
        return (
            "Pod ephemeral local storage usage exceeds the total limit of containers"
            f" {whole}. "
        )
    for container in pod["spec"]["containers"]:
        limits = (container.get("resources") or {}).get("limits") or {}
        limit = parse_quantity(str(limits.get(EPHEMERAL_STORAGE, 0)))
        name = container["name"]
        if not limit.is_zero and used.containers.get(name, 0) > limit.value():
            return (
                f"Container {name} exceeded its local ephemeral storage limit"
                f' "{limit}". '
            )
    return ""


def _size_limits(pod: Object) -> dict[str, Quantity]:
    """By volume; one of zero limits nothing."""
    sizes = {
        volume["name"]: parse_quantity(str(volume["emptyDir"].get("sizeLimit") or 0))
        for volume in empty_dirs(pod)
    }
    return {name: size for name, size in sizes.items() if size.value() > 0}
