"""Whole HTTP answers on disk, checked with the server before they are used again.

The second of kubectl's two caches, below discovery (and OpenAPI). An answer is kept
with its headers. If it named an `ETag`, that is offered back in `If-None-Match` the
next time, and a server that has nothing new says 304 and sends no body. The file's name
is the SHA-256 of the URL, its first 32 bytes are the SHA-256 of the rest: a torn file
is no answer.

Upstream: `client-go/third_party/forked/httpcache/httpcache.go` (`Transport.RoundTrip`),
`client-go/discovery/cached/disk/round_tripper.go` (`sumDiskCache`), v1.36.2. Left out:
`max-age`, `Expires` and `stale-if-error`, which no API server sends; answers other than
200 are not kept.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlencode

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Request, Response
from lifecycle.client.rest import Transport

SUM = hashlib.sha256().digest_size


class SumDiskCache:
    """Bytes by key in a folder, one file each."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def path(self, key: str) -> Path:
        """The file of a key."""
        return self._directory / hashlib.sha256(key.encode()).hexdigest()

    def get(self, key: str) -> bytes | None:
        """What was kept; None if it is not there, or not whole."""
        try:
            content = self.path(key).read_bytes()
        except OSError:
            return None
        kept = content[SUM:]
        return (
            kept
            if len(content) >= SUM and hashlib.sha256(kept).digest() == content[:SUM]
            else None
        )

    def set(self, key: str, value: bytes) -> None:
        """Keep it, or fail silently: a cache is not worth an error."""
        beside = self._directory / ".diskv-temp"
        try:
            self._directory.mkdir(mode=0o750, parents=True, exist_ok=True)
            beside.mkdir(mode=0o750, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=beside)
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(value).digest() + value)
            os.chmod(name, 0o660)
            os.rename(name, self.path(key))
        except OSError:
            return

    def delete(self, key: str) -> None:
        """Forget it."""
        self.path(key).unlink(missing_ok=True)


def canonical(header: str) -> str:
    """A header as Go writes it: `content-type` → `Content-Type`."""
    return "-".join(part.capitalize() for part in header.split("-"))


def dump_response(status: int, headers: Mapping[str, str], body: bytes) -> bytes:
    """An answer as text, the way it came over the wire: length first, then the other
    headers by name.
    """
    rest = {
        canonical(name): value
        for name, value in headers.items()
        if name.lower() != "content-length"
    }
    lines = [
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
        f"Content-Length: {len(body)}",
    ]
    lines += [f"{name}: {rest[name]}" for name in sorted(rest)]
    return "\r\n".join([*lines, "", ""]).encode() + body


def read_response(text: bytes) -> Response | None:
    """An answer from its text; None if it is none."""
    head, separator, body = text.partition(b"\r\n\r\n")
    first, *lines = head.decode(errors="replace").split("\r\n")
    words = first.split(" ")
    if not separator or len(words) < 2 or not words[1].isdecimal():
        return None
    headers = {}
    for line in lines:
        name, _, value = line.partition(": ")
        headers[name.lower()] = value
    return Response(int(words[1]), headers, body=body)


class CacheTransport:
    """A transport that keeps what may be kept. Only discovery is given one; objects
    never pass through it.

    `base` is the server's address: with the path and the query it is the key.
    """

    def __init__(self, inner: Transport, directory: Path, base: str) -> None:
        self._inner = inner
        self._cache = SumDiskCache(directory)
        self._base = base.rstrip("/")

    def key(self, request: Request) -> str:
        """The URL, as it goes over the wire."""
        query = urlencode(
            sorted(
                (name, value)
                for name, values in request.query.items()
                for value in values
            )
        )
        return f"{self._base}{request.path}" + (f"?{query}" if query else "")

    async def round_trip(self, request: Request) -> Response:
        """See `Transport`. An answer that was not sent again is marked with
        `x-from-cache`.
        """
        if request.method != "GET" or request.param("watch"):
            return await self._inner.round_trip(request)
        key = self.key(request)
        kept = self._cache.get(key)
        cached = read_response(kept) if kept is not None else None
        if cached is None:
            return self._keep(key, request, await self._inner.round_trip(request))
        headers = dict(request.headers)
        if vary_matches(cached.headers, headers) and cached.headers.get("etag"):
            headers["if-none-match"] = cached.headers["etag"]
        conditional = Request(
            method="GET", path=request.path, query=request.query, headers=headers
        )
        answer = await self._inner.round_trip(conditional)
        if answer.status == 304:
            hop = ("connection", "transfer-encoding", "content-length")
            newer = {
                name: value for name, value in answer.headers.items() if name not in hop
            }
            answer = Response(
                cached.status,
                {**cached.headers, **newer, "x-from-cache": "1"},
                body=cached.body,
            )
        elif answer.status != 200:
            self._cache.delete(key)
        return self._keep(key, request, answer)

    def _keep(self, key: str, request: Request, answer: Response) -> Response:
        control = {
            word.strip().split("=")[0]
            for word in answer.headers.get("cache-control", "").split(",")
        }
        if answer.status != 200 or "no-store" in control:
            return answer
        if answer.body is None:
            answer = Response(
                answer.status, answer.headers, body=fast_json.dumps(answer.obj)
            )
        kept = {
            name: value
            for name, value in answer.headers.items()
            if name != "x-from-cache"
        }
        for name in _vary(answer.headers):
            if request.headers.get(name):
                kept[f"x-varied-{name}"] = request.headers[name]
        self._cache.set(key, dump_response(answer.status, kept, answer.body or b""))
        return answer

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()


def _vary(headers: Mapping[str, str]) -> list[str]:
    return [
        name.strip().lower()
        for name in headers.get("vary", "").split(",")
        if name.strip()
    ]


def vary_matches(cached: Mapping[str, str], request_headers: Mapping[str, str]) -> bool:
    """The headers on which the answer depended are the same now."""
    return all(
        request_headers.get(name, "") == cached.get(f"x-varied-{name}", "")
        for name in _vary(cached)
    )
