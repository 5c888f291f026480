"""Header lines as one dictionary, and what the names of identity headers say.

HTTP lets a header come several times. For most, Go's `Header.Get` sees the first only;
the headers in which impersonation and front proxies name groups and extras count all of
theirs. Our requests hold one text for a key, so several values are joined with the one
character that no header value can hold.

Upstream: Go's `net/http` (`Header.Get`, `Header.Values`),
`apiserver/pkg/authentication/request/headerrequest/requestheader.go`
(`unescapeExtraKey`), v1.36.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote

SEPARATOR = "\n"
"""Joins the values of a header sent several times: the one character that no header
value can hold.
"""
_REPEATED = ("impersonate-", "x-remote-")
_JOINED = ("x-stream-protocol-version", "sec-websocket-protocol")
_WRONG_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def joined_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Header lines as one dictionary with lower-case keys. Headers of impersonation and
    of front proxies keep all values they were sent with; of any other sent twice, the
    first counts, as in Go. Values that are not UTF-8 become so: Go keeps their bytes,
    and shows U+FFFD wherever it writes JSON.
    """
    joined: dict[str, str] = {}
    for key, value in headers:
        key = key.lower()
        if not value.isascii():
            value = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        if key in joined and key.startswith(_REPEATED):
            joined[key] += SEPARATOR + value
        elif (
            key in joined and key in _JOINED
        ):  # kubectl 1.20 sends a line for each protocol it speaks
            joined[key] += ", " + value
        else:
            joined.setdefault(key, value)
    return joined


def unescaped_extra_key(key: str) -> str:
    """What a header's name says after its prefix. Upstream: `unescapeExtraKey`, which
    takes back all or nothing.
    """
    if _WRONG_ESCAPE.search(key):
        return key
    try:
        return unquote(key, errors="strict")
    except UnicodeDecodeError:
        return key
