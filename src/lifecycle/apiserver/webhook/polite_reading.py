"""Reading an answer from somebody who may be hostile, in a thread beside many others.

Threads wait for their webhooks all at the same time, which costs nothing. They read
what has arrived one after the other: to take three million chunks of one byte apart is
seconds of work, and of ten who are at it at once each takes the loop a turn. So there
is one turn for all of them, which whoever waits for bytes leaves to the others.

An answer has one time in which to arrive, however busily it does; and it may be
announced (*100 Continue*) as often as fits into its headers' room, and not for ever.

Upstream: Go's `net/http` (`Transport.MaxResponseHeaderBytes`, `Client.Timeout`), whose
goroutines share the processors, v1.25.
"""

from __future__ import annotations

import http.client
import io
import socket
import threading
import time
from typing import Any

MOST_ANNOUNCEMENTS = (10 << 20) // len("HTTP/1.1 100 Continue\r\n\r\n")
"""Go counts their bytes, and takes ten megabytes."""

TOO_MANY = (
    "net/http: HTTP/1.x transport connection broken: net/http: server response headers"
    f" exceeded {10 << 20} bytes; aborted"
)
BUFFER = 16 << 10
"""Bytes that are read at a time, and taken apart in one turn."""

_turn = threading.Lock()


class Polite:
    """A connected socket, as `http.client` uses one, for as long as a request takes:
    between `with` and its end the thread has the turn, except while it waits for
    bytes. `timeout`: seconds for all that is read. A read after that raises
    TimeoutError.
    """

    def __init__(self, connected: socket.socket, timeout: float) -> None:
        self._connected = connected
        self._deadline = time.monotonic() + timeout

    def __enter__(self) -> Any:
        _turn.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        _turn.release()

    def sendall(self, data: bytes) -> None:
        """See `socket.socket`."""
        _turn.release()
        try:
            self._connected.sendall(data)
        finally:
            _turn.acquire()

    def makefile(self, mode: str) -> io.BufferedReader:
        """What arrives."""
        return io.BufferedReader(_Arriving(self), BUFFER)

    def receive(self, buffer: Any) -> int:
        """How many bytes have been put there. Raises OSError."""
        _turn.release()
        try:
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("timed out")
            self._connected.settimeout(left)
            return self._connected.recv_into(buffer)
        finally:
            _turn.acquire()

    def close(self) -> None:
        """Whoever opened it does that."""


class _Arriving(io.RawIOBase):
    def __init__(self, polite: Polite) -> None:
        self._polite = polite

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._polite.receive(buffer)


class Answer(http.client.HTTPResponse):
    """One that is not announced for ever."""

    _announced = 0

    def _read_status(self) -> tuple[str, int, str]:
        status: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]
        if 100 <= status[1] < 200:
            self._announced += 1
            if self._announced > MOST_ANNOUNCEMENTS:
                raise http.client.HTTPException(TOO_MANY)
        return status
