"""The servers of `agnhost` that do one thing: `pause`, `serve-hostname`, `liveness`,
`test-webserver`.

Upstream: `test/images/agnhost/{pause,serve-hostname,liveness,test-webserver}`, v1.36.
"""

from __future__ import annotations

import posixpath
from html import escape
from urllib.parse import parse_qs, quote, unquote, urlsplit

from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest
from lifecycle.cri.hollow.agnhost.flags import Flags
from lifecycle.cri.hollow.agnhost.log import log
from lifecycle.cri.hollow.process.filesystem import FileError
from lifecycle.cri.hollow.process.not_modelled import NotModelled
from lifecycle.cri.hollow.process.paths import absolute
from lifecycle.cri.hollow.process.process import Process
from lifecycle.cri.hollow.process.volumes import UnknownFile

NOT_FOUND = HTTPAnswer(404, "404 page not found\n")
ALIVE = 10.0
"""Seconds for which `liveness` is well."""
LINGERS = 60.0
"""Seconds for which `serve-hostname` still answers, once it is told to end."""
TERMINATED = 2
"""How `pause` ends of a SIGTERM."""
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".gif": "image/gif",
    ".htm": "text/html; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".xml": "text/xml; charset=utf-8",
}
"""Files' types by the ends of their names, as Go knows them by itself (`mime`)."""


def split_target(request: HTTPRequest) -> tuple[str, dict[str, str]]:
    """Path and query of a request; of what is given twice, the first."""
    parts = urlsplit(request.path)
    query = parse_qs(parts.query, keep_blank_values=True)
    return unquote(parts.path) or "/", {key: found[0] for key, found in query.items()}


async def pause(process: Process, flags: Flags) -> int:
    """Waits to be ended."""
    process.print("Paused")
    process.print("Signals registered")
    await process.terminated()
    process.print('exiting because of signal "terminated"')
    return TERMINATED


async def serve_hostname(process: Process, flags: Flags) -> int:
    """Says who it is, whatever it is asked."""
    hostname = process.machine.hostname
    port = flags.number("port")

    async def datagram(data: bytes) -> bytes:
        log(process, "UDP request")
        return hostname.encode()

    async def answer(request: HTTPRequest) -> HTTPAnswer:
        log(process, "HTTP request")
        return HTTPAnswer(200, hostname)

    if flags.true("tcp"):
        process.greet(port, hostname.encode())
    elif flags.true("http"):
        process.serve(port, answer)
    if flags.true("udp"):
        process.serve_datagrams(port, datagram)
    log(process, f"Serving on port {port}.")
    await process.terminated()
    log(process, "Shutting down after receiving signal: terminated.")
    log(process, "Awaiting pod deletion.")
    await process.sleep(LINGERS)
    return 0


async def liveness(process: Process, flags: Flags) -> int:
    """Well for ten seconds, and ill from then on."""
    started = process.machine.now()

    async def answer(request: HTTPRequest) -> HTTPAnswer:
        path, query = split_target(request)
        age = process.machine.now() - started
        if path == "/started":
            return HTTPAnswer(200, f"{age:.9f}s")
        if path == "/healthz":
            ill = age > ALIVE
            return (
                HTTPAnswer(500, f"error: {age:.9f}") if ill else HTTPAnswer(200, "ok")
            )
        if path == "/redirect":
            return redirect(query.get("loc", ""), 302)
        return NOT_FOUND

    process.serve(8080, answer)
    await process.sleep(float("inf"))
    return 0


def redirect(location: str, status: int) -> HTTPAnswer:
    """As Go's server sends somebody elsewhere."""
    name = {302: "Found", 301: "Moved Permanently", 307: "Temporary Redirect"}
    page = f'<a href="{location}">{name.get(status, "Redirect")}</a>.\n\n'
    return HTTPAnswer(status, page, location)


async def _listing(process: Process, directory: str) -> str:
    """A directory as Go's file server shows it. Raises UnknownFile."""
    lines = []
    for name in await process.files.names(directory):
        kind = await process.files.kind(posixpath.join(directory, name))
        shown = name + ("/" if kind == "directory" else "")
        lines.append(f'<a href="{quote(shown)}">{escape(shown)}</a>\n')
    head = '<!doctype html>\n<meta name="viewport" content="width=device-width">\n'
    return f"{head}<pre>\n{''.join(lines)}</pre>\n"


async def test_webserver(process: Process, flags: Flags) -> int:
    """The container's files, from `/` on."""

    async def answer(request: HTTPRequest) -> HTTPAnswer:
        path, _ = split_target(request)
        full = absolute("/", path)
        try:
            if await process.files.kind(full) == "directory":
                if not path.endswith("/"):
                    return HTTPAnswer(301, location=f"{path.rpartition('/')[2]}/")
                return HTTPAnswer(200, await _listing(process, full))
            data = await process.files.read(full)
        except FileError:
            return NOT_FOUND
        except UnknownFile as error:
            raise NotModelled(f"agnhost test-webserver: {error}") from None
        text = data.decode("utf-8", "surrogateescape")
        kind = _TYPES.get(posixpath.splitext(full)[1].lower(), "")
        return HTTPAnswer(200, text, content_type=kind)

    process.serve(flags.number("port"), answer)
    await process.sleep(float("inf"))
    return 0
