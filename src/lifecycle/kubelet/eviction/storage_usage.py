"""What a pod has on its node's disk, and loses with the node: what its containers have
written beside their images, their logs, its scratch volumes.

Upstream: `pkg/kubelet/stats/cri_stats_provider.go` (`makePodStorageStats`,
`calcEphemeralStorage`), v1.36. Measured when it is asked for; upstream goes round once
a minute and remembers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lifecycle.api.http.wire import Object
from lifecycle.cri.disk_usage import disk_usage
from lifecycle.kubelet.config.directories import PodDirectories
from lifecycle.kubelet.logs.files import pod_logs_directory
from lifecycle.kubelet.stats.summary import PodUsage
from lifecycle.kubelet.volume.empty_dir import EMPTY_DIR_PLUGIN


@dataclass(slots=True, frozen=True)
class LocalStorage:
    """Bytes: of each container, logs included; of each `emptyDir`; of what else the
    kubelet has written for the pod.
    """

    containers: Mapping[str, int] = field(default_factory=dict)
    empty_dirs: Mapping[str, int] = field(default_factory=dict)
    rest: int = 0

    def total(self, pod: Object) -> int:
        """Of the whole pod. What is in memory takes no disk."""
        on_disk = (
            v["name"] for v in empty_dirs(pod) if not v["emptyDir"].get("medium")
        )
        scratch = sum(self.empty_dirs.get(name, 0) for name in on_disk)
        return sum(self.containers.values()) + scratch + self.rest


def empty_dirs(pod: Object) -> list[Object]:
    """The pod's volumes of that kind."""
    volumes = pod["spec"].get("volumes") or ()
    return [volume for volume in volumes if volume.get("emptyDir") is not None]


def local_storage(
    pod: Object, usage: PodUsage, root_dir: Path, pod_logs_dir: str
) -> LocalStorage:
    """`usage`: what the runtime says of the pod's containers; the two directories are
    the kubelet's. Not for the event loop.
    """
    uid = pod["metadata"]["uid"]
    places = PodDirectories(root_dir)
    logs = Path(pod_logs_directory(pod, pod_logs_dir))
    return LocalStorage(
        {
            name: each.disk + disk_usage(logs / name)
            for name, each in usage.containers.items()
        },
        {
            name: disk_usage(places.volume(uid, EMPTY_DIR_PLUGIN, name))
            for name in (volume["name"] for volume in empty_dirs(pod))
        },
        disk_usage(places.etc_hosts(uid)),
    )
