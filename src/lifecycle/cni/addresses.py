"""Addresses as Go's `net` package sees them: an IPv4 address in IPv6 clothes is IPv4,
and an address may carry its mask.

Upstream: `net.ParseIP`, `net.ParseCIDR`; `containernetworking/plugins`,
`pkg/ip/cidr.go`, `pkg/ip/ip.go`, v1.9.
"""

from __future__ import annotations

import ipaddress

from lifecycle.cni.errors import CNIError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Interface = ipaddress.IPv4Interface | ipaddress.IPv6Interface
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def parse_ip(text: str) -> Address:
    """An address. Raises CNIError in Go's words."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise CNIError(f"invalid IP address: {text}") from None
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped or address


def parse_cidr(text: str) -> Interface:
    """An address with the length of its prefix. Raises CNIError in Go's words."""
    try:
        if "/" not in text or not text.rpartition("/")[2].isdigit():
            raise ValueError
        return ipaddress.ip_interface(text)
    except ValueError:
        raise CNIError(f"invalid CIDR address: {text}") from None


def next_ip(address: Address) -> Address:
    """The following one."""
    return address + 1


def masked(interface: Interface) -> str:
    """`10.0.0.5/24` → `10.0.0.0/24`."""
    return str(interface.network)


def is_global_unicast(address: Address) -> bool:
    """Go's `IsGlobalUnicast`: private addresses are meant, too."""
    broadcast = address.version == 4 and int(address) == 0xFFFFFFFF
    return not (
        broadcast
        or address.is_unspecified
        or address.is_loopback
        or address.is_multicast
        or address.is_link_local
    )
