"""What the bridge plugin asks of the kernel, step by step, and what it says when a step is refused."""

from __future__ import annotations

import errno
import os
from typing import Any

import pytest

from lifecycle.cni.addresses import parse_cidr
from lifecycle.cni.errors import CNIError
from lifecycle.cni.netlink.link import Link, LinkNotFoundError
from lifecycle.cni.plugins import bridge

BRIDGE = Link(7, "cni0", 0, "02:00:00:00:00:07", kind="bridge")
PORT = Link(8, "veth1", 0, kind="veth", parent=3)


class Kernel:
    """In the place of `Netlink`: notes what it is asked. `refuses`: call → number of the error; `addresses`: of each link."""

    def __init__(self, *links: Link, refuses: dict[str, int] | None = None, addresses: tuple[str, ...] = ()) -> None:
        self.links = {link.name: link for link in links}
        self.refuses = refuses or {}
        self.addresses = [parse_cidr(address) for address in addresses]
        self.asked: list[tuple[Any, ...]] = []

    def __getattr__(self, call: str) -> Any:
        def asked(*args: Any, **named: Any) -> None:
            self.asked.append((call, *map(str, args), *(f"{key}={value}" for key, value in named.items())))
            for key in (call, *(f"{call} {name}" for name in named)):
                if key in self.refuses:
                    raise OSError(self.refuses[key], os.strerror(self.refuses[key]))

        return asked

    def link(self, name: str) -> Link:
        if name not in self.links:
            raise LinkNotFoundError
        return self.links[name]

    def addrs(self, index: int, version: int) -> list[Any]:
        return [address for address in self.addresses if address.version == version]


@pytest.fixture
def switches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(bridge.ipam, "try_sysctl", lambda *switch: asked.append(switch))
    return asked


def said_against(step: Any, *args: Any) -> str:
    with pytest.raises(CNIError) as refused:
        step(*args)
    return str(refused.value)


@pytest.mark.parametrize(
    ("conf", "made"),
    [
        ({}, "mtu=0 vlan_filtering=False"),
        ({"mtu": 1400}, "mtu=1400 vlan_filtering=False"),
        ({"vlan": 5}, "mtu=0 vlan_filtering=True"),
        ({"vlan": 0}, "mtu=0 vlan_filtering=False"),
        ({"vlanTrunk": []}, "mtu=0 vlan_filtering=True"),
        ({"vlanTrunk": None}, "mtu=0 vlan_filtering=False"),
    ],
)
def test_a_bridge_is_made_filters_where_there_are_vlans_and_is_switched_on(
    switches: Any, conf: dict[str, Any], made: str
) -> None:
    kernel = Kernel(BRIDGE)
    assert bridge.ensure_bridge(kernel, {"bridge": "cni0", **conf}) is BRIDGE  # type: ignore[arg-type]
    assert kernel.asked == [("bridge_add", "cni0", *made.split()), ("link_set", "7", "up=True")]
    assert switches == [("net/ipv6/conf/cni0/accept_ra", "0")]


def test_a_bridge_that_is_there_is_taken_and_listens_to_all_if_it_shall(switches: Any) -> None:
    kernel = Kernel(BRIDGE, refuses={"bridge_add": errno.EEXIST})
    conf = {"bridge": "cni0", "promiscMode": True}
    assert bridge.ensure_bridge(kernel, conf) is BRIDGE  # type: ignore[arg-type]
    assert kernel.asked[1:] == [("link_set", "7", "promiscuous=True"), ("link_set", "7", "up=True")]


@pytest.mark.parametrize(
    ("name", "links", "refuses", "said"),
    [
        ("", [], {}, 'failed to create bridge "": could not add "": LinkAttrs.Name cannot be empty'),
        (
            "cni0",
            [],
            {"bridge_add": errno.EPERM},
            'failed to create bridge "cni0": could not add "cni0": operation not permitted',
        ),
        (
            "cni0",
            [],
            {"bridge_add": errno.EBUSY},
            f'failed to create bridge "cni0": could not add "cni0": {os.strerror(errno.EBUSY).lower()}',
        ),
        (
            "cni0",
            [],
            {"bridge_add": errno.ENODEV},
            'failed to create bridge "cni0": could not add "cni0": no such device',
        ),
        ("cni0", [], {}, 'could not lookup "cni0": Link not found'),
        ("veth1", [PORT], {}, 'failed to create bridge "veth1": "veth1" already exists but is not a bridge'),
    ],
)
def test_why_there_is_no_bridge(switches: Any, name: str, links: list[Link], refuses: Any, said: str) -> None:
    assert said_against(bridge.ensure_bridge, Kernel(*links, refuses=refuses), {"bridge": name}) == said


