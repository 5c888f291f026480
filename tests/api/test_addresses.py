"""Addresses and networks: read as Go's old parser did, refused where they are ambiguous (`util/validation/ip.go`)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lifecycle.api.canonical_ip import canonical_ip, canonical_network
from lifecycle.api.field_errors import FieldError
from lifecycle.api.validation.addresses import (
    is_ipv6,
    parse_ip,
    parse_network,
    validate_cidr,
    validate_interface_address,
    validate_ip,
    validate_legacy_ip,
    validate_non_special_ip,
    warnings_for_cidr,
    warnings_for_ip,
)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("10.0.0.1", "10.0.0.1"), ("010.0.0.001", "10.0.0.1"), ("fd00::1", "fd00::1"), ("FD00:0::1", "fd00::1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("::ffff:010.0.0.1", "10.0.0.1"), ("64:ff9b::10.0.0.1", "64:ff9b::a00:1"), ("::ffff:10.0.0", ""),
        ("", ""), ("10.0.0", ""), ("10.0.0.1.2", ""), ("10.0.0.256", ""),
        ("10.0.0.-1", ""), ("10.0.0.x", ""), ("fe80::1%eth0", ""), ("10.0.0.٣", ""), ("fd00:::1", ""), (" 10.0.0.1", ""),
    ],
)  # fmt: skip
def test_an_address_has_one_spelling_however_it_was_written(text: str, read: str) -> None:
    assert canonical_ip(text) == read
    assert (parse_ip(text) is None) is (read == "")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("10.0.0.0/8", "10.0.0.0/8"), ("10.1.2.3/08", "10.0.0.0/8"), ("fd00::1/64", "fd00::/64"), ("10.0.0.0", ""),
        ("10.0.0.0/33", ""), ("10.0.0.0/", ""), ("10.0.0.0/x", ""), ("/8", ""), ("10.0.0.0/8/8", ""),
        ("10.0.0.0/0008", "10.0.0.0/8"), ("10.0.0.0/00033", ""), ("10.0.0.0/٣", ""), ("fd00::/129", ""),
    ],
)  # fmt: skip
def test_a_network_has_no_bits_behind_its_prefix(text: str, read: str) -> None:
    assert canonical_network(text) == read
    assert (parse_network(text) is None) is (read == "")


def test_a_mapped_address_is_no_ipv6_address() -> None:
    assert is_ipv6("fd00::1")
    assert not is_ipv6("::ffff:10.0.0.1")
    assert not is_ipv6("10.0.0.1")
    assert not is_ipv6("x")


def why(errors: list[FieldError]) -> list[str]:
    assert all(error.field == "spec.ip" for error in errors)
    return [error.detail for error in errors]


NO_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
ZEROS, MAPPED = "must not have leading 0s", "must not be an IPv4-mapped IPv6 address"


@pytest.mark.parametrize(
    ("text", "old_field", "new_field"),
    [
        ("10.0.0.1", [], []), ("10.0.0.0", [], []), ("fd00::1", [], []), ("x", [NO_IP], [NO_IP]),
        ("10.0.0.01", [ZEROS], [ZEROS]), ("010.0.0.1", [ZEROS], [ZEROS]), ("::ffff:1.2.3.4", [MAPPED], [MAPPED]),
        ("::ffff:01.2.3.4", [ZEROS], [ZEROS]),
        ("FD00::1", [], ['must be in canonical form ("fd00::1")']),
        ("fd00:0::1", [], ['must be in canonical form ("fd00::1")']),
    ],
)  # fmt: skip
def test_an_old_field_refuses_what_is_ambiguous_and_a_new_one_every_other_spelling(
    text: str, old_field: list[str], new_field: list[str]
) -> None:
    assert why(validate_legacy_ip(text, "spec.ip")) == old_field
    assert why(validate_ip(text, "spec.ip")) == new_field
    assert validate_legacy_ip(text, "spec.ip", [text]) == [], "what is stored already may stay"


Check = Callable[[str, str], list[FieldError]]


@pytest.mark.parametrize(
    ("check", "text", "detail"),
    [
        (validate_cidr, "10.0.0.0/8", []),
        (validate_cidr, "fd00::/64", []),
        (validate_cidr, "FD00::/64", ['must be in canonical form ("fd00::/64")']),
        (validate_interface_address, "10.0.0.5/8", []),
        (validate_interface_address, "10.0.0.05/8", ['must be in canonical form ("10.0.0.5/8")']),
        (validate_interface_address, "10.0.0.5/08", ['must be in canonical form ("10.0.0.5/8")']),
        (validate_interface_address, "::ffff:10.0.0.5/104", ['must be in canonical form ("10.0.0.5/8")']),
        (validate_interface_address, "fd00::5/64", []),
        (validate_interface_address, "10.0.0.5",
         ["must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"]),
    ],
)  # fmt: skip
def test_networks_and_addresses_of_interfaces_are_written_in_canonical_form(
    check: Check, text: str, detail: list[str]
) -> None:
    assert why(check(text, "spec.ip")) == detail


def test_a_network_that_is_ambiguous_is_refused_once() -> None:
    for text in ("x", "10.0.0.1/8", "010.0.0.0/8", "10.0.0.0/08", "::ffff:10.0.0.0/104"):
        assert len(validate_cidr(text, "spec.ip")) == 1, text


LOOPBACK = "may not be in the loopback range (127.0.0.0/8, ::1/128)"
LINK_LOCAL = "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
MULTICAST = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("10.0.0.1", []), ("fd00::1", []), ("x", ["must be a valid IP address"]),
        ("0.0.0.0", ["may not be unspecified (0.0.0.0)"]), ("::", ["may not be unspecified (::)"]),
        ("127.0.0.1", [LOOPBACK]), ("127.9.9.9", [LOOPBACK]), ("::1", [LOOPBACK]), ("::ffff:127.0.0.1", [LOOPBACK]),
        ("169.254.1.1", [LINK_LOCAL]), ("fe80::1", [LINK_LOCAL]), ("224.0.0.1", [MULTICAST]), ("ff02::1", [MULTICAST]),
        ("224.0.1.1", []), ("ff05::1", []),
    ],
)  # fmt: skip
def test_an_endpoint_is_somewhere(text: str, detail: list[str]) -> None:
    assert why(validate_non_special_ip(text, "spec.ip")) == detail


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("10.0.0.1", None), ("fd00::1", None), ("x", None),
        ("10.0.0.01", 'non-standard IP address "10.0.0.01" is invalid: use "10.0.0.1"'),
        ("::ffff:10.0.0.1", 'non-standard IP address "::ffff:10.0.0.1" is invalid: use "10.0.0.1"'),
        ("FD00::1", 'IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")'),
    ],
)  # fmt: skip
def test_an_address_that_is_tolerated_is_warned_of(text: str, warning: str | None) -> None:
    assert warnings_for_ip(text, "spec.ip") == ([] if warning is None else [f"spec.ip: {warning}"])


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        ("10.0.0.0/8", []), ("fd00::/64", []), ("x", []),
        ("10.1.2.3/8", ['CIDR value "10.1.2.3/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.1.2.3/8"?)']),
        ("010.0.0.0/8", ['non-standard CIDR value "010.0.0.0/8" is invalid: use "10.0.0.0/8"']),
        ("10.0.0.0/08", ['non-standard CIDR value "10.0.0.0/08" is invalid: use "10.0.0.0/8"']),
        ("FD00::/64", ['IPv6 CIDR value "FD00::/64" should be in RFC 5952 canonical format ("fd00::/64")']),
        ("fd00::1/64", ['CIDR value "fd00::1/64" is ambiguous in this context (should be "fd00::/64" or "fd00::1/64"?)']),
    ],
)  # fmt: skip
def test_a_network_that_is_tolerated_is_warned_of(text: str, warnings: list[str]) -> None:
    assert warnings_for_cidr(text, "spec.ip") == [f"spec.ip: {warning}" for warning in warnings]


def test_the_networks_of_five_thousand_nodes_are_read_once() -> None:
    """Each change of a node asks again, and the nodes do so in turn."""
    networks = [f"10.{number >> 8}.{number & 255}.0/24" for number in range(5000)]
    first = [parse_network(network) for network in networks]
    again = [parse_network(network) for network in networks]
    assert all(one is other for one, other in zip(first, again, strict=True))
