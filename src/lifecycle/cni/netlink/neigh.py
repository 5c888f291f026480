"""Neighbours: entries of ARP and of a VXLAN device's forwarding table.

Upstream: `vishvananda/netlink`, `neigh.go`, `neigh_linux.go` (`NeighDeserialize`).
"""

from __future__ import annotations

import ipaddress
import socket
import struct
from dataclasses import dataclass

from lifecycle.cni.addresses import Address
from lifecycle.cni.netlink.addr import family_of
from lifecycle.cni.netlink.link import AF_BRIDGE, hardware_addr, ifinfomsg, parse_mac
from lifecycle.cni.netlink.route import RTN_UNICAST
from lifecycle.cni.netlink.wire import attribute, attributes

RTM_NEWNEIGH, RTM_DELNEIGH, RTM_GETNEIGH = 28, 29, 30
NDA_DST, NDA_LLADDR, NUD_PERMANENT, NTF_SELF = 1, 2, 0x80, 0x2


@dataclass(slots=True, frozen=True)
class Neighbour:
    """An ARP or (bridge family) forwarding entry: to reach this MAC address, send to
    `destination`.
    """

    link: int
    mac: str
    destination: Address
    state: int = NUD_PERMANENT


def neigh_body(neighbour: Neighbour, bridge: bool) -> bytes:
    """One entry; `bridge`: of the forwarding table, else of ARP."""
    family = AF_BRIDGE if bridge else family_of(neighbour.destination)
    flags, kind = (NTF_SELF, 0) if bridge else (0, RTN_UNICAST)
    body = struct.pack(
        "=BBHiHBB", family, 0, 0, neighbour.link, neighbour.state, flags, kind
    )
    return (
        body
        + attribute(NDA_DST, neighbour.destination.packed)
        + attribute(NDA_LLADDR, parse_mac(neighbour.mac))
    )


def neigh_list_body(index: int, bridge: bool) -> bytes:
    """Asks for the entries: of all interfaces, or of one VXLAN device."""
    if bridge:
        return ifinfomsg(AF_BRIDGE, index)
    return struct.pack("=BBHiHBB", socket.AF_INET, 0, 0, index, 0, 0, 0)


def neigh_deserialize(body: bytes) -> Neighbour | None:
    """None for an entry that lacks an address on either side."""
    _, _, _, index, state, _, _ = struct.unpack_from("=BBHiHBB", body)
    values = attributes(body[12:])
    if NDA_DST not in values or NDA_LLADDR not in values:
        return None
    address = ipaddress.ip_address(values[NDA_DST])
    return Neighbour(index, hardware_addr(values[NDA_LLADDR]), address, state)
