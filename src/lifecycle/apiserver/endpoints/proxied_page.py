"""Links of a page that was fetched through `/proxy` lead through it, too.

A page that links to `/other` means its own server. Whoever reads it through the API
server would be led to the API server's `/other` instead, so what stands in front of
the page's path is put in front of its links' paths. Links to other servers, and those
that are relative, are right as they are.

Upstream: `apimachinery/pkg/util/proxy/transport.go` (`rewriteURL`, `rewriteHTML`,
`rewriteResponse`, `atomsToAttrs`), v1.36. The page is taken for UTF-8, as there.
"""

from __future__ import annotations

import gzip
import itertools
import posixpath
import zlib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from lifecycle.api.http.wire import Response
from lifecycle.api.loop.worker import LARGE, beside

MAX_PAGE = 1024 * 1024
"""Bytes of a page that is read, compressed or not. It is in memory as a whole, and a
pod may send one without an end, or a kilobyte of gzip that means a megabyte.
"""

URL_ATTRIBUTES = {
    "a": ("href",),
    "applet": ("codebase",),
    "area": ("href",),
    "audio": ("src",),
    "base": ("href",),
    "blockquote": ("cite",),
    "body": ("background",),
    "button": ("formaction",),
    "command": ("icon",),
    "del": ("cite",),
    "embed": ("src",),
    "form": ("action",),
    "frame": ("longdesc", "src"),
    "head": ("profile",),
    "html": ("manifest",),
    "iframe": ("longdesc", "src"),
    "img": ("longdesc", "src", "usemap"),
    "input": ("src", "usemap", "formaction"),
    "ins": ("cite",),
    "link": ("href",),
    "object": ("classid", "codebase", "data", "usemap"),
    "q": ("cite",),
    "script": ("src",),
    "source": ("src",),
    "video": ("poster", "src"),
}
"""Which attributes of which elements hold an address."""

_ESCAPES = str.maketrans(
    {
        "&": "&amp;",
        "'": "&#39;",
        "<": "&lt;",
        ">": "&gt;",
        '"': "&#34;",
        "\r": "&#13;",
    }
)
"""As Go writes them."""


def rewrite_url(url: str, prefix: str, source: str, host: str) -> str:
    """A link, led through the proxy. `prefix` is what stands in front of paths,
    `source` the address (`HOST:PORT`) that the page came from, `host` the one that it
    was asked for at.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    if parts.netloc not in ("", source, host) or not parts.path.startswith("/"):
        return url
    if parts.netloc != host:
        parts = parts._replace(scheme="", netloc="")
    if parts.path.startswith(prefix):
        return urlunsplit(parts)
    path = posixpath.normpath(prefix + parts.path)
    slash = "/" if parts.path.endswith("/") else ""
    return urlunsplit(parts._replace(path=path + slash))


class _StartTags(HTMLParser):
    """Collects where start tags stand, and what is to stand there."""

    def __init__(self, page: str, rewrite: Callable[[str], str]) -> None:
        super().__init__(convert_charrefs=False)
        self._rewrite = rewrite
        lines = page.split("\n")
        self._line_starts = [
            0,
            *itertools.accumulate(len(line) + 1 for line in lines),
        ]
        self.replaced: list[tuple[int, int, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One tag; `/` before its end, if it stands there."""
        raw = self.get_starttag_text() or ""
        line, column = self.getpos()
        start = self._line_starts[line - 1] + column
        text = "<" + tag
        for key, value in attrs:
            value = value or ""
            if key in URL_ATTRIBUTES.get(tag, ()):
                value = self._rewrite(value)
            text += f' {key}="{value.translate(_ESCAPES)}"'
        text += "/>" if raw.endswith("/>") else ">"
        self.replaced.append((start, start + len(raw), text))


