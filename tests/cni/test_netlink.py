"""What our netlink asks of the kernel is what `ip` sees afterwards, and what `ip` sets up our netlink reads."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import json
import struct
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.cni.addresses import parse_cidr
from lifecycle.cni.netlink.handle import Netlink
from lifecycle.cni.netlink.link import RTM_DELLINK, RTM_SETLINK, LinkNotFoundError, names
from lifecycle.cni.netlink.neigh import NUD_PERMANENT, Neighbour
from lifecycle.cni.netlink.route import Route

BRIDGE_VLAN_INFO_PVID, BRIDGE_VLAN_INFO_UNTAGGED = 2, 4
NESTED = 0x8000
MAC = "02:11:22:33:44:55"
ADDRESS, NETWORK = ipaddress.ip_address, ipaddress.ip_network


@pytest.fixture
def netlink(host: Any) -> Iterator[Netlink]:
    with Netlink(host.namespace.path) as opened:
        yield opened


def shown(host: Any, name: str) -> Any:
    (link,) = host.ip(f"-d link show dev {name}")
    return link


def plugged(host: Any, *names: str, up: bool = True) -> list[int]:
    """Interfaces with something at the other end."""
    for name in names:
        host.sh(f"ip link add {name} type veth peer name x{name}")
        host.sh(f"ip link set x{name} up")
        host.sh(f"ip link set {name} {'up' if up else 'down'}")
    return [shown(host, name)["ifindex"] for name in names]


@pytest.mark.parametrize("filtering", [None, False])
def test_a_bridge_is_made_once_and_sorts_by_no_vlan(host: Any, netlink: Netlink, filtering: Any) -> None:
    netlink.bridge_add("br0", mtu=1400, **({} if filtering is None else {"vlan_filtering": filtering}))
    link = shown(host, "br0")
    assert (link["linkinfo"]["info_kind"], link["mtu"]) == ("bridge", 1400)
    assert link["linkinfo"]["info_data"]["vlan_filtering"] == 0
    with pytest.raises(OSError, match=r"exists$") as refused:
        netlink.bridge_add("br0")
    assert refused.value.errno == errno.EEXIST


def test_a_bridge_that_is_to_sort_by_vlan_does_so_or_cannot(host: Any, netlink: Netlink) -> None:
    """Some kernels are built without it; then they refuse, for they have been asked."""
    try:
        netlink.bridge_add("br0", vlan_filtering=True)
        answer = shown(host, "br0")["linkinfo"]["info_data"]["vlan_filtering"]
    except OSError as error:
        answer = error.errno
    assert answer in (1, errno.EOPNOTSUPP)


def test_a_pair_has_its_other_end_in_the_other_namespace_from_the_beginning(host: Any, netlink: Netlink) -> None:
    pod = host.pod()
    with open(pod.path) as netns:
        netlink.veth_add("v0", "eth0", peer_netns_fd=netns.fileno(), mtu=1300, mac=MAC)
    here, there = shown(host, "v0"), host.ip("-d link show dev eth0", pod)[0]
    assert (here["linkinfo"]["info_kind"], here["mtu"], here["address"]) == ("veth", 1300, MAC)
    assert (there["linkinfo"]["info_kind"], there["mtu"]) == ("veth", 1300)
    assert there["address"] != MAC
    with Netlink(pod.path) as inside:
        ends = netlink.link("v0"), inside.link("eth0")
    assert [(end.parent, end.kind, end.mtu) for end in ends] == [
        (ends[1].index, "veth", 1300), (ends[0].index, "veth", 1300)
    ]  # fmt: skip
    netlink.link_del(ends[0].index)
    assert [link["ifname"] for link in host.ip("link", pod)] == ["lo"]


@pytest.mark.parametrize(("port", "learning"), [(0, False), (4789, True)])
def test_a_vxlan_device_has_its_number_port_and_end(host: Any, netlink: Netlink, port: int, learning: bool) -> None:
    (under,) = plugged(host, "d0")
    netlink.vxlan_add(
        "vx", 7, link=under, local=ADDRESS("10.1.0.5"), port=port, learning=learning, mtu=1410, mac=MAC
    )  # fmt: skip
    link = shown(host, "vx")
    data = link["linkinfo"]["info_data"]
    assert (link["mtu"], link["address"], link["linkinfo"]["info_kind"]) == (1410, MAC, "vxlan")
    assert (data["id"], data["link"], data["local"], data["port"]) == (7, "d0", "10.1.0.5", port or 8472)
    assert data.get("learning", False) is learning


def test_an_interface_is_switched_and_changed_in_no_other_way(host: Any, netlink: Netlink) -> None:
    (index,) = plugged(host, "d0", up=False)
    netlink.bridge_add("br0")
    bridge = shown(host, "br0")["ifindex"]

    def now() -> tuple[bool, bool, Any, Any, Any]:
        link = shown(host, "d0")
        flags = link["flags"]
        return "UP" in flags, "PROMISC" in flags, link["mtu"], link["address"] == MAC, link.get("master")

    assert now() == (False, False, 1500, False, None)
    for change, after in (
        ({"up": True}, (True, False, 1500, False, None)),
        ({"mtu": 1450}, (True, False, 1450, False, None)),
        ({"promiscuous": True}, (True, True, 1450, False, None)),
        ({"mac": MAC}, (True, True, 1450, True, None)),
        ({"master": bridge}, (True, True, 1450, True, "br0")),
        ({"up": False}, (False, True, 1450, True, "br0")),
        ({"up": True, "mtu": 1500, "master": 0}, (True, True, 1500, True, None)),
    ):
        netlink.link_set(index, **change)  # type: ignore[arg-type]
        assert now() == after, change


def test_a_port_sends_back_and_keeps_apart_only_if_it_is_told_to(host: Any, netlink: Netlink) -> None:
    (index,) = plugged(host, "d0")
    netlink.bridge_add("br0")
    netlink.link_set(index, master=netlink.link("br0").index)

    def now() -> tuple[bool, bool]:
        data = shown(host, "d0")["linkinfo"]["info_slave_data"]
        return data["hairpin"], data["isolated"]

    assert now() == (False, False)
    for change, after in (
        ({"hairpin": True}, (True, False)),
        ({"isolated": True}, (True, True)),
        ({"hairpin": False}, (False, True)),
        ({"isolated": False}, (False, False)),
    ):
        netlink.bridge_port_set(index, **change)
        assert now() == after, change


@pytest.mark.parametrize(
    ("asked", "kind", "flags"),
    [
        ({}, RTM_SETLINK, 0),
        ({"native": True}, RTM_SETLINK, BRIDGE_VLAN_INFO_PVID | BRIDGE_VLAN_INFO_UNTAGGED),
        ({"delete": True}, RTM_DELLINK, 0),
    ],
)
def test_a_port_takes_part_in_a_vlan(asked: dict[str, bool], kind: int, flags: int) -> None:
    """By the kernel's `if_bridge.h`: many kernels are built without it, so the message itself is looked at."""
    messages: list[tuple[int, int, bytes]] = []

    class Listening(Netlink):
        def __init__(self) -> None:
            self._socket = SimpleNamespace(request=lambda *message: messages.append(message))  # type: ignore[assignment]

    Listening().bridge_vlan(5, 100, **asked)
    ((sent, request_flags, body),) = messages
    assert (sent, request_flags) == (kind, 0)
    assert struct.unpack("=BxHiII", body[:16]) == (7, 0, 5, 0, 0)
    assert struct.unpack("=HHHHHH", body[16:]) == (12, 26 | NESTED, 8, 2, flags, 100)


