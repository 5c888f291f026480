"""host-local: which address does the next pod get?

The book's own allocator, with which the attempt is compared, gives the same addresses
as the plugin that Debian ships, step by step; the tests see to that wherever that
plugin is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from lifecycle.cni.addresses import Address
from lifecycle.cni.errors import CNIError
from lifecycle.cni.plugins.host_local.allocator import IPAllocator
from lifecycle.cni.plugins.host_local.ranges import RangeSet
from lifecycle.exercises.exercise import Attempt, Case, Exercise

CONTRACT = """\
Allocator(ranges): a class.

ranges: a list of {"subnet": "10.1.0.0/29"}, with "rangeStart", "rangeEnd" and
        "gateway" where they are not the defaults.
add(container) -> "address/prefix", or None if nothing is free.
        Addresses go round and round: the search begins after the one that was given
        last, even if that one was given back meanwhile; after the last range comes
        the first. Never given: the subnet's network address, its broadcast address
        (IPv6 has none), and its gateway (by default the first address).
delete(container): gives its address back; nothing happens for one that has none."""

STARTER = '''\
from ipaddress import ip_network


class Allocator:
    """Addresses for containers, from ranges."""

    def __init__(self, ranges):
        self.subnets = [ip_network(one["subnet"]) for one in ranges]
        self.taken = {}

    def add(self, container):
        for subnet in self.subnets:
            for address in subnet.hosts():
                if address not in self.taken.values():
                    self.taken[container] = address
                    return f"{address}/{subnet.prefixlen}"
        return None

    def delete(self, container):
        self.taken.pop(container, None)
'''

RANGES: dict[str, list[dict[str, str]]] = {
    "a small subnet": [{"subnet": "10.1.0.0/29"}],
    "a pod subnet": [{"subnet": "10.244.1.0/24"}],
    "part of a subnet": [
        {"subnet": "10.2.0.0/24", "rangeStart": "10.2.0.10", "rangeEnd": "10.2.0.14"}
    ],
    "another gateway": [{"subnet": "10.3.0.0/29", "gateway": "10.3.0.4"}],
    "two ranges": [{"subnet": "10.4.0.0/30"}, {"subnet": "10.5.0.0/29"}],
    "IPv6": [{"subnet": "fd00:1::/125"}],
}
STEPS, SEED = 60, 7
Step = tuple[str, str]


def cases() -> Iterator[Case]:
    """Adds and deletes at random, over ranges of several shapes."""
    for name, ranges in RANGES.items():
        for seed in range(SEED):
            steps = list(_steps(Random(f"{name} {seed}")))
            ask: Callable[[Attempt], object] = _asking(ranges, steps)
            yield Case(
                name,
                f"history {seed}",
                _seen(_Ours, ranges, steps),
                ask,
                [ranges, steps],
            )


def _steps(dice: Random) -> Iterator[Step]:
    there: list[str] = []
    for number in range(STEPS):
        if there and dice.random() < 0.4:
            yield "delete", there.pop(dice.randrange(len(there)))
        else:
            there.append(f"container-{number}")
            yield "add", there[-1]
    yield "delete", "never-seen"


def _asking(
    ranges: list[dict[str, str]], steps: list[Step]
) -> Callable[[Attempt], object]:
    return lambda attempt: _seen(attempt, ranges, steps)


def _seen(make: Attempt, ranges: list[dict[str, str]], steps: list[Step]) -> list[Any]:
    allocator: Any = make(ranges)
    return [
        getattr(allocator, what)(container)
        for what, container in steps
        if what == "add" or allocator.delete(container)
    ]


class _InMemory:
    """What the plugin keeps in files, in a dict."""

    def __init__(self) -> None:
        self.taken: dict[Address, str] = {}
        self.last: Address | None = None

    def reserve(
        self, container_id: str, if_name: str, address: Address, range_id: str
    ) -> bool:
        """See `Store`."""
        if address in self.taken:
            return False
        self.taken[address], self.last = container_id, address
        return True

    def last_reserved_ip(self, range_id: str) -> Address | None:
        """See `Store`."""
        return self.last

    def get_by_id(self, container_id: str, if_name: str) -> list[Address]:
        """See `Store`."""
        return [
            address for address, owner in self.taken.items() if owner == container_id
        ]

    def release_by_id(self, container_id: str, if_name: str) -> None:
        """See `Store`."""
        for address in self.get_by_id(container_id, if_name):
            del self.taken[address]


class _Ours:
    """The book's allocator behind the contract's two verbs."""

    def __init__(self, ranges: list[dict[str, str]]) -> None:
        self.allocator = IPAllocator(RangeSet(ranges), _InMemory(), 0)

    def add(self, container: str) -> str | None:
        """The next address."""
        try:
            return self.allocator.get(container, "eth0")["address"]
        except CNIError:
            return None

    def delete(self, container: str) -> None:
        """Give back."""
        self.allocator.release(container, "eth0")


def ours() -> Attempt:
    """The book's."""
    return _Ours


EXERCISE = Exercise(
    "host-local",
    "Addresses for pods",
    CONTRACT,
    STARTER,
    "the book's own, which agrees with the real plugin",
    cases,
    ours,
    ("ipam", "host-local-ipam"),
)
