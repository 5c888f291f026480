"""SPDY/3.1 frames: bytes to frames and back.

SPDY is HTTP/2's dead ancestor. Kubernetes has used it since 2014 for one thing: several
streams of bytes over one upgraded connection. A control frame has a type, flags and a
payload; a data frame a stream number, flags and bytes. Header blocks are
zlib-compressed with a fixed dictionary, and the compressor's state lasts as long as the
connection, so frames have to be decoded in order.

Upstream: the SPDY/3.1 draft; `github.com/moby/spdystream/spdy` (`Framer`), v0.5. Left
out: flow control (the Go library that kubectl and the kubelet share ignores it too),
settings, credentials.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

SYN_STREAM, SYN_REPLY, RST_STREAM, SETTINGS, PING, GOAWAY, HEADERS, WINDOW_UPDATE = (
    1,
    2,
    3,
    4,
    6,
    7,
    8,
    9,
)
FLAG_FIN = 1
MAX_HEADERS = 64 * 1024
"""Bytes of a frame's headers, decompressed: a frame of 16 MiB may have 16 GiB of them.
Kubernetes' streams say what kind they are, and no more. Upstream: `maxHeaderFieldSize`
of Go's library, which counts each field, and later.
"""
SHORTEST_HEADER = 8
"""Bytes: the lengths of an empty name and an empty value."""
VERSION = 3

_NAMES = tuple(
    """
    options head post put delete trace accept accept-charset accept-encoding
    accept-language accept-ranges age allow authorization cache-control connection
    content-base content-encoding content-language content-length content-location
    content-md5 content-range content-type date etag expect expires from host if-match
    if-modified-since if-none-match if-range if-unmodified-since last-modified location
    max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after
    server te trailer transfer-encoding upgrade user-agent vary via warning
    www-authenticate method get status
    """.split()  # noqa: SIM905 - a list of fifty words is no better to read
)
_TAIL = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad"
    " Request401 Unauthorized403 Forbidden"
    "404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri,"
    " Sat, Sun, GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,"
    "text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)


def _dictionary() -> bytes:
    words = [
        *_NAMES,
        "200 OK",
        "version",
        "HTTP/1.1",
        "url",
        "public",
        "set-cookie",
        "keep-alive",
        "origin",
    ]
    return (
        b"".join(len(word).to_bytes(4, "big") + word.encode() for word in words)
        + _TAIL.encode()
    )


DICTIONARY = _dictionary()
"""What both sides' compressors know from the start: 1423 bytes, fixed by the draft."""


class FrameError(ValueError):
    """Not SPDY."""


@dataclass(slots=True, frozen=True)
class Frame:
    """One frame. `kind` 0 is data. `headers` of SYN_STREAM and SYN_REPLY; `data` of
    data frames; `number` of a ping, or a status.
    """

    kind: int
    stream: int = 0
    flags: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    data: bytes = b""
    number: int = 0

    @property
    def fin(self) -> bool:
        """The sender's last frame on this stream."""
        return bool(self.flags & FLAG_FIN)


class FrameDecoder:
    """Bytes in, frames out."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._zlib = zlib.decompressobj(zdict=DICTIONARY)

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that are complete now. Raises FrameError."""
        buffer = self._buffer
        buffer += data
        while len(buffer) >= 8:
            length = int.from_bytes(buffer[5:8], "big")
            if len(buffer) < 8 + length:
                return
            head, payload = bytes(buffer[:8]), bytes(buffer[8 : 8 + length])
            del buffer[: 8 + length]
            frame = self._frame(head, payload)
            if frame is not None:
                yield frame

    def _frame(self, head: bytes, payload: bytes) -> Frame | None:
        first, flags = int.from_bytes(head[:4], "big"), head[4]
        if not first >> 31:
            return Frame(0, first, flags, data=payload)
        if (first >> 16) & 0x7FFF != VERSION:
            raise FrameError(f"SPDY version {(first >> 16) & 0x7FFF}")
        kind = first & 0xFFFF
        number = int.from_bytes(payload[:4], "big")
        if kind == SYN_STREAM:
            return Frame(kind, number & 0x7FFFFFFF, flags, self._headers(payload[10:]))
        if kind in (SYN_REPLY, HEADERS):
            return Frame(kind, number & 0x7FFFFFFF, flags, self._headers(payload[4:]))
        if kind == RST_STREAM:
            return Frame(
                kind,
                number & 0x7FFFFFFF,
                flags,
                number=int.from_bytes(payload[4:8], "big"),
            )
        if kind in (PING, GOAWAY):
            return Frame(kind, 0, flags, number=number)
        return None  # settings and window updates: nothing here depends on them

    def _headers(self, block: bytes) -> tuple[tuple[str, str], ...]:
        try:
            raw = self._zlib.decompress(block, MAX_HEADERS)
        except zlib.error as error:
            raise FrameError(f"headers: {error}") from None
        if self._zlib.unconsumed_tail:
            raise FrameError(f"headers: more than {MAX_HEADERS} bytes")
        position, headers = 4, []
        number = int.from_bytes(raw[:4], "big")
        if number * SHORTEST_HEADER > len(raw):
            raise FrameError(f"headers: not {number} of them")
        for _ in range(number):
            texts = []
            for _ in range(2):
                end = position + 4 + int.from_bytes(raw[position : position + 4], "big")
                texts.append(raw[position + 4 : end].decode("latin-1"))
                position = end
            headers += [(texts[0], value) for value in texts[1].split("\0")]
        return tuple(headers)


class FrameEncoder:
    """Frames in, bytes out."""

    def __init__(self) -> None:
        self._zlib = zlib.compressobj(zdict=DICTIONARY)

    def data(self, stream: int, data: bytes, *, fin: bool = False) -> bytes:
        """A data frame."""
        return (
            stream.to_bytes(4, "big")
            + bytes([FLAG_FIN if fin else 0])
            + len(data).to_bytes(3, "big")
            + data
        )

    def syn_stream(self, stream: int, headers: Mapping[str, str]) -> bytes:
        """Open a stream: what a client does."""
        return self._control(
            SYN_STREAM, stream.to_bytes(4, "big") + bytes(6) + self._block(headers)
        )

    def syn_reply(self, stream: int) -> bytes:
        """Accept a stream, without headers."""
        return self._control(SYN_REPLY, stream.to_bytes(4, "big") + self._block({}))

    def rst_stream(self, stream: int, status: int = 5) -> bytes:
        """Give a stream up; 5 is *cancel*."""
        return self._control(
            RST_STREAM, stream.to_bytes(4, "big") + status.to_bytes(4, "big")
        )

    def ping(self, number: int) -> bytes:
        """The answer to a ping is the ping."""
        return self._control(PING, number.to_bytes(4, "big"))

    def goaway(self, last_stream: int) -> bytes:
        """No more streams."""
        return self._control(GOAWAY, last_stream.to_bytes(4, "big") + bytes(4))

    def _control(self, kind: int, payload: bytes) -> bytes:
        first = 1 << 31 | VERSION << 16 | kind
        return (
            first.to_bytes(4, "big") + b"\0" + len(payload).to_bytes(3, "big") + payload
        )

    def _block(self, headers: Mapping[str, str]) -> bytes:
        raw = len(headers).to_bytes(4, "big")
        for name, value in headers.items():
            for text in (name.lower().encode("latin-1"), value.encode("latin-1")):
                raw += len(text).to_bytes(4, "big") + text
        return self._zlib.compress(raw) + self._zlib.flush(zlib.Z_SYNC_FLUSH)
