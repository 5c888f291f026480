"""A way to a server that may be long, and on which connections break: before a request arrives, or before its answer does."""

from __future__ import annotations

import asyncio
import contextlib
import random


class DroppingProxy:
    """`async with`; `url` is its own address. A piece on either way takes `latency` seconds, and is the connection's last with
    probability `share`."""

    def __init__(self, target: str, share: float, seed: int) -> None:
        self._host, _, port = target.removeprefix("http://").partition(":")
        self._port = int(port)
        self.share = share
        self.latency = 0.0
        self._chance = random.Random(seed)
        self._ends: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.dropped = 0

    async def __aenter__(self) -> DroppingProxy:
        self._server = await asyncio.start_server(self._begin, "127.0.0.1")
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def cut(self) -> None:
        """Every connection breaks."""
        for end in self._ends:
            end.transport.abort()

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer), name="proxied connection")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends, ways = [writer], list[asyncio.Task[None]]()
        try:
            inner_reader, inner_writer = await asyncio.open_connection(self._host, self._port)
            ends.append(inner_writer)
            self._ends.update(ends)
            ways = [
                asyncio.create_task(self._pass(reader, inner_writer)),
                asyncio.create_task(self._pass(inner_reader, writer)),
            ]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        except OSError:
            pass  # nobody listens at the other end: a connection that breaks at once
        finally:
            for way in ways:
                way.cancel()
            for end in ends:
                end.transport.abort()
            self._ends.difference_update(ends)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while piece := await reader.read(1 << 16):
                if self._chance.random() < self.share:
                    self.dropped += 1
                    return
                await asyncio.sleep(self.latency)
                writer.write(piece)
                await writer.drain()
