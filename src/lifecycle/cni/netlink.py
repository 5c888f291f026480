"""Links, addresses, routes, neighbours: what CNI plugins and the overlay ask of the
kernel, through rtnetlink.

A plugin is a fresh process for each pod, twice. One attachment through the bridge
plugin takes some 0.15 to 0.2 seconds; with pyroute2 imported, and not even used, twice
to three times that, while the messages needed are two dozen. So this room speaks the
protocol itself.

Upstream: `vishvananda/netlink`, as `containernetworking/plugins` v1.9 and flannel use
it. Linux: `rtnetlink(7)`.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from lifecycle.cni.addresses import Address, Interface, Network
from lifecycle.cni.namespaces import entered
from lifecycle.cni.netlink_wire import (
    NLM_F_CREATE,
    NLM_F_DUMP,
    NLM_F_EXCL,
    NLM_F_REPLACE,
    NetlinkSocket,
    attribute,
    attributes,
    each_attribute,
    nested,
)

RTM_NEWLINK, RTM_DELLINK, RTM_GETLINK, RTM_SETLINK = 16, 17, 18, 19
RTM_NEWADDR, RTM_DELADDR, RTM_GETADDR = 20, 21, 22
RTM_NEWROUTE, RTM_DELROUTE, RTM_GETROUTE = 24, 25, 26
RTM_NEWNEIGH, RTM_DELNEIGH, RTM_GETNEIGH = 28, 29, 30
AF_BRIDGE = 7
IFF_UP, IFF_PROMISC = 0x1, 0x100
IFLA_ADDRESS, IFLA_IFNAME, IFLA_MTU, IFLA_LINK, IFLA_MASTER, IFLA_PROTINFO = (
    1,
    3,
    4,
    5,
    10,
    12,
)
IFLA_OPERSTATE, IFLA_LINKINFO, IFLA_AF_SPEC, IFLA_NET_NS_FD, IFLA_PROMISCUITY = (
    16,
    18,
    26,
    28,
    30,
)
IFLA_INFO_KIND, IFLA_INFO_DATA, VETH_INFO_PEER, IFLA_BR_VLAN_FILTERING = 1, 2, 1, 7
IFLA_BRPORT_MODE, IFLA_BRPORT_ISOLATED = 4, 33
(
    IFLA_VXLAN_ID,
    IFLA_VXLAN_LINK,
    IFLA_VXLAN_LOCAL,
    IFLA_VXLAN_LEARNING,
    IFLA_VXLAN_PORT,
) = 1, 3, 4, 7, 15
IFA_ADDRESS, IFA_LOCAL, IFA_BROADCAST, IFA_FLAGS = 1, 2, 4, 8
RTA_DST, RTA_OIF, RTA_GATEWAY, RTA_PRIORITY, RTA_PREFSRC, RTA_TABLE = 1, 4, 5, 6, 7, 15
RT_TABLE_MAIN, RT_TABLE_LOCAL = 254, 255
SCOPE_UNIVERSE, SCOPE_LINK, SCOPE_HOST, SCOPE_NOWHERE = 0, 253, 254, 255
RTPROT_BOOT, RTN_UNICAST, RTNH_F_ONLINK = 3, 1, 4
NDA_DST, NDA_LLADDR, NUD_PERMANENT, NTF_SELF = 1, 2, 0x80, 0x2
OPER_STATES = (
    "unknown",
    "not-present",
    "down",
    "lower-layer-down",
    "testing",
    "dormant",
    "up",
)
SCOPES = {SCOPE_UNIVERSE: "global", SCOPE_LINK: "link", SCOPE_HOST: "host"}


class LinkNotFoundError(OSError):
    """No interface of that name."""

    def __init__(self) -> None:
        super().__init__(errno.ENODEV, "Link not found")


@dataclass(slots=True, frozen=True)
class Link:
    """An interface. `parent`: the index of a veth's other end, in its own namespace."""

    index: int
    name: str
    flags: int
    mac: str = ""
    mtu: int = 0
    kind: str = ""
    parent: int = 0
    master: int = 0
    promiscuity: int = 0
    oper_state: str = "unknown"
    data: dict[int, bytes] = field(default_factory=dict)

    @property
    def up(self) -> bool:
        """Switched on (not: has a carrier)."""
        return bool(self.flags & IFF_UP)


@dataclass(slots=True, frozen=True)
class Route:
    """A route. `destination` None: the default route."""

    destination: Network | None
    gateway: Address | None = None
    link: int = 0
    scope: int = SCOPE_UNIVERSE
    source: Address | None = None
    priority: int = 0
    table: int = RT_TABLE_MAIN
    onlink: bool = False
    protocol: int = RTPROT_BOOT


