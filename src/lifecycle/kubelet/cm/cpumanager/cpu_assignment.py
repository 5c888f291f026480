"""Which CPUs to give away: whole sockets first, then whole cores, single threads last.

The fewer strangers share a cache with a container, the better. So the biggest free unit
that still fits is taken first, and among equals the one in the fullest neighbourhood,
to keep large units whole for those who come later.

Upstream: `pkg/kubelet/cm/cpumanager/cpu_assignment.go` (`takeByTopologyNUMAPacked`,
`cpuAccumulator`), v1.36. Left out: the policy options `distribute-cpus-across-numa`,
`distribute-cpus-across-cores` and `prefer-align-cpus-by-uncorecache`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lifecycle.kubelet.cm.cpumanager.cpu_set import CPUSet
from lifecycle.kubelet.cm.cpumanager.topology import CPUTopology


class NotEnoughCPUsError(Exception):
    """The text is what the kubelet says when it refuses the pod."""


class SMTAlignmentError(NotEnoughCPUsError):
    """Whole cores only, and the container asks for half of one. This error has a name
    of its own, which becomes the pod's reason.
    """


class CPUAccumulator:
    """CPUs taken so far, and what is left. Upstream: `cpuAccumulator`."""

    def __init__(self, topology: CPUTopology, available: CPUSet, num_cpus: int) -> None:
        self._topology = topology
        self.available = available
        self.num_cpus_needed = num_cpus
        self.result: CPUSet = frozenset()
        # the wider unit comes first: usually memory is attached to sockets; some
        # sockets have several NUMA nodes
        numa_is_wider = len(topology.ids("socket")) >= len(topology.ids("numa"))
        self.levels = (
            ("numa", "socket", "core") if numa_is_wider else ("socket", "numa", "core")
        )

    def take(self, cpus: CPUSet) -> None:
        """These are given away."""
        self.result |= cpus
        self.available -= cpus
        self.num_cpus_needed -= len(cpus)

    def sorted_units(self, level: str) -> list[int]:
        """Units of a level that have something left: within each wider unit those with
        the least left first.
        """
        cpus = self.available
        if level == self.levels[0]:
            return self._sort(level, cpus)
        wider = self.levels[self.levels.index(level) - 1]
        order: list[int] = []
        for unit in self.sorted_units(wider):
            inside = self._topology.within(wider, unit, cpus)
            order += [e for e in self._sort(level, inside) if e not in order]
        return order

    def _sort(self, level: str, cpus: Iterable[int]) -> list[int]:
        def left(unit: int) -> tuple[int, int]:
            return len(self._topology.within(level, unit, self.available)), unit

        return sorted(self._topology.ids(level, cpus), key=left)

    def free_units(self, level: str) -> list[int]:
        """Units of which nothing has been taken."""
        size = self._topology.per(level)
        return [
            u
            for u in self.sorted_units(level)
            if len(self._topology.within(level, u, self.available)) == size
        ]

    def take_full(self, level: str) -> None:
        """Whole units, as long as that many CPUs are still wanted."""
        for unit in self.free_units(level):
            cpus = self._topology.within(level, unit)
            if self.num_cpus_needed >= len(cpus):
                self.take(cpus)

    def take_remaining(self) -> None:
        """Single CPUs, from cores that are broken already where possible."""
        for core in self.sorted_units("core"):
            for cpu in sorted(self._topology.within("core", core, self.available)):
                if self.num_cpus_needed < 1:
                    return
                self.take(frozenset({cpu}))


Step = Callable[[], None]


def take_by_topology(topology: CPUTopology, available: CPUSet, num_cpus: int) -> CPUSet:
    """`num_cpus` of the available CPUs. Raises NotEnoughCPUsError."""
    accumulator = CPUAccumulator(topology, available, num_cpus)
    if num_cpus <= 0:
        return frozenset()
    if num_cpus > len(available):
        raise NotEnoughCPUsError(
            f"not enough cpus available to satisfy request: requested={num_cpus},"
            f" available={len(available)}"
        )
    for level in accumulator.levels:
        accumulator.take_full(level)
        if accumulator.num_cpus_needed < 1:
            return accumulator.result
    accumulator.take_remaining()
    return accumulator.result
