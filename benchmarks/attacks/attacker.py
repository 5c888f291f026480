"""Someone who may send bytes: requests written by hand, so that nothing on this side tidies them up."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from typing import Any

PATIENCE = 12.0
"""Seconds after which a request is given up, answered or not."""


class Attacker:
    """Sends requests to one server. `token` is a bearer token of somebody who may do everything. `dns`: the port of the cluster's DNS."""

    def __init__(self, port: int, ca: bytes, token: str, patience: float = PATIENCE, dns: int = 0) -> None:
        self.port, self.dns, self._token, self._patience = port, dns, token, patience
        self.tls = ssl.create_default_context(cadata=ca.decode())
        self._open: list[asyncio.StreamWriter] = []

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection, closed when the attack is over."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, ssl=self.tls, limit=1 << 16)
        self._open.append(writer)
        return reader, writer

    def written(self, method: str, path: str, body: bytes = b"", **headers: str) -> bytes:
        """A request as it goes over the wire; `_` in a header's name stands for `-`."""
        given = {"Host": "127.0.0.1", "Authorization": f"Bearer {self._token}", "Content-Length": str(len(body))}
        given.update({name.replace("_", "-"): value for name, value in headers.items()})
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items() if value)]
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body

    async def ask(self, method: str, path: str, body: Any = b"", **headers: str) -> int:
        """The status; 0 if the server hung up or said nothing in time. The answer is read and thrown away."""
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body:
            headers.setdefault("Content_Type", "application/json")
        headers.setdefault("Connection", "close")
        return await self.send(self.written(method, path, body, **headers))

    async def read(self, path: str, **headers: str) -> Any:
        """The answer to a GET, read as JSON."""
        async with asyncio.timeout(self._patience):
            reader, writer = await self.connect()
            writer.write(self.written("GET", path, Connection="close", **headers))
            text = await reader.read()
            writer.transport.abort()
        return json.loads(text.partition(b"\r\n\r\n")[2])

    async def send(self, data: bytes) -> int:
        """Like `ask`, for bytes that need not be a request."""
        writer = None
        try:
            async with asyncio.timeout(self._patience):
                reader, writer = await self.connect()
                writer.write(data)
                with contextlib.suppress(ConnectionError):
                    await writer.drain()
                head = await reader.readline()
                while await reader.read(1 << 20):
                    pass
            return int(head[9:12] or 0)
        except (OSError, TimeoutError, ValueError):
            return 0
        finally:
            if writer is not None:
                writer.transport.abort()

    async def many(self, times: int, method: str, path: str, body: Any = b"", **headers: str) -> set[int]:
        """The same request several times at once."""
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        return set(await asyncio.gather(*(self.ask(method, path, body, **headers) for _ in range(times))))

    async def unread(self, count: int, path: str, seconds: float = 4.0, **headers: str) -> None:
        """Connections that ask and do not read for a while."""
        for _ in range(count):
            _, writer = await self.connect()
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            writer.write(self.written("GET", path, **headers))
        await asyncio.sleep(seconds)

    def hang_up(self) -> None:
        """Close what is still open."""
        for writer in self._open:
            writer.transport.abort()
        self._open.clear()
