"""Which CPUs does the next container get for itself?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.kubelet.cm.cpumanager.cpu_assignment import (
    NotEnoughCPUsError,
    take_by_topology,
)
from lifecycle.kubelet.cm.cpumanager.topology import CPUTopology

CONTRACT = """\
take(machine, available, count) -> a sorted list of CPUs, or None if there are not
enough.

machine:   [{"cpu": 0, "core": 0, "socket": 0}, …], all CPUs of the machine.
available: a sorted list of those that are free.
count:     how many are wanted.

Whole sockets that are free go first, as long as so many are still wanted; then whole
cores; then single CPUs. Sockets are looked at in the order of how many CPUs are still
free in them, the fewest first; cores socket by socket in that order, and inside a
socket again the fewest first; CPUs core by core in that order, by number. Equals go by
number. What has been taken is not free any more, so each of the three steps counts
anew."""

STARTER = '''\
def take(machine, available, count):
    """CPUs for a container of its own."""
    if count > len(available):
        return None
    return available[:count]
'''

Machine = list[dict[str, int]]
MACHINES = {"one socket": (1, 4, 2), "two sockets": (2, 4, 2), "no threads": (2, 3, 1)}
"""Sockets, cores in each, threads in each."""
SEEDS = 12


def cases() -> Iterator[Case]:
    """Machines that are empty, and such as some CPUs have been given away of."""
    for name, shape in MACHINES.items():
        topology = CPUTopology.regular(*shape)
        machine = [
            {"cpu": cpu, "core": info.core, "socket": info.socket}
            for cpu, info in sorted(topology.details.items())
        ]
        everything = sorted(topology.cpus)
        for count in range(len(everything) + 2):
            yield _case(f"{name}, empty", f"{count}", machine, shape, everything, count)
        whole = max(topology.ids("socket"))
        inside = topology.within("socket", whole)
        for seed in range(SEEDS // 2):
            dice = Random(f"{name} broken {seed}")
            others = topology.cpus - inside
            free = sorted({*inside, *dice.sample(sorted(others), len(others) // 2)})
            count = len(inside) + seed % 3
            label = f"{seed}: {count} of {', '.join(map(str, free))}"
            yield _case(f"{name}, one whole", label, machine, shape, free, count)
        for seed in range(SEEDS):
            dice = Random(f"{name} {seed}")
            free = sorted(cpu for cpu in everything if dice.random() < 0.6)
            count = dice.randint(1, len(free) + 1)
            label = f"{count} of {', '.join(map(str, free))}"
            yield _case(
                f"{name}, in use", f"{seed}: {label}", machine, shape, free, count
            )


def _case(
    group: str,
    label: str,
    machine: Machine,
    shape: tuple[int, int, int],
    free: list[int],
    count: int,
) -> Case:
    return Case(
        group,
        label,
        _right(shape, tuple(free), count),
        lambda attempt: attempt(machine, free, count),
        [machine, free],
        [machine, free, count],
    )


@cache
def _right(
    shape: tuple[int, int, int], free: tuple[int, ...], count: int
) -> list[int] | None:
    try:
        topology = CPUTopology.regular(*shape)
        return sorted(take_by_topology(topology, frozenset(free), count))
    except NotEnoughCPUsError:
        return None


def ours() -> Attempt:
    """The book's."""

    def take(machine: Machine, available: list[int], count: int) -> list[int] | None:
        sockets = len({each["socket"] for each in machine})
        cores = len({each["core"] for each in machine})
        shape = sockets, cores // sockets, len(machine) // cores
        return _right(shape, tuple(available), count)

    return take


EXERCISE = Exercise(
    "cpu-assignment",
    "Whole sockets, whole cores, single CPUs",
    CONTRACT,
    STARTER,
    "the book's own, which is held to upstream's rules",
    cases,
    ours,
    ("cpu-manager",),
)
