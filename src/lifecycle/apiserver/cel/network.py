"""Addresses, ranges of them, and URLs.

Upstream: `apiserver/pkg/cel/library/{ip,cidr,urls}.go`, Go's `net/netip`, v1.36. Left
out: `string()` of an address, as the library takes no more overloads of its own names.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from lifecycle.api.go.format import go_quote
from lifecycle.api.go.url import go_url_problem
from lifecycle.apiserver.cel.declare import T, declared, function
from lifecycle.apiserver.cel.types import message, types

_BITS = re.compile("0|[1-9][0-9]{0,2}", re.ASCII)
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def _address(text: str) -> Address:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise ValueError(
            f'IP Address "{text}" parse error during conversion from string:'
            f' ParseAddr("{text}"): unable to parse IP'
        ) from None
    if isinstance(address, ipaddress.IPv6Address) and (
        address.ipv4_mapped or address.scope_id
    ):
        raise ValueError(
            f'IPv4-mapped IPv6 address "{text}" is not allowed'
            if address.ipv4_mapped
            else f'IP address "{text}" with zone value is not allowed'
        )
    return address


def _range(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    address, slash, bits = text.rpartition("/")
    why = "no '/'" if not slash else ""
    try:
        if not why:
            _address(address)
    except ValueError as error:
        why = str(error).partition("from string: ")[2] or str(error)
    if not why and not _BITS.fullmatch(bits):
        why = f"bad bits after slash: {go_quote(bits)}"
    try:
        if not why:
            return ipaddress.ip_network(text, strict=False)
    except ValueError:
        why = "prefix length out of range"
    conversion = "network address parse error during conversion from string: "
    raise ValueError(f'{2 * conversion}netip.ParsePrefix("{text}"): {why}')


def _ok(parse: Any) -> Any:
    def check(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return check


def _ip(text: str) -> Any:
    return message("net.IP", text=str(_address(text)))


def _cidr(text: str) -> Any:
    _range(text)
    return message("net.CIDR", text=text)


def _of_cidr(cidr: Any) -> Any:
    return _ip(cidr.text.partition("/")[0])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else value.text


def _contains_ip(cidr: Any, ip: Any) -> bool:
    if isinstance(ip, str) and not _ok(_address)(ip):
        raise ValueError("no such overload")  # upstream forgets why
    return _address(_text(ip)) in _range(cidr.text)


def _contains_cidr(cidr: Any, other: Any) -> bool:
    outer, inner = _range(cidr.text), _range(_text(other))
    return outer.version == inner.version and inner.subnet_of(outer)  # type: ignore[arg-type]


def _masked(cidr: Any) -> Any:
    return message("net.CIDR", text=str(_range(cidr.text)))


def _url(text: str) -> SplitResult:
    if problem := go_url_problem(text, of_a_request=True):
        raise ValueError(
            "URL parse error during conversion from string: parse"
            f" {go_quote(text)}: {problem}"
        )
    return urlsplit(text)


def _parsed(text: str) -> Any:
    _url(text)
    return message("URL", text=text)


def _host(url: Any) -> str:
    return _url(url.text).netloc.rpartition("@")[2]


def _hostname(url: Any) -> str:
    """In the case in which it was written, an IPv6 address without its brackets."""
    name = _host_and_port(url)[0]
    return name[1:-1] if name.startswith("[") and name.endswith("]") else name


def _host_and_port(url: Any) -> tuple[str, str]:
    """Split at the last colon, if digits follow or nothing. Upstream: Go's
    `net/url.splitHostPort`.
    """
    host = _host(url)
    name, colon, port = host.rpartition(":")
    is_port = colon and (not port or (port.isascii() and port.isdigit()))
    return (name, port) if is_port else (host, "")


def _escaped_path(url: Any) -> str:
    """None of what is opaque, such as `mailto:a@b`."""
    parts = _url(url.text)
    return parts.path if parts.path.startswith("/") else ""


def _of(test: str) -> Any:
    return lambda ip: bool(getattr(_address(ip.text), test))


def _is_global_unicast(ip: Any) -> bool:
    address = _address(ip.text)
    limited = (
        isinstance(address, ipaddress.IPv4Address) and str(address) == "255.255.255.255"
    )
    return not (
        address.is_unspecified
        or address.is_loopback
        or address.is_multicast
        or address.is_link_local
        or limited
    )


def _is_link_local_multicast(ip: Any) -> bool:
    address = _address(ip.text)
    if isinstance(address, ipaddress.IPv4Address):
        return address in ipaddress.ip_network("224.0.0.0/24")
    return address.is_multicast and address.packed[1] & 0x0F == 2


def functions() -> list[Any]:
    """Declarations."""
    kinds = types()
    ip, cidr, url, s = (
        kinds.type("net.IP"),
        kinds.type("net.CIDR"),
        kinds.type("URL"),
        T.STRING,
    )
    texts = T.Map(s, T.List(s))
    return [
        function("isIP", _ok(_address), (T.BOOL, (s,)), member=False),
        declared("ip", [(_ip, [(ip, (s,))], False), (_of_cidr, [(ip, (cidr,))], True)]),
        function(
            "ip.isCanonical",
            lambda text: str(_address(text)) == text,
            (T.BOOL, (s,)),
            member=False,
        ),
        function("family", lambda value: _address(value.text).version, (T.INT, (ip,))),
        function("isUnspecified", _of("is_unspecified"), (T.BOOL, (ip,))),
        function("isLoopback", _of("is_loopback"), (T.BOOL, (ip,))),
        function("isLinkLocalUnicast", _of("is_link_local"), (T.BOOL, (ip,))),
        function("isLinkLocalMulticast", _is_link_local_multicast, (T.BOOL, (ip,))),
        function("isGlobalUnicast", _is_global_unicast, (T.BOOL, (ip,))),
        function("isCIDR", _ok(_range), (T.BOOL, (s,)), member=False),
        function("cidr", _cidr, (cidr, (s,)), member=False),
        declared(
            "containsIP",
            [
                (_contains_ip, [(T.BOOL, (cidr, ip))]),
                (_contains_ip, [(T.BOOL, (cidr, s))]),
            ],
        ),
        declared(
            "containsCIDR",
            [
                (_contains_cidr, [(T.BOOL, (cidr, cidr))]),
                (_contains_cidr, [(T.BOOL, (cidr, s))]),
            ],
        ),
        function("masked", _masked, (cidr, (cidr,))),
        function(
            "prefixLength", lambda value: _range(value.text).prefixlen, (T.INT, (cidr,))
        ),
        function("isURL", _ok(_url), (T.BOOL, (s,)), member=False),
        function("url", _parsed, (url, (s,)), member=False),
        function("getScheme", lambda value: _url(value.text).scheme, (s, (url,))),
        function("getHost", _host, (s, (url,))),
        function("getHostname", _hostname, (s, (url,))),
        function("getPort", lambda value: _host_and_port(value)[1], (s, (url,))),
        function("getEscapedPath", _escaped_path, (s, (url,))),
        function(
            "getQuery",
            lambda value: parse_qs(_url(value.text).query, keep_blank_values=True),
            (texts, (url,)),
        ),
    ]