def rewrite_html(page: str, rewrite: Callable[[str], str]) -> str:
    """The page with other addresses in its start tags, which are written anew; all else
    is as it was.
    """
    pieces, end = [], 0
    for start, stop, text in _StartTags(page, rewrite).replaced:
        pieces += [page[end:start], text]
        end = stop
    return "".join([*pieces, page[end:]])


async def rewrite_response(
    response: Response, rewrite: Callable[[str], str]
) -> Response:
    """The answer with its `Location` or, if it is a page, its links rewritten. What is
    compressed in a way that nobody knows here goes on as it is, and so does a page of
    more than `MAX_PAGE` bytes: upstream's links are rewritten as they pass by.
    """
    headers = {key.lower(): value for key, value in response.headers.items()}
    if headers.get("location"):
        to = rewrite(headers["location"])
        return replace(response, headers={**response.headers, "Location": to})
    coding = headers.get("content-encoding", "")
    kind = headers.get("content-type", "").partition(";")[0].strip()
    if kind != "text/html" or coding not in _CODINGS:
        return response
    unpack, pack = _CODINGS[coding]
    pieces, whole = await _beginning(response)
    if not whole:
        return _resumed(response, pieces)
    body = b"".join(pieces)
    size = len(body) if not coding else LARGE + 1
    rewritten = await beside(size, partial(_rewritten, unpack, pack, rewrite), body)
    if rewritten is None:
        return replace(response, stream=None, body=body)
    kept = {k: v for k, v in response.headers.items() if k.lower() != "content-length"}
    return replace(response, headers=kept, stream=None, body=rewritten)


def _rewritten(
    unpack: Callable[[bytes], bytes],
    pack: Callable[[bytes], bytes],
    rewrite: Callable[[str], str],
    body: bytes,
) -> bytes | None:
    """None: not what its coding says, too large to be read, or not to be read by
    Python's parser, which insists on names after `<![`.
    """
    try:
        page = unpack(body)
        text = rewrite_html(page.decode(errors="surrogateescape"), rewrite)
    except (EOFError, zlib.error, AssertionError):
        return None
    return pack(text.encode(errors="surrogateescape"))


async def _beginning(response: Response) -> tuple[list[bytes], bool]:
    """Pieces of the body, and whether that is all. If not, the stream goes on."""
    if response.stream is None:
        body = response.body or b""
        return [body], len(body) <= MAX_PAGE
    assert response.encode_frame is not None
    pieces: list[bytes] = []
    size = 0
    async for frame in response.stream:
        pieces.append(response.encode_frame(frame))
        size += len(pieces[-1])
        if size > MAX_PAGE:
            return pieces, False
    return pieces, True


def _resumed(response: Response, pieces: list[bytes]) -> Response:
    """What was read, and all that follows."""
    stream, encode = response.stream, response.encode_frame
    if stream is None or encode is None:
        return response

    async def passed_on() -> AsyncIterator[Any]:
        try:
            for piece in pieces:
                yield piece
            async for frame in stream:
                yield encode(frame)
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()

    return replace(response, stream=passed_on(), encode_frame=_as_it_is)


def _as_it_is(piece: Any) -> bytes:
    assert isinstance(piece, bytes)
    return piece


def _unpacked(bits: int, data: bytes) -> bytes:
    """Raises EOFError for what is cut off, or larger than `MAX_PAGE`; `zlib.error`."""
    page = b""
    while data:  # a file of gzip may be several, one behind the other
        unpacker = zlib.decompressobj(bits)
        page += unpacker.decompress(data, MAX_PAGE - len(page) + 1)
        if not unpacker.eof or len(page) > MAX_PAGE:
            raise EOFError
        data = unpacker.unused_data if bits > zlib.MAX_WBITS else b""
    return page


def _deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


_CODINGS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "": (bytes, bytes),
    "gzip": (partial(_unpacked, 16 + zlib.MAX_WBITS), gzip.compress),
    "deflate": (partial(_unpacked, -zlib.MAX_WBITS), _deflate),
}
"""How each coding is undone and done."""
