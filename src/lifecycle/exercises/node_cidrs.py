"""A piece of the cluster's addresses for every node."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from lifecycle.controllers.nodeipam import CIDRSet
from lifecycle.exercises.exercise import Attempt, Case, Exercise

CONTRACT = """\
Pieces(cluster_cidr, mask_size): a class. The cluster's range, cut into equal pieces.

allocate_next() -> the next free piece, as "10.244.3.0/24", or None if there is none.
        Pieces go round: the search begins behind the one that was given last, and
        after the last piece comes the first.
occupy(cidr):  this piece is taken; a node had it before you were started. One outside
        of the range is nobody's business. The search goes on where it was.
release(cidr): a node has gone and gives this piece back."""

STARTER = '''\
from ipaddress import ip_network


class Pieces:
    """Pieces of a range, one for each node."""

    def __init__(self, cluster_cidr, mask_size):
        self.free = list(ip_network(cluster_cidr).subnets(new_prefix=mask_size))

    def allocate_next(self):
        return str(self.free.pop(0))

    def occupy(self, cidr):
        self.free.remove(ip_network(cidr))

    def release(self, cidr):
        self.free.insert(0, ip_network(cidr))
'''

RANGES = {
    "kind's range": ("10.244.0.0/16", 24),
    "a small cluster": ("10.244.0.0/22", 24),
    "four pieces": ("192.168.8.0/24", 26),
    "one piece": ("10.1.2.0/24", 24),
    "wide pieces": ("10.0.0.0/8", 10),
}
STEPS, SEEDS = 30, 6
Step = tuple[str, str]


def cases() -> Iterator[Case]:
    """Nodes that come, go, and were there before."""
    for name, (cluster, mask) in RANGES.items():
        for seed in range(SEEDS):
            steps = list(_steps(Random(f"{name} {seed}"), cluster, mask))
            yield Case(
                name,
                f"history {seed}",
                _seen(CIDRSet, cluster, mask, steps),
                lambda a, c=cluster, m=mask, s=steps: _seen(a, c, m, s),  # type: ignore[misc]
                steps,
                [cluster, mask, steps],
            )


def _steps(dice: Random, cluster: str, mask: int) -> Iterator[Step]:
    """A piece that is given back was given before; the book's own says which."""
    pieces, given = CIDRSet(cluster, mask), list[str]()
    for _ in range(dice.randrange(3)):
        throwaway = CIDRSet(cluster, mask)
        for _ in range(dice.randrange(1, 5)):
            before = throwaway.allocate_next()
        if before and before not in given:
            pieces.occupy(before)
            given.append(before)
            yield "occupy", before
    yield "occupy", "172.16.0.0/24"
    for _ in range(STEPS):
        if given and dice.random() < 0.4:
            gone = given.pop(dice.randrange(len(given)))
            pieces.release(gone)
            yield "release", gone
        else:
            piece = pieces.allocate_next()
            given += [piece] if piece else []
            yield "allocate", ""


def _seen(make: Attempt, cluster: str, mask: int, steps: list[Step]) -> list[Any]:
    pieces: Any = make(cluster, mask)
    found = []
    for what, cidr in steps:
        if what == "allocate":
            found.append(pieces.allocate_next())
        elif what == "occupy":
            pieces.occupy(cidr)
        else:
            pieces.release(cidr)
    return found


def ours() -> Attempt:
    """The book's."""
    return CIDRSet


EXERCISE = Exercise(
    "node-cidrs",
    "A piece of the addresses for every node",
    CONTRACT,
    STARTER,
    "the book's own controller",
    cases,
    ours,
    ("inter-host-networking", "node-ipam"),
)
