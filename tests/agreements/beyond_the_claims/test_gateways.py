"""Gateways: one default route for each kind of address, and none of them is ever given to a pod."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

import pytest

from lifecycle.cni.plugins.bridge import calc_gateways
from lifecycle.cni.plugins.host_local.allocator import candidates
from lifecycle.cni.plugins.host_local.ranges import RangeSet

A, B, SIX = "10.0.0.5/24", "10.1.0.5/24", "fd00::5/64"
ROUTES: dict[str, tuple[list[dict[str, str]], list[dict[str, str]], list[tuple[str, str]]]] = {
    "one address": ([{"address": A}], [], [("0.0.0.0/0", "10.0.0.1")]),
    "two of a kind: by the first": (
        [{"address": A}, {"address": B}], [], [("0.0.0.0/0", "10.0.0.1")],
    ),
    "two of a kind, the other way round": (
        [{"address": B}, {"address": A}], [], [("0.0.0.0/0", "10.1.0.1")],
    ),
    "one of each kind": (
        [{"address": A}, {"address": SIX}], [], [("0.0.0.0/0", "10.0.0.1"), ("::/0", "fd00::1")],
    ),
    "two of each kind": (
        [{"address": SIX}, {"address": A}, {"address": "fd01::5/64"}, {"address": B}], [],
        [("::/0", "fd00::1"), ("0.0.0.0/0", "10.0.0.1")],
    ),
    "IPAM has named the gateway": (
        [{"address": A, "gateway": "10.0.0.254"}], [], [("0.0.0.0/0", "10.0.0.254")],
    ),
    "IPAM has one already": (
        [{"address": A}, {"address": B}], [{"dst": "0.0.0.0/0", "gw": "10.0.0.9"}], [("0.0.0.0/0", "10.0.0.9")],
    ),
    "IPAM has one of the other kind": (
        [{"address": A}, {"address": B}], [{"dst": "::/0", "gw": "fd00::9"}],
        [("::/0", "fd00::9"), ("0.0.0.0/0", "10.0.0.1")],
    ),
    "one by no gateway does not count": (
        [{"address": A}, {"address": B}], [{"dst": "0.0.0.0/0"}], [("0.0.0.0/0", ""), ("0.0.0.0/0", "10.0.0.1")],
    ),
    "one to elsewhere neither": (
        [{"address": A}], [{"dst": "10.0.0.0/8", "gw": "10.0.0.9"}],
        [("10.0.0.0/8", "10.0.0.9"), ("0.0.0.0/0", "10.0.0.1")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ROUTES)
def test_a_pod_gets_one_default_route_for_each_kind_of_address(case: str) -> None:
    ips, given, routes = ROUTES[case]
    result: dict[str, Any] = {"ips": [{**ip} for ip in ips], "routes": [*given]}
    gateways = calc_gateways(result, {"is_gateway": True, "isDefaultGateway": True})
    assert [(route["dst"], route.get("gw", "")) for route in result["routes"]] == routes
    on_the_bridge = [str(each.ip) for version in (4, 6) for each in gateways[version]]
    assert sorted(on_the_bridge) == sorted(ip["gateway"] for ip in result["ips"]), "each of them answers"


def test_who_is_no_default_gateway_adds_no_route() -> None:
    result: dict[str, Any] = {"ips": [{"address": A}, {"address": SIX}]}
    gateways = calc_gateways(result, {"is_gateway": True})
    assert "routes" not in result
    assert {version: [str(each) for each in found] for version, found in gateways.items()} == {
        4: ["10.0.0.1/24"],
        6: ["fd00::1/64"],
    }


FIRST, SECOND = {"subnet": "10.0.0.0/29"}, {"subnet": "10.9.0.0/29"}
GIVEN: dict[str, tuple[list[dict[str, str]], str, str]] = {
    "one range": ([FIRST], "", "0.2 0.3 0.4 0.5 0.6"),
    "two: the gateway of each stays": ([FIRST, SECOND], "", "0.2 0.3 0.4 0.5 0.6 9.2 9.3 9.4 9.5 9.6"),
    "from within the first": ([FIRST, SECOND], "10.0.0.5", "0.6 9.2 9.3 9.4 9.5 9.6 0.2 0.3 0.4 0.5"),
    "from within the second": ([FIRST, SECOND], "10.9.0.4", "9.5 9.6 0.2 0.3 0.4 0.5 0.6 9.2 9.3 9.4"),
    "from the end of the second": ([FIRST, SECOND], "10.9.0.6", "0.2 0.3 0.4 0.5 0.6 9.2 9.3 9.4 9.5 9.6"),
    "gateways in the middle and at the end": (
        [{**FIRST, "gateway": "10.0.0.3"}, {**SECOND, "gateway": "10.9.0.6"}], "",
        "0.1 0.2 0.4 0.5 0.6 9.1 9.2 9.3 9.4 9.5",
    ),
    "a piece without its gateway in it": (
        [{**FIRST, "rangeStart": "10.0.0.5"}, {**SECOND, "rangeEnd": "10.9.0.2"}], "", "0.5 0.6 9.2",
    ),
    "pieces of one subnet, the gateway in the second": (
        [{**FIRST, "rangeStart": "10.0.0.4"}, {**FIRST, "rangeEnd": "10.0.0.3"}], "", "0.4 0.5 0.6 0.2 0.3",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", GIVEN)
def test_a_pod_may_have_any_address_but_a_gateways(case: str) -> None:
    ranges, last, given = GIVEN[case]
    found = candidates(RangeSet(ranges), ip_address(last) if last else None)
    assert [f"10.{part}" for part in _told(given)] == [str(address) for address, _ in found]


def _told(given: str) -> list[str]:
    return [f"{part[0]}.0.{part[2:]}" for part in given.split()]