def test_a_link_is_read_as_it_is(host: Any, netlink: Netlink) -> None:
    plugged(host, "d0", "d1")
    host.sh("ip link add br0 type bridge")
    for command in ("d0 master br0", "d0 promisc on", "d0 mtu 1234", f"d0 address {MAC}", "d1 down"):
        host.sh(f"ip link set {command}")
    first, second, bridge = (netlink.link(name) for name in ("d0", "d1", "br0"))
    assert (first.name, first.kind, first.mac, first.mtu, first.up) == ("d0", "veth", MAC, 1234, True)
    assert (first.master, first.promiscuity, second.promiscuity) == (bridge.index, 2, 0)
    assert (second.up, second.oper_state, second.master) == (False, "down", 0)
    assert bridge.kind == "bridge"
    assert names(netlink.links()) == {link["ifindex"]: link["ifname"] for link in host.ip("link")}
    assert {link.name: link.oper_state.replace("lower-layer-", "lowerlayer").upper() for link in netlink.links()} == {
        link["ifname"]: link["operstate"] for link in host.ip("link")
    }
    for missing in ("nobody", "a name that is longer than any"):
        with pytest.raises(LinkNotFoundError, match=r"Link not found$"):
            netlink.link(missing)


def test_the_state_of_a_pair_follows_its_other_end(host: Any, netlink: Netlink) -> None:
    host.sh("ip link add v0 type veth peer name v1")
    host.sh("ip link set v0 up")
    assert netlink.link("v0").oper_state == "lower-layer-down"
    host.sh("ip link set v1 up")
    assert {netlink.link(name).oper_state for name in ("v0", "v1")} == {"up"}


