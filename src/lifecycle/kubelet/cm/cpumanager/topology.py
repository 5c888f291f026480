"""How a machine's CPUs hang together: threads in cores, cores in sockets, and memory
(NUMA nodes) beside them.

Upstream: `pkg/kubelet/cm/cpumanager/topology/topology.go` (`CPUTopology`, `CPUDetails`,
`Discover`), v1.36. Left out: the uncore cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lifecycle.kubelet.cm.cpumanager.cpu_set import CPUSet, parse_cpu_set

SYSTEM_CPUS = Path("/sys/devices/system/cpu")


@dataclass(slots=True, frozen=True)
class CPUInfo:
    """Where a CPU is. Core ids are unique in the machine, as upstream makes them."""

    numa: int
    socket: int
    core: int


class CPUTopology:
    """All CPUs of a machine, by number."""

    def __init__(self, details: Mapping[int, CPUInfo]) -> None:
        self.details = dict(details)

    @classmethod
    def regular(
        cls, sockets: int, cores: int, threads: int = 2, *, numa_per_socket: int = 1
    ) -> CPUTopology:
        """A machine whose firmware numbers the first threads of all cores first:
        `cores` per socket, alternating sockets.
        """
        details, total = {}, sockets * cores
        for cpu in range(total * threads):
            core = cpu % total
            socket = core % sockets
            numa = (
                socket * numa_per_socket + (core // sockets) * numa_per_socket // cores
            )
            details[cpu] = CPUInfo(numa, socket, core)
        return cls(details)

    @classmethod
    def discover(cls, root: Path = SYSTEM_CPUS) -> CPUTopology:
        """This machine, from sysfs. Raises OSError where there is none."""
        details: dict[int, CPUInfo] = {}
        first_of: dict[str, int] = {}
        for cpu in sorted(parse_cpu_set((root / "online").read_text().strip())):
            place = root / f"cpu{cpu}"
            siblings = (place / "topology" / "thread_siblings_list").read_text().strip()
            socket = int((place / "topology" / "physical_package_id").read_text())
            numa = next((int(node.name[4:]) for node in place.glob("node[0-9]*")), 0)
            details[cpu] = CPUInfo(
                numa, max(socket, 0), first_of.setdefault(siblings, cpu)
            )
        return cls(details)

    @property
    def cpus(self) -> CPUSet:
        """All of them."""
        return frozenset(self.details)

    def ids(self, level: str, cpus: Iterable[int] | None = None) -> set[int]:
        """Numbers of the NUMA nodes (`numa`), sockets (`socket`) or cores (`core`) that
        these CPUs are in.
        """
        chosen = self.details if cpus is None else cpus
        return {getattr(self.details[cpu], level) for cpu in chosen}

    def within(
        self, level: str, number: int, cpus: Iterable[int] | None = None
    ) -> CPUSet:
        """Those of these CPUs that are in one node, socket or core."""
        chosen = self.details if cpus is None else cpus
        return frozenset(
            cpu for cpu in chosen if getattr(self.details[cpu], level) == number
        )

    def per(self, level: str) -> int:
        """CPUs in each node, socket or core."""
        return len(self.details) // len(self.ids(level)) if self.details else 0
