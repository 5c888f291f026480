"""Which address a Service is given that names none: the start of a range is for those who name theirs.

How many that are the documentation of Kubernetes says as a formula ("Service ClusterIP allocation").
"""

from __future__ import annotations

import random
from ipaddress import IPv4Network, ip_address
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.api.status import StatusError
from lifecycle.apiserver.registry.core.service.store import ServiceStore, range_offset


@pytest.mark.parametrize(
    ("length", "left"),
    [(32, 0), (28, 0), (27, 16), (25, 16), (24, 16), (23, 32), (20, 256), (16, 256), (8, 256)],
)
def test_a_sixteenth_is_left_but_sixteen_at_least_and_256_at_most_and_nothing_of_a_small_range(
    length: int, left: int
) -> None:
    assert range_offset(IPv4Network((0, length))) == left


def picked(taken: set[str], *ranges: str, seed: int = 1) -> str:
    networks = [IPv4Network(each) for each in ranges]
    names = SimpleNamespace(random=random.Random(seed))
    store: Any = SimpleNamespace(
        environment=SimpleNamespace(names=names), addresses=SimpleNamespace(networks=lambda: networks)
    )
    return ServiceStore._pick_address(store, taken)


def test_all_addresses_are_given_but_the_first_and_the_last_and_the_fixed_ones_at_the_end() -> None:
    taken: set[str] = set()
    order = []
    while len(taken) < 30:
        order.append(picked(taken, "10.1.0.0/27", seed=len(taken)))
        taken.add(order[-1])
    numbers = [int(ip_address(each)) - int(ip_address("10.1.0.0")) for each in order]
    assert sorted(numbers[:14]) == list(range(17, 31))
    assert sorted(numbers[14:]) == list(range(1, 17))
    assert numbers[:14] != sorted(numbers[:14]), "the dice say where"
    with pytest.raises(StatusError, match=r"Internal error occurred: failed to allocate a serviceIP: range is full$"):
        picked(taken, "10.1.0.0/27")
    assert picked(taken, "10.1.0.0/27", "10.2.0.0/30") in ("10.2.0.1", "10.2.0.2")


def test_of_a_range_of_sixteen_any_address_may_come_first() -> None:
    assert {picked(set(), "10.1.0.0/28", seed=seed) for seed in range(300)} == {f"10.1.0.{n}" for n in range(1, 15)}
