"""IP addresses and networks.

Old fields took anything that Go's old parser took. Since 1.36 they refuse what is
ambiguous: leading zeros, IPv4-mapped IPv6, bits behind a network's prefix. What is
stored already may stay. Newer fields insist on the canonical form as well.

Upstream: `apimachinery/pkg/util/validation/ip.go`,
`pkg/apis/core/validation/validation.go` (`ValidateEndpointIP` and
`ValidateNonSpecialIP`), v1.36, gate `StrictIPCIDRValidation` on.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection

from lifecycle.api.bounded_cache import short_lru_cache
from lifecycle.api.field_errors import FieldError, invalid
from lifecycle.api.go.format import go_quote

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_LONG_GROUP = re.compile("(?<![0-9A-Fa-f.])0+(?=[0-9A-Fa-f]{4})")


@short_lru_cache(8192)
def parse_ip(text: str) -> Address | None:
    """An address, read as Go's old parser did: leading zeros are decimal, and a group
    of four hexadecimal digits may have more of them. None if it is none.
    """
    if "%" in text:
        return None
    head, colon, tail = text.rpartition(":")
    if not colon or "." in tail:  # an IPv6 address may end in an IPv4 one
        parts = tail.split(".")
        if len(parts) != 4 or not all(p.isascii() and p.isdigit() for p in parts):
            return None
        tail = ".".join(part.lstrip("0") or "0" for part in parts)
    text = _LONG_GROUP.sub("", head + colon + tail) if colon else tail
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


@short_lru_cache(8192)
def is_go_ip(text: str) -> bool:
    """Does today's Go read it as an address: without zone, and without zeros in front
    of what is decimal? Upstream: `net.ParseIP`.
    """
    if "%" in text:
        return False
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def is_ipv6(text: str) -> bool:
    """Is it an IPv6 address (and not an IPv4-mapped one)?"""
    address = parse_ip(text)
    return isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None


def canonical_form(address: Address) -> str:
    """The one spelling of an address, an IPv4-mapped one as what it maps. Upstream:
    `net.IP.String`.
    """
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)


def _is_mapped(address: Address) -> bool:
    return (
        isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None
    )


def _strict_ip(text: str, path: str) -> list[FieldError]:
    address = parse_ip(text)
    if address is None:
        return [
            invalid(
                path,
                text,
                "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
            )
        ]
    if not is_go_ip(text):
        return [invalid(path, text, "must not have leading 0s")]
    return (
        [invalid(path, text, "must not be an IPv4-mapped IPv6 address")]
        if _is_mapped(address)
        else []
    )


def validate_legacy_ip(
    text: str, path: str, old: Collection[str] = ()
) -> list[FieldError]:
    """An address in a field that predates strict parsing; one that stands in the `old`
    object may stay.
    """
    return [] if text in old else _strict_ip(text, path)


def validate_ip(text: str, path: str) -> list[FieldError]:
    """An address in a newer field: in canonical form. Upstream: `IsValidIP`."""
    errors, address = _strict_ip(text, path), parse_ip(text)
    if not errors and address is not None and canonical_form(address) != text:
        errors.append(
            invalid(
                path,
                text,
                f"must be in canonical form ({go_quote(canonical_form(address))})",
            )
        )
    return errors


@short_lru_cache(8192)
def parse_network(text: str) -> tuple[Address, Network] | None:
    """Address and network of a CIDR, or None. Each of five thousand nodes has one, and
    it is read again with each change of the node.
    """
    head, slash, tail = text.partition("/")
    address = parse_ip(head)
    if address is None or not slash or not (tail.isascii() and tail.isdigit()):
        return None
    bits = tail.lstrip("0")[:4] or "0"
    try:
        return address, ipaddress.ip_network(f"{address}/{bits}", strict=False)
    except ValueError:
        return None


def unmapped(network: Network) -> Network:
    """An IPv6 network of IPv4-mapped addresses as the IPv4 one that it holds: so Go
    looks at it when it is asked what is in it. Upstream: `net.IPNet.Contains`.
    """
    mapped = getattr(network.network_address, "ipv4_mapped", None)
    if mapped is None or network.prefixlen < 96:
        return network
    return ipaddress.ip_network(f"{mapped}/{network.prefixlen - 96}")


def _strict_cidr(text: str, path: str) -> list[FieldError]:
    parsed = parse_network(text)
    if parsed is None:
        return [
            invalid(
                path,
                text,
                "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
            )
        ]
    address, network = parsed
    head, _, tail = text.partition("/")
    if not is_go_ip(head) or str(network.prefixlen) != tail:
        return [invalid(path, text, "must not have leading 0s in IP or prefix length")]
    if _is_mapped(address):
        return [invalid(path, text, "must not have an IPv4-mapped IPv6 address")]
    if address != network.network_address:
        return [invalid(path, text, "must not have bits set beyond the prefix length")]
    return []


def validate_legacy_cidr(
    text: str, path: str, old: Collection[str] = ()
) -> list[FieldError]:
    """A network in a field that predates strict parsing; one that stands in the `old`
    object may stay.
    """
    return [] if text in old else _strict_cidr(text, path)


def validate_cidr(text: str, path: str) -> list[FieldError]:
    """A network in a newer field: in canonical form. Upstream: `IsValidCIDR`."""
    errors, parsed = _strict_cidr(text, path), parse_network(text)
    if not errors and parsed is not None and str(parsed[1]) != text:
        errors.append(
            invalid(
                path, text, f"must be in canonical form ({go_quote(str(parsed[1]))})"
            )
        )
    return errors


def validate_interface_address(text: str, path: str) -> list[FieldError]:
    """An address and how long its network's prefix is, in canonical form."""
    parsed = parse_network(text)
    if parsed is None:
        why = (
            "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
        )
        return [invalid(path, text, why)]
    address, network = parsed
    length = network.prefixlen
    if _is_mapped(address) and length > 32:
        length -= 96
    canonical = f"{canonical_form(address)}/{length}"
    if text == canonical:
        return []
    return [invalid(path, text, f"must be in canonical form ({go_quote(canonical)})")]