def test_addresses_come_and_go_each_with_what_belongs_to_it(host: Any, netlink: Netlink) -> None:
    index, other = plugged(host, "d0", "d1")
    four, six, single = (parse_cidr(text) for text in ("10.1.0.5/24", "fd00::5/64", "10.1.0.9/32"))
    for address in (four, six, single):
        netlink.addr_add(index, address)
    netlink.addr_add(netlink.link("lo").index, parse_cidr("127.0.0.2/8"))

    def seen(name: str) -> set[tuple[Any, ...]]:
        (link,) = host.ip(f"addr show dev {name}")
        infos = [info for info in link["addr_info"] if info["scope"] != "link"]
        return {(i["local"], i["prefixlen"], i.get("broadcast"), i["scope"]) for i in infos}

    assert seen("d0") == {
        ("10.1.0.5", 24, "10.1.0.255", "global"),
        ("fd00::5", 64, None, "global"),
        ("10.1.0.9", 32, None, "global"),
    }
    assert ("127.0.0.2", 8, "127.255.255.255", "host") in seen("lo")
    with pytest.raises(OSError, match=r"exists$"):
        netlink.addr_add(index, four)
    assert netlink.addrs(index, 4) == [four, single]
    assert six in netlink.addrs(index, 6)
    assert not {four, single} & set(netlink.addrs(index, 6))
    assert {four, single, six} < set(netlink.addrs(index)), "and the one of its own link"
    assert netlink.addrs(other, 4) == []
    netlink.addr_del(index, four)
    assert netlink.addrs(index, 4) == [single]
    with pytest.raises(OSError, match=r"assign requested address$"):
        netlink.addr_del(index, four)


