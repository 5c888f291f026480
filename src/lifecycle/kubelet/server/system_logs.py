"""What lies below a node's `/var/log`, for whoever may read its logs: files as they
are, folders as a page of links.

The kubelet hands them to Go's server of files, whose ways are these: a folder's address
ends in a slash and a file's does not, the wrong one is redirected; an `index.html` is
what its folder shows.

Upstream: `pkg/kubelet/server/server.go` (`InstallSystemLogHandler`), `kubelet.go`
(`ServeLogs`), Go's `net/http/fs.go` (`serveFile`, `dirList`), v1.36. Narrower: a link
is followed only as far as it stays below `/var/log`; upstream follows it anywhere. Left
out: parts of files (`Range`), conditional requests, and `?query=`, which is off unless
a kubelet is told `enableSystemLogQuery`.
"""

from __future__ import annotations

import asyncio
import html
import mimetypes
from collections.abc import AsyncIterator
from email.utils import formatdate
from pathlib import Path
from urllib.parse import quote

from lifecycle.api.http.content_type import HTML, LOOKED_AT, detect_content_type
from lifecycle.api.http.wire import Request, Response
from lifecycle.kubelet.server.plain_text import plain_text

PIECE = 64 * 1024
"""Bytes that are read at a time."""
INDEX = "index.html"
MORE_TYPES = {".log": "text/x-log; charset=utf-8"}
"""Which Go finds in the machine's own table."""
HEAD = '<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n'


class SystemLogs:
    """Serves the files below `root`; None: a node without a disk has no logs."""

    def __init__(self, root: Path | None) -> None:
        self._root = root.resolve() if root is not None else None

    async def serve(self, request: Request) -> Response:
        """The answer to a request whose path begins with `/logs`."""
        if request.method != "GET":
            refused = plain_text(405, "405: Method Not Allowed")
            refused.headers["Allow"] = "GET"
            return refused
        if request.path == "/logs":
            return Response(307, {"Location": "/logs/"}, body=b"")
        return await asyncio.to_thread(self._answer, request.path.removeprefix("/logs"))

    def _answer(self, path: str) -> Response:
        if self._root is None:
            return _page([]) if path == "/" else _refused(404, "page not found")
        try:
            found = (self._root / path.strip("/")).resolve()
            if not found.is_relative_to(self._root):
                raise FileNotFoundError(found)
            return self._show(found, path)
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return _refused(404, "page not found")
        except PermissionError:
            return _refused(403, "Forbidden")
        except OSError:
            return _refused(500, "Internal Server Error")

    def _show(self, found: Path, path: str) -> Response:
        name = path.rstrip("/").rpartition("/")[2]
        if name == INDEX and not path.endswith("/"):
            return _moved("./")
        if not found.is_dir():
            return _moved(f"../{quote(name)}") if path.endswith("/") else _file(found)
        if not path.endswith("/"):
            return _moved(f"{quote(name)}/")
        if (found / INDEX).is_file():
            return _file(found / INDEX)
        names = [f"{each.name}{'/' * each.is_dir()}" for each in found.iterdir()]
        return _page(sorted(names), found.stat().st_mtime)


def _refused(code: int, why: str) -> Response:
    answer = plain_text(code, f"{code} {why}\n")
    answer.headers["X-Content-Type-Options"] = "nosniff"
    return answer


def _moved(location: str) -> Response:
    return Response(301, {"Location": location}, body=b"")


def _page(names: list[str], changed: float | None = None) -> Response:
    links = [f'<a href="{_address(name)}">{_text(name)}</a>\n' for name in names]
    headers = {"Content-Type": HTML}
    if changed is not None:
        headers["Last-Modified"] = formatdate(changed, usegmt=True)
    return Response(200, headers, body=f"{HEAD}{''.join(links)}</pre>\n".encode())


def _address(name: str) -> str:
    """As Go's `url.URL` writes a path: a colon in its first word would make a scheme of
    it.
    """
    written = quote(name, safe="/$&+,;=:@")
    return f"./{written}" if ":" in written.partition("/")[0] else written


def _text(name: str) -> str:
    escaped = html.escape(name, quote=False)
    return escaped.replace('"', "&#34;").replace("'", "&#39;")


def _file(path: Path) -> Response:
    found = path.stat()
    kind = MORE_TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    with path.open("rb") as file:
        kind = kind or detect_content_type(file.read(LOOKED_AT))
    if kind.startswith("text/") and "charset" not in kind:
        kind += "; charset=utf-8"
    headers = {
        "Content-Type": kind,
        "Last-Modified": formatdate(found.st_mtime, usegmt=True),
    }
    return Response(
        200,
        headers,
        stream=_pieces(path, found.st_size),  # type: ignore[arg-type]
        encode_frame=bytes,  # type: ignore[arg-type]
    )


async def _pieces(path: Path, size: int) -> AsyncIterator[bytes]:
    """As much of the file as was there when it was asked for: it may be growing."""
    with await asyncio.to_thread(path.open, "rb") as file:
        while size > 0 and (
            piece := await asyncio.to_thread(file.read, min(PIECE, size))
        ):
            size -= len(piece)
            yield piece
