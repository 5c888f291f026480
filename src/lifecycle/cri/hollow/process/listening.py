"""What listens on a port of a hollow container, and what it says.

Ours.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest

if TYPE_CHECKING:
    import ssl

PAGES = frozenset({"", "/", "/index.html"})

Answer = Callable[[HTTPRequest], Awaitable[HTTPAnswer]]
"""What a server says to a request. Raises NotModelled."""


Datagrams = Callable[[bytes], Awaitable[bytes]]
"""What a server says to a datagram; nothing: it does not answer. Raises NotModelled."""


@dataclass(slots=True, frozen=True)
class Server:
    """What listens on a port. `tls`: with what it begins a connection; None: it speaks
    plainly. `greeting`: it says so much to everybody and hangs up, and knows no HTTP.
    """

    answer: Answer
    tls: ssl.SSLContext | None = None
    greeting: bytes = b""


@cache
def pages_answer(
    pages: frozenset[str], text: str = "", content_type: str = ""
) -> Answer:
    """Of a server that has some pages, all with the same text, and takes nothing in."""

    async def answer(request: HTTPRequest) -> HTTPAnswer:
        if request.method not in ("GET", "HEAD"):
            return HTTPAnswer(405)
        if request.path.partition("?")[0] not in pages:
            return HTTPAnswer(404)
        return HTTPAnswer(200, text, content_type=content_type)

    return answer