ADDED = [("addr_add", "7", "10.1.0.1/24"), ("link_set", "7", "mac=02:00:00:00:00:07")]


@pytest.mark.parametrize(
    ("present", "force", "asked"),
    [
        ((), False, ADDED),
        (("10.1.0.1/24",), False, []),
        (("fd00::1/64",), False, ADDED),
        (("10.2.0.1/24",), True, [("addr_del", "7", "10.2.0.1/24"), *ADDED]),
        (("10.2.0.1/24", "10.1.0.1/24"), True, [("addr_del", "7", "10.2.0.1/24")]),
    ],
)
def test_the_gateways_address_is_on_the_bridge_afterwards(present: Any, force: bool, asked: Any) -> None:
    kernel = Kernel(BRIDGE, addresses=present)
    bridge.ensure_addr(kernel, BRIDGE, parse_cidr("10.1.0.1/24"), force)  # type: ignore[arg-type]
    assert kernel.asked == asked


@pytest.mark.parametrize(
    ("present", "address", "in_the_way"),
    [
        ("10.2.0.1/24", "10.1.0.1/24", True),
        ("10.1.0.9/24", "10.1.0.1/24", True),
        ("fd00::9/64", "fd00::1/64", True),
        ("fd00::9/64", "fd00::1/128", True),
        ("fd00::1:9/128", "fd00::1/64", True),
        ("fd01::9/64", "fd00::1/64", False),
    ],
)
def test_another_address_of_the_same_network_is_in_the_way(present: str, address: str, in_the_way: bool) -> None:
    kernel = Kernel(BRIDGE, addresses=(present,))
    step = bridge.ensure_addr, kernel, BRIDGE, parse_cidr(address), False
    if in_the_way:
        said = f'"cni0" already has an IP address different from {address}'
        assert said_against(*step) == said
    else:
        step[0](*step[1:])  # type: ignore[arg-type]
        assert kernel.asked[0] == ("addr_add", "7", address)


def test_an_address_that_came_meanwhile_is_no_error_and_any_other_refusal_is() -> None:
    address = parse_cidr("10.1.0.1/24")
    kernel = Kernel(BRIDGE, refuses={"addr_add": errno.EEXIST})
    bridge.ensure_addr(kernel, BRIDGE, address, False)  # type: ignore[arg-type]
    assert kernel.asked == ADDED
    for number, words in ((errno.EPERM, "operation not permitted"), (errno.ENODEV, "no such device")):
        kernel = Kernel(BRIDGE, refuses={"addr_add": number})
        said = f'could not add IP address to "cni0": {words}'
        assert said_against(bridge.ensure_addr, kernel, BRIDGE, address, False) == said


PLUGGED = [
    ("link_set", "8", "master=7"),
    ("bridge_port_set", "8", "hairpin=False"),
    ("bridge_port_set", "8", "isolated=False"),
]


@pytest.mark.parametrize(
    ("conf", "asked"),
    [
        ({}, PLUGGED),
        ({"hairpinMode": True}, [PLUGGED[0], ("bridge_port_set", "8", "hairpin=True"), PLUGGED[2]]),
        ({"portIsolation": True}, [*PLUGGED[:2], ("bridge_port_set", "8", "isolated=True")]),
        ({"vlan": 5}, [*PLUGGED, ("bridge_vlan", "8", "1", "delete=True"), ("bridge_vlan", "8", "5", "native=True")]),
        ({"vlan": 5, "preserveDefaultVlan": True}, [*PLUGGED, ("bridge_vlan", "8", "5", "native=True")]),
        ({"vlans": [1, 3]},
         [*PLUGGED, ("bridge_vlan", "8", "1", "delete=True"), ("bridge_vlan", "8", "1"), ("bridge_vlan", "8", "3"),
          ("bridge_vlan", "8", "1", "native=True")]),
        ({"vlan": 5, "vlans": [3], "preserveDefaultVlan": True},
         [*PLUGGED, ("bridge_vlan", "8", "5", "native=True"), ("bridge_vlan", "8", "3")]),
    ],
)  # fmt: skip
def test_a_port_is_plugged_in_set_and_put_into_its_vlans(conf: dict[str, Any], asked: Any) -> None:
    kernel = Kernel(BRIDGE, PORT)
    bridge.plug(kernel, BRIDGE, PORT, {"vlans": [], **conf})  # type: ignore[arg-type]
    assert kernel.asked == asked


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("link_set", 'failed to connect "veth1" to bridge cni0: operation not permitted'),
        ("bridge_port_set hairpin", "failed to setup hairpin mode for veth1: operation not permitted"),
        ("bridge_port_set isolated", "failed to set isolated on for veth1: operation not permitted"),
        ("bridge_vlan delete", 'failed to remove default vlan on interface "veth1": operation not permitted'),
        ("bridge_vlan native", 'failed to setup vlan tag on interface "veth1": operation not permitted'),
    ],
)
def test_why_a_port_is_not_plugged_in(call: str, said: str) -> None:
    kernel = Kernel(BRIDGE, PORT, refuses={call: errno.EPERM})
    assert said_against(bridge.plug, kernel, BRIDGE, PORT, {"vlans": [], "vlan": 5}) == said


