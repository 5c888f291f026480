"""Addresses and routes of a result, put onto an interface: what is there afterwards, and what is said if it cannot be."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.cni.errors import CNIError
from lifecycle.cni.namespaces import with_net_ns_path
from lifecycle.cni.netlink.handle import Netlink
from lifecycle.cni.plugins import ipam
from lifecycle.cni.plugins.ipam import configure_iface

ETH0 = [{"name": "eth0"}]
SWITCHES = [f"net/ipv6/conf/{name}" for name in ("lo/disable_ipv6", "eth0/disable_ipv6", "eth0/keep_addr_on_down")]


@pytest.fixture
def pod(host: Any) -> Any:
    """With an interface that is off, and no IPv6."""
    made = host.pod()
    host.sh("ip link add eth0 type veth peer name other", made)
    host.sh("ip link set other up", made)
    with with_net_ns_path(made.path):
        for switch in SWITCHES[:2]:
            Path("/proc/sys", switch).write_text("1")
    return made


def configured(pod: Any, result: dict[str, Any], name: str = "eth0") -> str:
    """What is said against it."""
    with with_net_ns_path(pod.path), Netlink() as inside:
        try:
            configure_iface(inside, name, {"interfaces": ETH0, **result})
        except CNIError as error:
            return str(error)
    return ""


def switches(pod: Any) -> list[str]:
    with with_net_ns_path(pod.path):
        return [Path("/proc/sys", switch).read_text().strip() for switch in SWITCHES]


FOUR = {"address": "10.1.0.5/24", "gateway": "10.1.0.1", "interface": 0}
SIX = {"address": "fd00::5/64", "interface": 0}
SIX_TOO = {"address": "fd01::5/64", "gateway": "fd01::1", "interface": 0}


@pytest.mark.parametrize(
    ("ips", "after", "addresses"),
    [
        ([FOUR], ["1", "1", "0"], {"10.1.0.5"}),
        ([SIX], ["0", "0", "1"], {"fd00::5"}),
        ([FOUR, SIX], ["0", "0", "1"], {"10.1.0.5", "fd00::5"}),
        ([SIX, FOUR, SIX_TOO], ["0", "0", "1"], {"10.1.0.5", "fd00::5", "fd01::5"}),
        ([{**FOUR, "interface": None}, SIX], ["0", "0", "1"], {"fd00::5"}),  # not this interface's business
    ],
)
def test_ipv6_is_switched_on_only_where_an_address_needs_it(
    host: Any, pod: Any, ips: Any, after: list[str], addresses: set[str]
) -> None:
    assert configured(pod, {"ips": ips}) == ""
    assert switches(pod) == after
    (link,) = host.ip("addr show dev eth0", pod)
    assert {info["local"] for info in link["addr_info"] if info["scope"] == "global"} == addresses
    assert not any(info.get("tentative") for info in link["addr_info"] if SIX_TOO in ips), "it was waited for"
    assert "UP" in link["flags"]


def test_a_route_goes_by_its_own_gateway_or_by_that_of_the_first_address_of_its_kind(host: Any, pod: Any) -> None:
    second = {"address": "10.2.0.5/24", "gateway": "10.2.0.1", "interface": 0}
    routes = [
        {"dst": "0.0.0.0/0"},
        {"dst": "10.8.0.0/16", "gw": "10.1.0.9", "priority": 7},
        {"dst": "10.9.0.0/16"},
        {"dst": "10.7.0.0/16", "table": 99, "gw": "10.1.0.1"},
        {"dst": "fd02::7/64"},
        {"dst": "::/0"},
    ]
    assert configured(pod, {"ips": [FOUR, second, SIX_TOO], "routes": routes}) == ""

    def seen(where: str) -> set[str]:
        return {
            " ".join(line.split()) for line in host.sh(f"ip {where}", pod).splitlines() if "proto kernel" not in line
        }

    assert seen("route") == {
        "default via 10.1.0.1 dev eth0",
        "10.8.0.0/16 via 10.1.0.9 dev eth0 metric 7",
        "10.9.0.0/16 via 10.1.0.1 dev eth0",
    }
    assert seen("route show table 99") == {"10.7.0.0/16 via 10.1.0.1 dev eth0"}
    assert seen("-6 route") == {
        "fd02::/64 via fd01::1 dev eth0 metric 1024 pref medium",
        "default via fd01::1 dev eth0 metric 1024 pref medium",
    }


@pytest.mark.parametrize(
    ("result", "name", "said"),
    [
        ({"interfaces": [], "ips": [FOUR]}, "eth0", "no interfaces to configure"),
        ({"ips": [FOUR]}, "eth9", 'failed to lookup "eth9": Link not found'),
        *(
            ({"interfaces": interfaces, "ips": [{**ip, "interface": index}]}, "eth0",
             f'failed to add IP addr {{Interface:{index} Address:10.1.0.5/24 Gateway:{gateway}}} to "eth0": invalid interface index')
            for interfaces, index, ip, gateway in (
                (ETH0, 1, FOUR, "10.1.0.1"), (ETH0, -1, FOUR, "10.1.0.1"), ([{"name": "other"}], 0, FOUR, "10.1.0.1"),
                (ETH0, 5, {"address": "10.1.0.5/24"}, "<nil>"),
            )
        ),
        ({"ips": [FOUR, FOUR]}, "eth0",
         'failed to add IP addr {Interface:0 Address:10.1.0.5/24 Gateway:10.1.0.1} to "eth0": file exists'),
        ({"ips": [FOUR], "routes": [{"dst": "10.8.0.0/16", "gw": "10.1.0.9"}] * 2}, "eth0",
         "failed to add route '{10.8.0.0 ffff0000} via 10.1.0.9 dev eth0 metric 0 (Scope: universe, Table: 0)': file exists"),
        ({"ips": [FOUR], "routes": [{"dst": "10.8.0.0/16", "gw": "172.16.0.1", "priority": 3, "table": 7, "scope": 200}]}, "eth0",
         "failed to add route '{10.8.0.0 ffff0000} via 172.16.0.1 dev eth0 metric 3 (Scope: site, Table: 7)': network is unreachable"),
        ({"ips": [{"address": "10.1.0.5/24", "interface": 0}], "routes": [{"dst": "10.8.0.0/16", "scope": 253}] * 2}, "eth0",
         "failed to add route '{10.8.0.0 ffff0000} via <nil> dev eth0 metric 0 (Scope: link, Table: 0)': file exists"),
        ({"ips": [FOUR], "routes": [{"dst": "10.9.1.2/16"}]}, "eth0",
         "failed to add route '{10.9.1.2 ffff0000} via 10.1.0.1 dev eth0 metric 0 (Scope: universe, Table: 0)': invalid argument"),
        ({"ips": [SIX_TOO], "routes": [{"dst": "fd02::/64", "gw": "fd09::1"}]}, "eth0",
         "failed to add route '{fd02:: ffffffffffffffff0000000000000000} via fd09::1 dev eth0 metric 0 (Scope: universe, Table: 0)':"
         " no route to host"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_as_upstream_says_it(pod: Any, result: Any, name: str, said: str) -> None:
    assert configured(pod, result, name) == said


def test_a_second_way_to_the_same_place_stands_beside_the_first(host: Any, pod: Any) -> None:
    """`RouteAddEcmp`: upstream does not ask for the only route to a place."""
    routes = [{"dst": "10.8.0.0/16", "gw": gateway} for gateway in ("10.1.0.9", "10.1.0.8")]
    assert configured(pod, {"ips": [FOUR], "routes": routes}) == ""
    shown = host.sh("ip route show 10.8.0.0/16", pod).splitlines()
    assert [line.strip() for line in shown] == [
        f"10.8.0.0/16 via {gateway} dev eth0" for gateway in ("10.1.0.8", "10.1.0.9")
    ]


def test_an_address_that_somebody_else_has_is_refused(host: Any) -> None:
    pod, neighbour = host.pod(), host.pod()
    host.sh("ip link add eth0 type veth peer name eth1", pod)
    with open(neighbour.path) as theirs, with_net_ns_path(pod.path), Netlink() as inside:
        inside.veth_add("eth2", "eth0", peer_netns_fd=theirs.fileno())
    host.sh("ip link set eth0 up", neighbour)
    host.sh("ip addr add fd01::5/64 dev eth0 nodad", neighbour)
    said = configured(pod, {"interfaces": [{"name": "eth2"}], "ips": [SIX_TOO]}, "eth2")
    assert said == 'failed to settle addresses for "eth2": link eth2 has address fd01::5 in DADFAILED state'


@pytest.mark.parametrize(("state", "waited"), [("up", True), ("down", False)])
def test_an_address_that_stays_tentative_is_refused_where_there_is_a_link(
    monkeypatch: pytest.MonkeyPatch, state: str, waited: bool
) -> None:
    now, slept = [100.0], list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += 1

    monkeypatch.setattr(ipam.time, "sleep", sleep)
    monkeypatch.setattr(ipam.time, "monotonic", lambda: now[0])
    lines = [
        f"{number:032x} 02 40 00 {flags} {name}"
        for number, flags, name in ((1, "80", "eth0"), (2, "c0", "eth0"), (3, "88", "eth1"))
    ]
    monkeypatch.setattr(
        ipam.Path, "read_text", lambda path: "\n".join([*lines, ""]) if str(path) == "/proc/net/if_inet6" else ""
    )
    link = SimpleNamespace(link=lambda name: SimpleNamespace(oper_state=state))
    if waited:
        with pytest.raises(CNIError, match=r"^link eth0 still has tentative addresses after 5000000000 seconds$"):
            ipam.settle_addresses(link, "eth0")  # type: ignore[arg-type]
    else:
        ipam.settle_addresses(link, "eth0")  # type: ignore[arg-type]
    assert slept == [0.05] * 6
