"""Addresses and networks in the one spelling that programs compare.

Objects that were stored before validation was strict may say `10.0.0.010`,
`::ffff:10.0.0.10` or ` 10.0.0.0/08`. Who makes rules or endpoints of them parses them
as the API once did, and writes them as everybody does.

Upstream: `k8s.io/utils/net/parse.go` (`ParseIPSloppy`, `ParseCIDRSloppy`),
`net.IP.String`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.validation.addresses import canonical_form, parse_ip, parse_network


def canonical_ip(text: str) -> str:
    """The address, an IPv4-mapped one as what it maps; empty if the text is none."""
    address = parse_ip(text)
    return "" if address is None else canonical_form(address)


def canonical_network(text: str) -> str:
    """The network, without bits behind its prefix; empty if the text is none."""
    parsed = parse_network(text)
    return "" if parsed is None else str(parsed[1])
