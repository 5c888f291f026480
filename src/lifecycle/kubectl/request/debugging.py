"""What `-v=6` to `-v=9` print about requests, and what they keep to themselves.

6: one line for each answer. 7: a line for the request and one for the status. 8:
   headers and bodies as well, bodies cut after 1,024
characters. 9: the request as a `curl` command, and where the time went. Credentials are
masked at every level.

Upstream: `client-go/transport/round_trippers.go` (`debuggingRoundTripper`, `maskValue`,
`toCurl`), `client-go/rest/request.go` (`logBody`, `truncateBody`), `k8s.io/klog/v2`
(text format), v1.36.2. Left out: the source line in each header is the round tripper's
also where upstream names the caller; `envvar.go` lines about feature gates, which the
client here does not have.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from http import HTTPStatus
from urllib.parse import urlsplit

from lifecycle.api import fast_json
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.clock import Clock
from lifecycle.client.rest import Transport
from lifecycle.kubectl import source_lines
from lifecycle.kubectl.discovery.http_cache import canonical
from lifecycle.kubectl.request.http_transport import HTTPTransport, Timing, body_of

Log = Callable[[str], object]
"""Takes one line (with its newline) for stderr."""
LIMITS = {8: 1024, 9: 10240}
KNOWN_AUTH_TYPES = ("bearer", "basic", "negotiate")


def klog_line(
    message: str,
    values: Mapping[str, object],
    *,
    source: str,
    now: float,
    severity: str = "I",
) -> str:
    """A line of structured log: header, quoted message, `key=value`; text of several
    lines is set off and indented.

    `now` is seconds since 1970. The header says severity, date, time, process and
    source line.
    """
    line = " ".join(
        [
            go_quote(message),
            *(f"{key}={_value(value)}" for key, value in values.items()),
        ]
    )
    return plain_klog_line(line, source=source, now=now, severity=severity)


def plain_klog_line(text: str, *, source: str, now: float, severity: str = "I") -> str:
    """A line of log that is only a text."""
    when = datetime.fromtimestamp(now)
    return (
        f"{severity}{when:%m%d %H:%M:%S}.{when.microsecond:06} {os.getpid():7}"
        f" {source}] {text}\n"
    )


def _value(value: object) -> str:
    if isinstance(value, int):
        return str(value)
    text = str(value)
    if "\n" not in text:
        return go_quote(text)
    return (
        "<\n"
        + "".join(f"\t{line}\n" for line in text.removesuffix("\n").split("\n"))
        + " >"
    )


def truncate_body(text: str, level: int) -> str:
    """As much of a body as a level shows."""
    limit = LIMITS.get(level, 0)
    if level >= 10 or len(text) <= limit:
        return text
    return f"{text[:limit]} [truncated {len(text) - limit} chars]"


def hex_dump(data: bytes) -> str:
    """Sixteen bytes a line: offset, hexadecimal, and what is printable."""
    lines = []
    for offset in range(0, len(data), 16):
        row = data[offset : offset + 16]
        cells = [f"{byte:02x}" for byte in row] + ["  "] * (16 - len(row))
        printable = "".join(chr(byte) if 32 <= byte <= 126 else "." for byte in row)
        lines.append(
            f"{offset:08x}  {' '.join(cells[:8])}  {' '.join(cells[8:])} "
            f" |{printable}|\n"
        )
    return "".join(lines)


def dump_body(body: bytes) -> str:
    """A body for people: as it is if it is text, else as a hex dump."""
    return (
        hex_dump(body)
        if any(byte < 0x0A for byte in body)
        else body.decode(errors="replace")
    )


def mask_value(header: str, value: str) -> str:
    """A header's value without secrets: of `Authorization` only the kind, and even that
    only if it is a known one.
    """
    if header.lower() != "authorization" or not value:
        return value
    kind, space, rest = value.partition(" ")
    if kind.lower() not in KNOWN_AUTH_TYPES:
        return "<masked>"
    return f"{kind} <masked>" if space and rest else kind


def to_curl(method: str, url: str, headers: Mapping[str, str]) -> str:
    """The request as a command that could be typed (without its body)."""
    header_args = "".join(
        f" -H {go_quote(f'{canonical(name)}: {mask_value(name, headers[name])}')}"
        for name in headers
    )
    return f"curl -v -X{method} {header_args} '{url}'\n"


def dump_headers(headers: Mapping[str, str]) -> str:
    """Headers one a line, sorted, secrets masked."""
    masked = sorted(
        (canonical(name), mask_value(name, value)) for name, value in headers.items()
    )
    return "".join(f"{name}: {value}\n" for name, value in masked)


class DebuggingTransport:
    """Prints each request and answer that passes, as much of it as `level` asks for (6
    to 10).

    `http` is asked for URLs and timings; without it (in-process) only the path is
    known, and nothing is dialled.
    """

    def __init__(
        self, inner: Transport, level: int, log: Log, http: HTTPTransport | None = None
    ) -> None:
        self._inner = inner
        self._level = level
        self._write = log
        self._http = http
        self._clock = Clock()

    def _log(self, message: str, values: Mapping[str, object], source: str) -> None:
        self._write(klog_line(message, values, source=source, now=self._clock.now()))

    async def round_trip(self, request: Request) -> Response:
        """See `Transport`."""
        url = self._http.url(request) if self._http is not None else request.path
        level = self._level
        where = {"verb": request.method, "url": url}
        if level >= 9:
            self._log(
                "Request",
                {"curlCommand": to_curl(request.method, url, request.headers)},
                source_lines.REQUEST,
            )
        elif level >= 7:
            fields = {**where, "headers": dump_headers(request.headers)}
            self._log("Request", fields, source_lines.REQUEST)
        start = self._clock.now()
        answer = await self._inner.round_trip(request)
        timing = self._http.last if self._http is not None else Timing()
        if level >= 9 and not timing.reused:
            address = urlsplit(url).netloc
            self._log(
                "HTTP Trace: Dial succeed",
                {"network": "tcp", "address": address},
                source_lines.DIAL,
            )
        values: dict[str, object] = {} if level in (7, 8) else dict(where)
        values["status"] = f"{answer.status} {HTTPStatus(answer.status).phrase}"
        if level >= 8:
            values["headers"] = dump_headers(answer.headers)
        values["milliseconds"] = int((self._clock.now() - start) * 1000)
        if level >= 9:
            values |= _details(timing)
        self._log("Response", values, source_lines.RESPONSE)
        return answer

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()


def _details(timing: Timing) -> dict[str, object]:
    def ms(seconds: float) -> int:
        return int(seconds * 1000)

    server = (
        {"serverProcessingMilliseconds": ms(timing.server)} if timing.server else {}
    )
    if timing.reused:
        return {"getConnectionMilliseconds": 0, **server}
    return {
        "dnsLookupMilliseconds": ms(timing.dns),
        "dialMilliseconds": ms(timing.dial),
        "tlsHandshakeMilliseconds": ms(timing.connection),
        **server,
    }


class BodyLog:
    """Prints the bodies that go out and come back, from level 8 on. It sits above
    everything that signs or retries.
    """

    def __init__(self, inner: Transport, level: int, log: Log) -> None:
        self._inner = inner
        self._level = level
        self._write = log
        self._clock = Clock()

    async def round_trip(self, request: Request) -> Response:
        """See `Transport`."""
        self._print("Request Body", body_of(request))
        answer = await self._inner.round_trip(request)
        if answer.stream is None:
            self._print("Response Body", _bytes(answer))
        return answer

    def _print(self, which: str, body: bytes) -> None:
        text = truncate_body(dump_body(body), self._level)
        self._write(
            klog_line(
                which, {"body": text}, source=source_lines.BODY, now=self._clock.now()
            )
        )

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()


def _bytes(answer: Response) -> bytes:
    if answer.body is not None:
        return answer.body
    return fast_json.dumps(answer.obj) + b"\n" if answer.obj is not None else b""
