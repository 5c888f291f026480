"""IP addresses and networks.

The API takes what it always took: addresses with leading zeros and IPv4-mapped IPv6 stay legal in old fields (with a warning), while
newer fields insist on the canonical form.

Upstream: `apimachinery/pkg/util/validation/ip.go`, `pkg/apis/core/validation/validation.go` (`ValidateEndpointIP` and
`ValidateNonSpecialIP`), v1.36, gate `StrictIPCIDRValidation` off.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache

from lifecycle.api.field_errors import FieldError, invalid, quote

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@lru_cache(4096)
def parse_ip(text: str) -> Address | None:
    """An address, read as Go's old parser did: leading zeros are decimal. None if it is none."""
    if "%" in text:
        return None
    try:
        if ":" not in text:
            parts = text.split(".")
            if len(parts) == 4 and all(part.isascii() and part.isdigit() for part in parts):
                return ipaddress.IPv4Address(".".join(str(int(part)) for part in parts))
            return None
        return ipaddress.IPv6Address(text)
    except ValueError:
        return None


def is_ipv6(text: str) -> bool:
    """Is it an IPv6 address (and not an IPv4-mapped one)?"""
    address = parse_ip(text)
    return isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None


def _canonical(address: Address) -> str:
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)


def validate_legacy_ip(text: str, path: str) -> list[FieldError]:
    """An address in a field that predates strict parsing."""
    if parse_ip(text) is None:
        return [invalid(path, text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")]
    return []


@lru_cache(1024)
def parse_network(text: str) -> tuple[Address, Network] | None:
    """Address and network of a CIDR, or None."""
    head, slash, tail = text.partition("/")
    address = parse_ip(head)
    if address is None or not slash or not (tail.isascii() and tail.isdigit()) or len(tail) > 3:
        return None
    try:
        return address, ipaddress.ip_network(f"{address}/{int(tail)}", strict=False)
    except ValueError:
        return None


def validate_legacy_cidr(text: str, path: str) -> list[FieldError]:
    """A network in a field that predates strict parsing."""
    if parse_network(text) is None:
        return [invalid(path, text, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")]
    return []


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
        errors.append(invalid(path, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)"))
    if address.is_link_local:
        errors.append(invalid(path, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"))
    link_local_multicast = ipaddress.ip_network("224.0.0.0/24" if address.version == 4 else "ff02::/16")
    if address in link_local_multicast:
        errors.append(invalid(path, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"))
    return errors


def warnings_for_ip(text: str, path: str) -> list[str]:
    """What is tolerated but should not be written. Upstream: `GetWarningsForIP`."""
    address = parse_ip(text)
    if address is None:
        return []
    canonical = _canonical(address)
    if isinstance(address, ipaddress.IPv4Address) or address.ipv4_mapped is not None:
        if canonical == text:
            return []
        return [f"{path}: non-standard IP address {quote(text)} is invalid: use {quote(canonical)}"]
    if canonical != text:
        return [f"{path}: IPv6 address {quote(text)} should be in RFC 5952 canonical format ({quote(canonical)})"]
    return []


def warnings_for_cidr(text: str, path: str) -> list[str]:
    """The same for networks. Upstream: `GetWarningsForCIDR`."""
    parsed = parse_network(text)
    if parsed is None:
        return []
    address, network = parsed
    warnings: list[str] = []
    if address != network.network_address:
        single = f"{_canonical(address)}/{network.prefixlen}"
        why = f"is ambiguous in this context (should be {quote(str(network))} or {quote(single)}?)"
        warnings.append(f"{path}: CIDR value {quote(text)} {why}")
    head, _, tail = text.partition("/")
    odd = isinstance(address, ipaddress.IPv4Address) and str(address) != head
    if odd or str(network.prefixlen) != tail:
        warnings.append(f"{path}: non-standard CIDR value {quote(text)} is invalid: use {quote(str(network))}")
    elif not warnings and network.version == 6 and str(network) != text:
        warnings.append(
            f"{path}: IPv6 CIDR value {quote(text)} should be in RFC 5952 canonical format ({quote(str(network))})"
        )
    return warnings
