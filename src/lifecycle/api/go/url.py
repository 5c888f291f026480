"""What Go takes for no URL, and how it says so.

Upstream: Go 1.26's `net/url` (`Parse`, `ParseRequestURI`, `parseAuthority`,
`parseHost`), `net/netip` (`ParseAddr`).
"""

from __future__ import annotations

import ipaddress
import re

from lifecycle.api.go.format import go_quote

_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*:")
_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_ASCII_ESCAPE = re.compile("%(?!25)[0-7][0-9A-Fa-f]")
_PORT = re.compile(r"(:[0-9]*)?")
_USER = re.compile(r"[-A-Za-z0-9._:~!$&'()*+,;=%@]*")
_NOT_IN_A_HOST = re.compile("[^-A-Za-z0-9!$&'()*+,;=:\\[\\]<>\"_.~%\x80-\U0010ffff]")


def go_url_problem(url: str, *, of_a_request: bool = False) -> str:
    """Why a text is no URL, or nothing. `of_a_request`: it has to be absolute, or a
    path that begins with a slash.
    """
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in url):
        return "net/url: invalid control character in URL"
    if of_a_request and not url:
        return "empty url"
    rest = url if of_a_request else url.partition("#")[0]
    if rest == "*":
        return ""
    if rest.startswith(":"):
        return "missing protocol scheme"
    scheme = _SCHEME.match(rest)
    rest = (rest[scheme.end() :] if scheme else rest).partition("?")[0]
    if not rest.startswith("/"):
        if scheme:
            return ""  # opaque, such as `mailto:a@b`
        if of_a_request:
            return "invalid URI for request"
        if ":" in rest.partition("/")[0]:
            return "first path segment in URL cannot contain colon"
    path = rest
    has_authority = scheme or (not of_a_request and not rest.startswith("///"))
    if has_authority and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        name = scheme[0].lower() if scheme else ""
        if problem := _authority_problem(authority, name in ("http:", "https:")):
            return problem
        path = slash + path
    return _escape_problem(path) or ("" if of_a_request else _fragment_problem(url))


def _fragment_problem(url: str) -> str:
    return _escape_problem(url.partition("#")[2])


def _escape_problem(text: str) -> str:
    found = _ESCAPE.search(text)
    return f"invalid URL escape {go_quote(found[0])}" if found else ""


def _authority_problem(authority: str, strict: bool) -> str:
    user, _, host = authority.rpartition("@")
    if problem := _host_problem(host, strict):
        return problem
    if _USER.fullmatch(user) is None:
        return "net/url: invalid userinfo"
    return _escape_problem(user)


def _host_problem(host: str, strict: bool) -> str:
    """Why this is no host with a port. `strict`: its first colon begins the port."""
    bracket = host.rfind("[")
    if bracket > 0:
        return "invalid IP-literal"
    if bracket == 0:
        return _literal_problem(host)
    if ":" in host:
        port = host[host.index(":") if strict else host.rindex(":") :]
        if _PORT.fullmatch(port) is None:
            return f"invalid port {go_quote(port)} after host"
    return _name_problem(host)


def _literal_problem(host: str) -> str:
    """Only an IPv6 address stands in brackets."""
    name, bracket, port = host[1:].rpartition("]")
    if not bracket:
        return "missing ']' in host"
    if _PORT.fullmatch(port) is None:
        return f"invalid port {go_quote(port)} after host"
    address, percent, zone = name.partition("%25")
    if problem := _name_problem(address) or _zone_problem(zone):
        return problem
    if "%" in address or (percent and not zone):
        found = f"{address}{'%' if percent else ''}"
        why = "zone must be a non-empty string" if percent else "unable to parse IP"
        return f"invalid host: ParseAddr({go_quote(found)}): {why}"
    try:
        version = ipaddress.ip_address(address).version
    except ValueError:
        return f"invalid host: ParseAddr({go_quote(address)}): unable to parse IP"
    return "" if version == 6 else "invalid IP-literal"


def _name_problem(name: str) -> str:
    """What comes first counts: a bad escape, one of an ASCII character, a character
    that no host has.
    """
    found = [
        match
        for pattern in (_ESCAPE, _ASCII_ESCAPE, _NOT_IN_A_HOST)
        if (match := pattern.search(name)) is not None
    ]
    if not found:
        return ""
    first = min(found, key=lambda match: match.start())
    if first.re is _NOT_IN_A_HOST:
        return f"invalid character {go_quote(first[0])} in host name"
    return f"invalid URL escape {go_quote(first[0])}"


def _zone_problem(zone: str) -> str:
    """Like a name, but a space may be escaped, and what might stand there unescaped."""
    escaped = re.sub(
        "%([0-9A-Fa-f]{2})",
        lambda match: (
            "x" if _may_be_escaped(chr(int(match[1], 16))) else f"%{match[1]}"
        ),
        zone,
    )
    return _name_problem(escaped)


def _may_be_escaped(char: str) -> bool:
    return char in " %" or (char < "\x80" and _NOT_IN_A_HOST.match(char) is None)