@dataclass(slots=True, frozen=True)
class Neighbour:
    """An ARP or (bridge family) forwarding entry: to reach this MAC address, send to
    `destination`.
    """

    link: int
    mac: str
    destination: Address
    state: int = NUD_PERMANENT


def mac_bytes(mac: str) -> bytes:
    """Raises ValueError for what is not an address."""
    parts = mac.replace("-", ":").split(":")
    if len(parts) != 6:
        raise ValueError(f"address {mac}: invalid MAC address")
    return bytes(int(part, 16) for part in parts)


def mac_text(raw: bytes) -> str:
    """`02:42:ac:13:00:02`."""
    return ":".join(f"{byte:02x}" for byte in raw)


class Netlink:
    """One namespace's network: ours, or that of `netns`, in which the socket is opened.

    Every method raises OSError with the kernel's number.
    """

    def __init__(self, netns: str = "") -> None:
        if netns:
            with entered(netns):
                self._socket = NetlinkSocket()
        else:
            self._socket = NetlinkSocket()

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def __enter__(self) -> Netlink:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # -- links -------------------------------------------------------------------------

    def link_add(
        self, name: str, kind: str, *data: bytes, mtu: int = 0, mac: str = ""
    ) -> None:
        """A new interface. `data`: attributes of its kind."""
        parts = [attribute(IFLA_IFNAME, name)]
        parts += [attribute(IFLA_MTU, mtu)] if mtu > 0 else []
        parts += [attribute(IFLA_ADDRESS, mac_bytes(mac))] if mac else []
        info = [attribute(IFLA_INFO_KIND, kind.encode())] + (
            [nested(IFLA_INFO_DATA, *data)] if data else []
        )
        body = _ifinfo() + b"".join(parts) + nested(IFLA_LINKINFO, *info)
        self._socket.request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, body)

    def bridge_add(
        self, name: str, *, mtu: int = 0, vlan_filtering: bool = False
    ) -> None:
        """A bridge."""
        data = [attribute(IFLA_BR_VLAN_FILTERING, b"\1")] if vlan_filtering else []
        self.link_add(name, "bridge", *data, mtu=mtu)

    def veth_add(
        self, name: str, peer: str, *, peer_netns_fd: int, mtu: int = 0, mac: str = ""
    ) -> None:
        """A pair: `name` here, `peer` in another namespace from the beginning."""
        far = [attribute(IFLA_IFNAME, peer), attribute(IFLA_NET_NS_FD, peer_netns_fd)]
        far += [attribute(IFLA_MTU, mtu)] if mtu > 0 else []
        self.link_add(
            name,
            "veth",
            nested(VETH_INFO_PEER, _ifinfo() + b"".join(far)),
            mtu=mtu,
            mac=mac,
        )

    def vxlan_add(
        self,
        name: str,
        vni: int,
        *,
        link: int,
        local: Address,
        port: int,
        learning: bool,
        mtu: int,
        mac: str,
    ) -> None:
        """A VXLAN device. Port 0 leaves the choice to the kernel (8472)."""
        data = [
            attribute(IFLA_VXLAN_ID, vni),
            attribute(IFLA_VXLAN_LINK, link),
            attribute(IFLA_VXLAN_LOCAL, local.packed),
            attribute(IFLA_VXLAN_LEARNING, bytes([learning])),
        ]
        data += [attribute(IFLA_VXLAN_PORT, struct.pack("!H", port))] if port else []
        self.link_add(name, "vxlan", *data, mtu=mtu, mac=mac)

    def links(self) -> list[Link]:
        """All interfaces."""
        return [
            _link(body)
            for _, body in self._socket.request(RTM_GETLINK, NLM_F_DUMP, _ifinfo())
        ]

    def link(self, name: str) -> Link:
        """The interface of this name. Raises LinkNotFoundError."""
        try:
            answers = self._socket.request(
                RTM_GETLINK, 0, _ifinfo() + attribute(IFLA_IFNAME, name)
            )
        except OSError as why:
            if why.errno in (errno.ENODEV, errno.ERANGE):
                raise LinkNotFoundError() from None
            raise
        return _link(answers[0][1])

    def link_set(
        self,
        index: int,
        *,
        up: bool | None = None,
        promiscuous: bool = False,
        **values: Any,
    ) -> None:
        """Switch on or off, and set `mac`, `mtu` or `master` (an index)."""
        flags = (IFF_UP if up else 0) | (IFF_PROMISC if promiscuous else 0)
        change = (IFF_UP if up is not None else 0) | (IFF_PROMISC if promiscuous else 0)
        body = _ifinfo(index=index, flags=flags, change=change)
        if "mac" in values:
            body += attribute(IFLA_ADDRESS, mac_bytes(values["mac"]))
        for key, kind in (("mtu", IFLA_MTU), ("master", IFLA_MASTER)):
            body += attribute(kind, values[key]) if key in values else b""
        self._socket.request(RTM_NEWLINK, 0, body)

    def bridge_port_set(
        self, index: int, *, hairpin: bool | None = None, isolated: bool | None = None
    ) -> None:
        """May a port send frames back where they came from? May it talk to other
        isolated ports?
        """
        parts = (
            [attribute(IFLA_BRPORT_MODE, bytes([hairpin]))]
            if hairpin is not None
            else []
        )
        parts += (
            [attribute(IFLA_BRPORT_ISOLATED, bytes([isolated]))]
            if isolated is not None
            else []
        )
        self._socket.request(
            RTM_SETLINK, 0, _ifinfo(AF_BRIDGE, index) + nested(IFLA_PROTINFO, *parts)
        )

    def bridge_vlan(
        self, index: int, vlan: int, *, native: bool = False, delete: bool = False
    ) -> None:
        """Let a port take part in a VLAN; `native`: untagged frames belong to it."""
        flags = 0x2 | 0x4 if native else 0
        spec = nested(IFLA_AF_SPEC, attribute(2, struct.pack("=HH", flags, vlan)))
        self._socket.request(
            RTM_DELLINK if delete else RTM_SETLINK, 0, _ifinfo(AF_BRIDGE, index) + spec
        )

    def link_del(self, index: int) -> None:
        """Remove an interface; a veth takes its other end along."""
        self._socket.request(RTM_DELLINK, 0, _ifinfo(index=index))

    # -- addresses ---------------------------------------------------------------------

    def addr_add(self, index: int, address: Interface) -> None:
        """Give an interface an address. IPv4 gets a broadcast address, as `ip addr add
        … brd +` does it.
        """
        self._socket.request(
            RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, self._addr(index, address)
        )

    def addr_del(self, index: int, address: Interface) -> None:
        """Take it away."""
        self._socket.request(RTM_DELADDR, 0, self._addr(index, address))

    def addrs(self, index: int, version: int = 0) -> list[Interface]:
        """An interface's addresses, of one IP version or (0) of both."""
        family = {0: 0, 4: socket.AF_INET, 6: socket.AF_INET6}[version]
        found: list[Interface] = []
        for _, body in self._socket.request(
            RTM_GETADDR, NLM_F_DUMP, struct.pack("=BBBBI", family, 0, 0, 0, 0)
        ):
            fam, length, _, _, owner = struct.unpack_from("=BBBBI", body)
            if owner == index and (not family or fam == family):
                values = attributes(body[8:])
                raw = values.get(IFA_LOCAL) or values[IFA_ADDRESS]
                found.append(ipaddress.ip_interface((raw, length)))
        return found

    def _addr(self, index: int, address: Interface) -> bytes:
        length = address.network.prefixlen
        scope = SCOPE_HOST if address.ip.is_loopback else SCOPE_UNIVERSE
        body = struct.pack("=BBBBI", _family(address), length, 0, scope, index)
        body += attribute(IFA_LOCAL, address.ip.packed) + attribute(
            IFA_ADDRESS, address.ip.packed
        )
        if address.version == 4 and length < 31:
            body += attribute(IFA_BROADCAST, address.network.broadcast_address.packed)
        return body

    # -- routes ------------------------------------------------------------------------

    def route_add(self, route: Route) -> None:
        """A new route."""
        self._socket.request(
            RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, _route_body(route)
        )

    def route_replace(self, route: Route) -> None:
        """A route, new or in place of one to the same destination."""
        self._socket.request(
            RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, _route_body(route)
        )

    def route_del(self, route: Route) -> None:
        """Remove a route. A route of scope nowhere stands for one of any scope."""
        self._socket.request(RTM_DELROUTE, 0, _route_body(route, protocol=0, kind=0))

    def routes(self, version: int = 4) -> list[Route]:
        """The routes of the main table."""
        family = socket.AF_INET if version == 4 else socket.AF_INET6
        answers = self._socket.request(
            RTM_GETROUTE, NLM_F_DUMP, struct.pack("=BBBBBBBBI", family, *[0] * 8)
        )
        found = [_route(body) for _, body in answers]
        return [
            route
            for route in found
            if route is not None and route.table == RT_TABLE_MAIN
        ]

    # -- neighbours --------------------------------------------------------------------

    def neigh_set(self, neighbour: Neighbour, *, bridge: bool = False) -> None:
        """A permanent ARP entry, or (`bridge`) an entry of a VXLAN device's forwarding
        table.
        """
        self._socket.request(
            RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, _neigh_body(neighbour, bridge)
        )

    def neigh_del(self, neighbour: Neighbour, *, bridge: bool = False) -> None:
        """Remove one."""
        self._socket.request(RTM_DELNEIGH, 0, _neigh_body(neighbour, bridge))

    def neighbours(self, index: int, *, bridge: bool = False) -> list[Neighbour]:
        """The permanent entries of an interface."""
        family = AF_BRIDGE if bridge else socket.AF_INET
        header = struct.pack(
            "=BBHiHBB", family, 0, 0, index if not bridge else 0, 0, 0, 0
        )
        if bridge:
            header = _ifinfo(AF_BRIDGE, index)
        found = []
        for _, body in self._socket.request(RTM_GETNEIGH, NLM_F_DUMP, header):
            _, _, _, owner, state, _, _ = struct.unpack_from("=BBHiHBB", body)
            values = attributes(body[12:])
            if (
                owner == index
                and state & NUD_PERMANENT
                and NDA_DST in values
                and NDA_LLADDR in values
            ):
                address = ipaddress.ip_address(values[NDA_DST])
                found.append(
                    Neighbour(owner, mac_text(values[NDA_LLADDR]), address, state)
                )
        return found