def test_a_gateway_is_the_first_address_of_the_subnet_unless_it_was_decided() -> None:
    result: Any = {"ips": [{"address": "10.1.0.5/24"}, {"address": "fd00::5/64", "gateway": "fd00::9"}]}
    gateways = bridge.calc_gateways(result, {"is_gateway": True})
    assert {version: [str(each) for each in found] for version, found in gateways.items()} == {
        4: ["10.1.0.1/24"],
        6: ["fd00::9/64"],
    }
    assert result["ips"] == [
        {"address": "10.1.0.5/24", "interface": 2, "gateway": "10.1.0.1"},
        {"address": "fd00::5/64", "interface": 2, "gateway": "fd00::9"},
    ]
    assert "routes" not in result


def test_who_is_no_gateway_has_no_gateway() -> None:
    result: Any = {"ips": [{"address": "10.1.0.5/24"}]}
    assert bridge.calc_gateways(result, {"is_gateway": False}) == {4: [], 6: []}
    assert result["ips"] == [{"address": "10.1.0.5/24", "interface": 2}]


@pytest.mark.parametrize(
    ("routes", "after"),
    [
        (None, [{"dst": "0.0.0.0/0", "gw": "10.1.0.1"}, {"dst": "::/0", "gw": "fd00::1"}]),
        ([{"dst": "0.0.0.0/0", "gw": "10.1.0.9"}], [{"dst": "0.0.0.0/0", "gw": "10.1.0.9"}, {"dst": "::/0", "gw": "fd00::1"}]),
        ([{"dst": "0.0.0.0/0"}, {"dst": "::/0", "gw": "fd00::9"}],
         [{"dst": "0.0.0.0/0"}, {"dst": "::/0", "gw": "fd00::9"}, {"dst": "0.0.0.0/0", "gw": "10.1.0.1"}]),
    ],
)  # fmt: skip
def test_a_default_route_is_added_for_each_family_that_has_none(routes: Any, after: Any) -> None:
    addresses = ("10.1.0.5/24", "10.2.0.5/24", "fd00::5/64")
    result: Any = {"ips": [{"address": address} for address in addresses]}
    if routes is not None:
        result["routes"] = routes
    bridge.calc_gateways(result, {"is_gateway": True, "isDefaultGateway": True})
    assert result["routes"] == after


@pytest.mark.parametrize(
    ("states", "pauses"),
    [
        (["up"], [0]),
        (["down", "up"], [0, 0.05]),
        (["down", "lowerlayerdown", "down", "down", "up"], [0, 0.05, 0.5, 1, 1]),
    ],
)
def test_the_port_is_waited_for_and_addresses_are_read_again(
    monkeypatch: pytest.MonkeyPatch, states: list[str], pauses: list[float]
) -> None:
    kernel, slept = Kernel(BRIDGE), list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        kernel.links["veth1"] = Link(8, "veth1", 0, "02:00:00:00:00:99", oper_state=states[len(slept) - 1])

    monkeypatch.setattr(bridge.time, "sleep", sleep)
    result: Any = {
        "interfaces": [{"name": "cni0", "mac": "old"}, {"name": "veth1", "mac": "old"}, {"name": "eth0", "mac": "kept"}]
    }
    bridge._finish(kernel, {"bridge": "cni0"}, result)  # type: ignore[arg-type]
    assert slept == pauses
    assert [each["mac"] for each in result["interfaces"]] == ["02:00:00:00:00:07", "02:00:00:00:00:99", "kept"]


def test_a_port_that_never_comes_up_is_an_error_unless_nobody_wants_it_up(monkeypatch: pytest.MonkeyPatch) -> None:
    slept = list[float]()
    monkeypatch.setattr(bridge.time, "sleep", slept.append)
    kernel = Kernel(BRIDGE, Link(8, "veth1", 0, "m", oper_state="lowerlayerdown"))
    result = {"interfaces": [{"name": "cni0"}, {"name": "veth1"}, {"name": "eth0"}]}
    said = said_against(bridge._finish, kernel, {"bridge": "cni0"}, result)
    assert (said, len(slept)) == ("bridge port in error state: lowerlayerdown", 5)
    slept.clear()
    bridge._finish(kernel, {"bridge": "cni0", "disableContainerInterface": True}, result)  # type: ignore[arg-type]
    assert slept == []