def validate_non_special_ip(text: str, path: str) -> list[FieldError]:
    """Endpoints must be somewhere: not unspecified, loopback or link-local."""
    address = parse_ip(text)
    if address is None:
        return [invalid(path, text, "must be a valid IP address")]
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    errors = []
    if address.is_unspecified:
        errors.append(invalid(path, text, f"may not be unspecified ({text})"))
    if address.is_loopback:
        errors.append(
            invalid(
                path, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)"
            )
        )
    if address.is_link_local:
        errors.append(
            invalid(
                path,
                text,
                "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
            )
        )
    link_local_multicast = ipaddress.ip_network(
        "224.0.0.0/24" if address.version == 4 else "ff02::/16"
    )
    if address in link_local_multicast:
        errors.append(
            invalid(
                path,
                text,
                "may not be in the link-local multicast range (224.0.0.0/24,"
                " ff02::/10)",
            )
        )
    return errors


def warnings_for_ip(text: str, path: str) -> list[str]:
    """What is tolerated but should not be written. Upstream: `GetWarningsForIP`."""
    address = parse_ip(text)
    if address is None:
        return []
    canonical = canonical_form(address)
    if not is_go_ip(text) or _is_mapped(address):
        return [
            f"{path}: non-standard IP address {go_quote(text)} is invalid: use"
            f" {go_quote(canonical)}"
        ]
    if address.version == 6 and canonical != text:
        return [
            f"{path}: IPv6 address {go_quote(text)} should be in RFC 5952 canonical"
            f" format ({go_quote(canonical)})"
        ]
    return []


def warnings_for_cidr(text: str, path: str) -> list[str]:
    """The same for networks. Upstream: `GetWarningsForCIDR`."""
    parsed = parse_network(text)
    if parsed is None:
        return []
    address, network = parsed
    warnings: list[str] = []
    if address != network.network_address:
        single = f"{canonical_form(address)}/{network.prefixlen}"
        why = (
            f"is ambiguous in this context (should be {go_quote(str(network))} or"
            f" {go_quote(single)}?)"
        )
        warnings.append(f"{path}: CIDR value {go_quote(text)} {why}")
    head, _, tail = text.partition("/")
    odd = isinstance(address, ipaddress.IPv4Address) and str(address) != head
    if odd or str(network.prefixlen) != tail:
        warnings.append(
            f"{path}: non-standard CIDR value {go_quote(text)} is invalid: use"
            f" {go_quote(str(network))}"
        )
    elif not warnings and network.version == 6 and str(network) != text:
        warnings.append(
            f"{path}: IPv6 CIDR value {go_quote(text)} should be in RFC 5952 canonical"
            f" format ({go_quote(str(network))})"
        )
    return warnings
