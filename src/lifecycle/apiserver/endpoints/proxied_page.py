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
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import urlsplit, urlunsplit

from lifecycle.api.wire import Response

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
    compressed in a way that nobody knows here goes on as it is.
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
    body = await _body(response)
    try:
        page = unpack(body)
    except (OSError, EOFError, zlib.error):
        return replace(response, stream=None, body=body)
    text = rewrite_html(page.decode(errors="surrogateescape"), rewrite)
    body = pack(text.encode(errors="surrogateescape"))
    kept = {k: v for k, v in response.headers.items() if k.lower() != "content-length"}
    return replace(response, headers=kept, stream=None, body=body)


async def _body(response: Response) -> bytes:
    if response.stream is None:
        return response.body or b""
    assert response.encode_frame is not None
    return b"".join([response.encode_frame(frame) async for frame in response.stream])


def _inflate(data: bytes) -> bytes:
    return zlib.decompress(data, -zlib.MAX_WBITS)


def _deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


_CODINGS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "": (bytes, bytes),
    "gzip": (gzip.decompress, gzip.compress),
    "deflate": (_inflate, _deflate),
}
"""How each coding is undone and done."""
