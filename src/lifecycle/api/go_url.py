"""What Go takes for no URL, and how it says so.

Upstream: Go's `net/url` (`Parse`, `ParseRequestURI`). Left out: which characters may
stand in a host, but for a space.
"""

from __future__ import annotations

import re

from lifecycle.api.go_format import go_quote

_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*:")
_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_PORT = re.compile(r"(:\d*)?")


def go_url_problem(url: str, *, of_a_request: bool = False) -> str:
    """Why a text is no URL, or nothing. `of_a_request`: it has to be absolute, or a
    path that begins with a slash.
    """
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in url):
        return "net/url: invalid control character in URL"
    if of_a_request and not url:
        return "empty url"
    if url.startswith(":"):
        return "missing protocol scheme"
    rest = url if of_a_request else url.partition("#")[0]
    rest = rest.partition("?")[0]
    scheme = _SCHEME.match(rest)
    rest = rest[scheme.end() :] if scheme else rest
    if not rest.startswith("/"):
        if scheme:
            return ""  # opaque, such as `mailto:a@b`
        if of_a_request:
            return "invalid URI for request"
        if ":" in rest.partition("/")[0]:
            return "first path segment in URL cannot contain colon"
    path = rest
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        if problem := _host_problem(authority.rpartition("@")[2]):
            return problem
        path = slash + path
    found = _ESCAPE.search(path)
    return f"invalid URL escape {go_quote(found[0])}" if found else ""


def _host_problem(host: str) -> str:
    """Why this is no host with a port."""
    if host.startswith("["):
        _, bracket, port = host.rpartition("]")
        if not bracket:
            return "missing ']' in host"
    else:
        _, colon, port = host.rpartition(":")
        port = colon + port if colon else ""
    if not _PORT.fullmatch(port):
        return f"invalid port {go_quote(port)} after host"
    found = _ESCAPE.search(host)
    if found:
        return f"invalid URL escape {go_quote(found[0])}"
    return 'invalid character " " in host name' if " " in host else ""
