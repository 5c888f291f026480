"""Which addresses hold a range of Services."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from tests.controllers.alone import alone

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.controllers.servicecidrs import ServiceCIDRsController, contains


@pytest.mark.parametrize(
    ("outer", "inner", "inside"),
    [
        ("10.96.0.0/16", "10.96.1.0/24", True),
        ("10.96.0.0/16", "10.96.0.0/16", True),
        ("10.96.1.0/24", "10.96.0.0/16", False),
        ("10.96.0.0/24", "10.96.0.0/16", False),
        ("10.96.0.0/16", "10.97.0.0/24", False),
        ("::/0", "10.96.0.0/16", False),
        ("fd00::/64", "fd00::/112", True),
    ],
)
def test_a_range_is_inside_another_of_its_family(outer: str, inner: str, inside: bool) -> None:
    assert contains(ip_network(outer), ip_network(inner)) is inside


OURS = {
    "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
    "ipaddress.kubernetes.io/ip-family": "IPv4",
}


@pytest.mark.parametrize(
    ("address", "labels", "others", "can_go"),
    [
        ("10.97.0.5", OURS, [], False),
        ("10.97.0.5", {}, [], True),
        ("10.97.0.5", {**OURS, "ipaddress.kubernetes.io/managed-by": "me"}, [], True),
        ("10.97.0.5", {**OURS, "ipaddress.kubernetes.io/ip-family": "IPv6"}, [], True),
        ("10.98.0.5", OURS, [], True),
        ("10.97.0.5", OURS, ["10.97.0.0/25"], True),
        ("10.97.0.200", OURS, ["10.97.0.0/25"], False),
        ("10.97.0.200", OURS, ["10.97.0.0/25", "10.97.0.128/25"], True),
        ("10.97.0.200", OURS, ["10.0.0.0/8"], True),
        ("10.97.0.5", OURS, ["fd00:97::/64"], False),  # the other family has another home, this one has not
        ("10.97.0.5", OURS, ["fd00:97::/64", "10.97.0.0/16"], True),
    ],
)
def test_a_range_may_go_unless_it_is_the_only_home_of_an_address_that_a_server_gave(
    address: str, labels: dict[str, str], others: list[str], can_go: bool
) -> None:
    """Upstream: `canDeleteCIDR`. An address that somebody else keeps a note of holds nothing."""

    def cidr(name: str, *ranges: str) -> tuple[str, Object]:
        return "servicecidrs.networking.k8s.io", {"metadata": {"name": name}, "spec": {"cidrs": list(ranges)}}

    async def main() -> bool:
        both = ["fd00:97::/112"] if any(":" in text for text in others) else []
        more = cidr("more", "10.97.0.0/24", *both)
        around = [cidr(f"other-{i}", text) for i, text in enumerate(others)]
        given = "ipaddresses.networking.k8s.io", {"metadata": {"name": address, "labels": labels}}
        async with alone(ServiceCIDRsController, more, *around, given) as stage:
            allowed: bool = stage.controller._can_delete(more[1])
            return allowed

    assert run_virtual(main()) is can_go