def _family(address: Interface | Address | Network) -> int:
    return socket.AF_INET if address.version == 4 else socket.AF_INET6


def _ifinfo(family: int = 0, index: int = 0, flags: int = 0, change: int = 0) -> bytes:
    return struct.pack("=BxHiII", family, 0, index, flags, change)


def _number(values: dict[int, bytes], kind: int) -> int:
    return int.from_bytes(values.get(kind, b""), "little")


def _link(body: bytes) -> Link:
    _, _, index, flags, _ = struct.unpack_from("=BxHiII", body)
    values = attributes(body[16:])
    info = attributes(values.get(IFLA_LINKINFO, b""))
    return Link(
        index,
        values[IFLA_IFNAME].rstrip(b"\0").decode(),
        flags,
        mac_text(values.get(IFLA_ADDRESS, b"")),
        _number(values, IFLA_MTU),
        info.get(IFLA_INFO_KIND, b"").rstrip(b"\0").decode(),
        _number(values, IFLA_LINK),
        _number(values, IFLA_MASTER),
        _number(values, IFLA_PROMISCUITY),
        OPER_STATES[_number(values, IFLA_OPERSTATE)],
        attributes(info.get(IFLA_INFO_DATA, b"")),
    )


def _route_body(
    route: Route, protocol: int | None = None, kind: int = RTN_UNICAST
) -> bytes:
    sample: Network | Address | None = route.destination or route.gateway
    version = sample.version if sample is not None else 4
    length = route.destination.prefixlen if route.destination is not None else 0
    protocol = route.protocol if protocol is None else protocol
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    flags = RTNH_F_ONLINK if route.onlink else 0
    table = route.table if route.table < 256 else 0
    body = struct.pack(
        "=BBBBBBBBI", family, length, 0, 0, table, protocol, route.scope, kind, flags
    )
    if route.destination is not None and length:
        body += attribute(RTA_DST, route.destination.network_address.packed)
    for attr, address in ((RTA_GATEWAY, route.gateway), (RTA_PREFSRC, route.source)):
        body += attribute(attr, address.packed) if address is not None else b""
    for attr, number in ((RTA_OIF, route.link), (RTA_PRIORITY, route.priority)):
        body += attribute(attr, number) if number else b""
    return body + (attribute(RTA_TABLE, route.table) if route.table >= 256 else b"")


