"""Addresses of interfaces, as messages.

Upstream: `vishvananda/netlink`, `addr_linux.go` (`AddrAdd`, `parseAddr`).
"""

from __future__ import annotations

import ipaddress
import socket
import struct

from lifecycle.cni.addresses import Address, Interface, Network
from lifecycle.cni.netlink.wire import attribute, attributes

RTM_NEWADDR, RTM_DELADDR, RTM_GETADDR = 20, 21, 22
IFA_ADDRESS, IFA_LOCAL, IFA_BROADCAST, IFA_FLAGS = 1, 2, 4, 8
SCOPE_UNIVERSE, SCOPE_LINK, SCOPE_HOST, SCOPE_NOWHERE = 0, 253, 254, 255
SCOPES = {SCOPE_UNIVERSE: "global", SCOPE_LINK: "link", SCOPE_HOST: "host"}


def family_of(address: Interface | Address | Network) -> int:
    """AF_INET or AF_INET6."""
    return socket.AF_INET if address.version == 4 else socket.AF_INET6


def addr_body(index: int, address: Interface) -> bytes:
    """An interface's address. IPv4 gets a broadcast address, as `ip addr add … brd +`
    does it.
    """
    length = address.network.prefixlen
    scope = SCOPE_HOST if address.ip.is_loopback else SCOPE_UNIVERSE
    body = struct.pack("=BBBBI", family_of(address), length, 0, scope, index)
    body += attribute(IFA_LOCAL, address.ip.packed) + attribute(
        IFA_ADDRESS, address.ip.packed
    )
    if address.version == 4 and length < 31:
        body += attribute(IFA_BROADCAST, address.network.broadcast_address.packed)
    return body


def parse_addr(body: bytes) -> tuple[int, int, Interface]:
    """The interface's index, the address family, the address."""
    family, length, _, _, index = struct.unpack_from("=BBBBI", body)
    values = attributes(body[8:])
    raw = values.get(IFA_LOCAL) or values[IFA_ADDRESS]
    return index, family, ipaddress.ip_interface((raw, length))
