"""Routes: what a route is, and its messages.

Upstream: `vishvananda/netlink`, `route.go`, `route_linux.go` (`deserializeRoute`).
"""

from __future__ import annotations

import ipaddress
import socket
import struct
from dataclasses import dataclass

from lifecycle.cni.addresses import Address, Network
from lifecycle.cni.netlink.addr import SCOPE_UNIVERSE
from lifecycle.cni.netlink.wire import attribute, each_attribute, number

RTM_NEWROUTE, RTM_DELROUTE, RTM_GETROUTE = 24, 25, 26
RTA_DST, RTA_OIF, RTA_GATEWAY, RTA_PRIORITY, RTA_PREFSRC, RTA_TABLE = 1, 4, 5, 6, 7, 15
RT_TABLE_MAIN, RT_TABLE_LOCAL = 254, 255
RTPROT_BOOT, RTN_UNICAST, RTNH_F_ONLINK = 3, 1, 4


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


def route_body(
    route: Route, protocol: int | None = None, kind: int = RTN_UNICAST
) -> bytes:
    """A route as RTM_NEWROUTE and RTM_DELROUTE carry it. Table numbers from 256 on do
    not fit in the fixed part.
    """
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
    for attr, value in ((RTA_OIF, route.link), (RTA_PRIORITY, route.priority)):
        body += attribute(attr, value) if value else b""
    return body + (attribute(RTA_TABLE, route.table) if route.table >= 256 else b"")


def deserialize_route(body: bytes) -> Route | None:
    """None for what is no unicast route."""
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
        number(values, RTA_OIF),
        scope,
        ipaddress.ip_address(source) if source else None,
        number(values, RTA_PRIORITY),
        number(values, RTA_TABLE) or table,
        bool(flags & RTNH_F_ONLINK),
        protocol,
    )