def _route(body: bytes) -> Route | None:
    family, length, _, _, table, protocol, scope, kind, flags = struct.unpack_from(
        "=BBBBBBBBI", body
    )
    if kind != RTN_UNICAST:
        return None
    values = dict(each_attribute(body[12:]))
    size = 4 if family == socket.AF_INET else 16
    raw = values.get(RTA_DST, b"\0" * size)
    gateway, source = values.get(RTA_GATEWAY), values.get(RTA_PREFSRC)
    return Route(
        ipaddress.ip_network((raw, length)) if length else None,
        ipaddress.ip_address(gateway) if gateway else None,
        _number(values, RTA_OIF),
        scope,
        ipaddress.ip_address(source) if source else None,
        _number(values, RTA_PRIORITY),
        _number(values, RTA_TABLE) or table,
        bool(flags & RTNH_F_ONLINK),
        protocol,
    )


def _neigh_body(neighbour: Neighbour, bridge: bool) -> bytes:
    family = AF_BRIDGE if bridge else _family(neighbour.destination)
    flags, kind = (NTF_SELF, 0) if bridge else (0, RTN_UNICAST)
    body = struct.pack(
        "=BBHiHBB", family, 0, 0, neighbour.link, neighbour.state, flags, kind
    )
    return (
        body
        + attribute(NDA_DST, neighbour.destination.packed)
        + attribute(NDA_LLADDR, mac_bytes(neighbour.mac))
    )


def names(links: Iterable[Link]) -> dict[int, str]:
    """Index → name."""
    return {link.index: link.name for link in links}
