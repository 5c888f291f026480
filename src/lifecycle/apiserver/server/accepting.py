"""Taking connections in: a few in each round of the loop.

To say hello to somebody over TLS takes half a millisecond of work, and it is the loop
that everybody waits for which has to do it. A thousand may have connected, and say
theirs at the same moment. So a connection is taken over when its hello is there, which
the system knows, and a few of them at a time; whoever has one already has his answers
in between.

A connection that never says anything is closed when a handshake would have been over.

Upstream: Go's `net/http` (`Server.Serve`), where each connection has a goroutine, and
the runtime shares out the processor.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable

AT_ONCE = 8
"""Hellos that are answered in one round: a few milliseconds."""

MOST_WAITING = 4096
"""Connections that have not said hello, or are in the middle of it. Beyond that they
wait where the system keeps them.
"""

AGAIN = 0.5
"""Seconds until the next try, when there is no room for another connection."""


class Acceptor:
    """Takes connections from a socket that listens and gives each to a protocol of its
    own, over TLS. `handshake`: seconds for its beginning.
    """

    def __init__(
        self,
        listening: socket.socket,
        protocol: Callable[[], asyncio.Protocol],
        tls: ssl.SSLContext,
        handshake: float,
    ) -> None:
        listening.setblocking(False)
        self._listening = listening
        self._protocol, self._tls, self._handshake = protocol, tls, handshake
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._room = asyncio.Semaphore(MOST_WAITING)
        self._welcoming: set[asyncio.Task[None]] = set()
        self._accepting = asyncio.ensure_future(self._accept())

    async def stop(self) -> None:
        """Listen no more; who has not said hello by now will not be heard."""
        tasks = [self._accepting, *self._welcoming]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        self._listening.close()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._room.acquire()
            try:
                connected, _ = await loop.sock_accept(self._listening)
            except OSError:  # too many files are open, say
                self._room.release()
                await asyncio.sleep(AGAIN)
                continue
            task = asyncio.ensure_future(self._welcome(connected))
            self._welcoming.add(task)
            task.add_done_callback(self._welcomed)

    def _welcomed(self, task: asyncio.Task[None]) -> None:
        self._welcoming.discard(task)
        self._room.release()

    async def _welcome(self, connected: socket.socket) -> None:
        greeting: asyncio.Task[None] | None = None
        try:
            # who resets it, or is no client of TLS, is not worth a word
            with contextlib.suppress(OSError, TimeoutError):
                connected.setblocking(False)
                async with asyncio.timeout(self._handshake):
                    await _readable(connected)
                    async with self._turns:
                        greeting = asyncio.ensure_future(self._greet(connected))
                        for _ in range(2):  # by then the hello has been answered
                            await asyncio.sleep(0)
                    await greeting
        finally:
            if greeting is not None:
                greeting.cancel()
            else:
                connected.close()

    async def _greet(self, connected: socket.socket) -> None:
        with contextlib.suppress(OSError):
            await asyncio.get_running_loop().connect_accepted_socket(
                self._protocol,
                connected,
                ssl=self._tls,
                ssl_handshake_timeout=self._handshake,
            )


async def _readable(connected: socket.socket) -> None:
    """Until something has arrived, or the other side has hung up."""
    loop, arrived = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(connected, arrived.set)
    try:
        await arrived.wait()
    finally:
        loop.remove_reader(connected)
