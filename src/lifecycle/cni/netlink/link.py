"""Interfaces: what a link is, and its messages.

Upstream: `vishvananda/netlink`, `link.go`, `link_linux.go` (`LinkDeserialize`).
"""

from __future__ import annotations

import errno
import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

from lifecycle.cni.addresses import Address
from lifecycle.cni.netlink.wire import attribute, attributes, nested, number

RTM_NEWLINK, RTM_DELLINK, RTM_GETLINK, RTM_SETLINK = 16, 17, 18, 19
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
OPER_STATES = (
    "unknown",
    "not-present",
    "down",
    "lower-layer-down",
    "testing",
    "dormant",
    "up",
)


_MAC = re.compile(
    r"[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}",
    re.ASCII | re.IGNORECASE,
)
"""The three ways in which Go's `net.ParseMAC` reads six bytes."""


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


def parse_mac(mac: str) -> bytes:
    """Raises ValueError for what is not an address."""
    if not _MAC.fullmatch(mac):
        raise ValueError(f"address {mac}: invalid MAC address")
    return bytes.fromhex(re.sub("[-:.]", "", mac))


def hardware_addr(raw: bytes) -> str:
    """`02:42:ac:13:00:02`."""
    return ":".join(f"{byte:02x}" for byte in raw)


def ifinfomsg(
    family: int = 0, index: int = 0, flags: int = 0, change: int = 0
) -> bytes:
    """The fixed part of a link's message; `change` masks `flags`."""
    return struct.pack("=BxHiII", family, 0, index, flags, change)


def new_link_body(
    name: str, kind: str, *data: bytes, mtu: int = 0, mac: str = ""
) -> bytes:
    """A new interface. `data`: attributes of its kind."""
    parts = [attribute(IFLA_IFNAME, name)]
    parts += [attribute(IFLA_MTU, mtu)] if mtu > 0 else []
    parts += [attribute(IFLA_ADDRESS, parse_mac(mac))] if mac else []
    info = [attribute(IFLA_INFO_KIND, kind.encode())] + (
        [nested(IFLA_INFO_DATA, *data)] if data else []
    )
    return ifinfomsg() + b"".join(parts) + nested(IFLA_LINKINFO, *info)


def veth_peer(peer: str, netns_fd: int, mtu: int = 0) -> bytes:
    """The other end of a pair, in another namespace from the beginning."""
    parts = [attribute(IFLA_IFNAME, peer), attribute(IFLA_NET_NS_FD, netns_fd)]
    parts += [attribute(IFLA_MTU, mtu)] if mtu > 0 else []
    return nested(VETH_INFO_PEER, ifinfomsg() + b"".join(parts))


def vxlan_attrs(
    vni: int, *, link: int, local: Address, port: int, learning: bool
) -> list[bytes]:
    """What makes a link a VXLAN device. Port 0: the kernel chooses (8472)."""
    data = [
        attribute(IFLA_VXLAN_ID, vni),
        attribute(IFLA_VXLAN_LINK, link),
        attribute(IFLA_VXLAN_LOCAL, local.packed),
        attribute(IFLA_VXLAN_LEARNING, bytes([learning])),
    ]
    return data + (
        [attribute(IFLA_VXLAN_PORT, struct.pack("!H", port))] if port else []
    )


def bridge_port_body(
    index: int, *, hairpin: bool | None = None, isolated: bool | None = None
) -> bytes:
    """What a bridge's port may do; None leaves as it is."""
    parts = [
        attribute(kind, bytes([value]))
        for kind, value in (
            (IFLA_BRPORT_MODE, hairpin),
            (IFLA_BRPORT_ISOLATED, isolated),
        )
        if value is not None
    ]
    return ifinfomsg(AF_BRIDGE, index) + nested(IFLA_PROTINFO, *parts)


def link_deserialize(body: bytes) -> Link:
    """An RTM_NEWLINK message without its header."""
    _, _, index, flags, _ = struct.unpack_from("=BxHiII", body)
    values = attributes(body[16:])
    info = attributes(values.get(IFLA_LINKINFO, b""))
    return Link(
        index,
        values[IFLA_IFNAME].rstrip(b"\0").decode(),
        flags,
        hardware_addr(values.get(IFLA_ADDRESS, b"")),
        number(values, IFLA_MTU),
        info.get(IFLA_INFO_KIND, b"").rstrip(b"\0").decode(),
        number(values, IFLA_LINK),
        number(values, IFLA_MASTER),
        number(values, IFLA_PROMISCUITY),
        OPER_STATES[number(values, IFLA_OPERSTATE)],
        attributes(info.get(IFLA_INFO_DATA, b"")),
    )


def names(links: Iterable[Link]) -> dict[int, str]:
    """Index → name."""
    return {link.index: link.name for link in links}