def test_routes_are_set_and_read_with_all_that_they_say(host: Any, netlink: Netlink) -> None:
    index, other = plugged(host, "d0", "d1")
    host.sh("ip addr add 10.1.0.5/24 dev d0")
    host.sh("ip addr add fd00::5/64 dev d0")
    via = ADDRESS("10.1.0.1")
    netlink.route_add(Route(NETWORK("10.8.0.0/16"), via, index, priority=7))
    netlink.route_add(Route(None, via, index))
    netlink.route_add(Route(NETWORK("10.9.0.0/16"), None, index, scope=253, source=ADDRESS("10.1.0.5")))
    netlink.route_add(Route(NETWORK("fd01::/64"), ADDRESS("fd00::1"), index))
    netlink.route_add(Route(NETWORK("10.7.0.0/16"), ADDRESS("192.168.9.9"), other, onlink=True))
    netlink.route_add(Route(NETWORK("10.6.0.0/16"), via, index, table=1000))
    netlink.route_add(Route(NETWORK("10.5.0.0/16"), via, index, table=99))

    def seen(where: str) -> list[str]:
        return sorted(" ".join(line.split()) for line in host.sh(f"ip {where}").splitlines())

    assert [line for line in seen("route") if "proto kernel" not in line] == [
        "10.7.0.0/16 via 192.168.9.9 dev d1 onlink",
        "10.8.0.0/16 via 10.1.0.1 dev d0 metric 7",
        "10.9.0.0/16 dev d0 scope link src 10.1.0.5",
        "default via 10.1.0.1 dev d0",
    ]
    assert seen("route show table 1000") == ["10.6.0.0/16 via 10.1.0.1 dev d0"]
    assert seen("route show table 99") == ["10.5.0.0/16 via 10.1.0.1 dev d0"]
    assert "fd01::/64 via fd00::1 dev d0 metric 1024 pref medium" in seen("-6 route")
    with pytest.raises(OSError, match=r"exists$"):
        netlink.route_add(Route(None, via, index))

    every = {route.destination: route for route in netlink.routes(4)}
    assert set(every) == {None, *map(NETWORK, ("10.1.0.0/24", "10.7.0.0/16", "10.8.0.0/16", "10.9.0.0/16"))}
    assert every[NETWORK("10.8.0.0/16")] == Route(NETWORK("10.8.0.0/16"), via, index, priority=7)
    assert every[None] == Route(None, via, index)
    assert (every[NETWORK("10.9.0.0/16")].scope, every[NETWORK("10.9.0.0/16")].source) == (253, ADDRESS("10.1.0.5"))
    assert every[NETWORK("10.7.0.0/16")].onlink
    assert not every[NETWORK("10.8.0.0/16")].onlink
    assert every[NETWORK("10.1.0.0/24")].protocol == 2, "the kernel's own"
    assert ADDRESS("fd00::1") in {route.gateway for route in netlink.routes(6)}

    netlink.route_replace(Route(None, ADDRESS("10.1.0.2"), index))
    assert "default via 10.1.0.2 dev d0" in seen("route")
    netlink.route_del(Route(NETWORK("10.9.0.0/16"), None, index, scope=255))
    assert NETWORK("10.9.0.0/16") not in {route.destination for route in netlink.routes(4)}
    with pytest.raises(ProcessLookupError):
        netlink.route_del(Route(NETWORK("10.9.0.0/16"), None, index))


def test_neighbours_are_kept_for_good_each_kind_in_its_own_table(host: Any, netlink: Netlink) -> None:
    index, other = plugged(host, "d0", "d1")
    host.sh("ip link set d0 arp on")
    host.sh("ip link add vx type vxlan id 5 dev d1 dstport 4789")
    vxlan = netlink.link("vx").index
    near, far = Neighbour(index, MAC, ADDRESS("10.1.0.9")), Neighbour(vxlan, MAC, ADDRESS("192.168.0.9"))
    netlink.neigh_set(near)
    netlink.neigh_set(far, bridge=True)
    (entry,) = host.ip("neigh show dev d0")
    assert (entry["dst"], entry["lladdr"], entry["state"]) == ("10.1.0.9", MAC, ["PERMANENT"])
    (row,) = [each for each in json.loads(host.sh("bridge -j fdb show dev vx")) if each["mac"] == MAC]
    assert (row["dst"], row["flags"], row["state"]) == ("192.168.0.9", ["self"], "permanent")
    host.sh("ip neigh add 10.1.0.8 lladdr 02:00:00:00:00:08 dev d0 nud reachable")
    assert netlink.neighbours(index) == [near], "only those that are kept for good, and only this interface's"
    assert netlink.neighbours(other) == []
    assert netlink.neighbours(vxlan, bridge=True) == [far]
    assert near.state == NUD_PERMANENT
    moved = Neighbour(index, "02:00:00:00:00:01", near.destination)
    netlink.neigh_set(moved)
    assert netlink.neighbours(index) == [moved]
    netlink.neigh_del(moved)
    netlink.neigh_del(far, bridge=True)
    assert (netlink.neighbours(index), netlink.neighbours(vxlan, bridge=True)) == ([], [])


def test_what_the_kernel_refuses_has_its_number(netlink: Netlink) -> None:
    with pytest.raises(OSError, match=r"No such device$") as refused:
        netlink.link_del(9999)
    assert refused.value.errno == errno.ENODEV
    with contextlib.closing(Netlink()) as here, pytest.raises(LinkNotFoundError):
        here.link("nobody-has-it")
