"""What is measured: the machine's memory in the kernel's own words, the pods' in their
runtime's.

Upstream: `pkg/kubelet/server/stats/summary.go` (`SummaryProvider.Get`),
`pkg/kubelet/eviction/helpers.go` (`makeSignalObservations`), v1.36. There, what is
available is the capacity without the working set of the root cgroup; the kernel's
`MemAvailable` says nearly the same. Left out: what is left on disks, whose thresholds
kind switches off.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lifecycle.cri.apis.services import RuntimeService

MEMINFO = Path("/proc/meminfo")


@dataclass(slots=True, frozen=True)
class Observation:
    """What is left of something, and how much there is of it: bytes, or inodes."""

    available: int
    capacity: int


@dataclass(slots=True, frozen=True)
class ContainerUsage:
    """Bytes: the working set, and what is written beside the image."""

    memory: int = 0
    disk: int = 0

    def of(self, resource: str) -> int:
        """What a container uses of a resource; inodes are not counted."""
        return self.memory if resource == "memory" else self.disk


@dataclass(slots=True, frozen=True)
class PodUsage:
    """By container."""

    containers: Mapping[str, ContainerUsage] = field(default_factory=dict)

    def total(self, resource: str) -> int:
        """Of the whole pod."""
        return sum(usage.of(resource) for usage in self.containers.values())


@dataclass(slots=True, frozen=True)
class Summary:
    """What is measured on a node: what is left, by signal, and what pods use, by
    uid.
    """

    observations: Mapping[str, Observation]
    pods: Mapping[str, PodUsage] = field(default_factory=dict)


async def node_summary(runtime: RuntimeService) -> Summary:
    """Of this machine and the containers that run on it. Raises RuntimeServiceError,
    OSError.
    """
    pods: dict[str, dict[str, ContainerUsage]] = defaultdict(dict)
    for stats in await runtime.list_container_stats():
        labels = stats["attributes"].get("labels") or {}
        working_set = ((stats.get("memory") or {}).get("working_set_bytes") or {}).get(
            "value"
        ) or 0
        written = ((stats.get("writable_layer") or {}).get("used_bytes") or {}).get(
            "value"
        ) or 0
        usage = ContainerUsage(memory=int(working_set), disk=int(written))
        pods[labels.get("io.kubernetes.pod.uid", "")][
            labels.get("io.kubernetes.container.name", "")
        ] = usage
    return Summary(
        {"memory.available": memory_available()},
        {uid: PodUsage(containers) for uid, containers in pods.items()},
    )


def memory_available(meminfo: Path = MEMINFO) -> Observation:
    """`/proc/meminfo` in bytes. Raises OSError."""
    lines = (line.partition(":") for line in meminfo.read_text().splitlines())
    kibibytes = {name: int(rest.split()[0]) for name, _, rest in lines}
    return Observation(kibibytes["MemAvailable"] << 10, kibibytes["MemTotal"] << 10)
