"""Between a caller's streams, and a process or a socket.

Upstream: containerd `internal/cri/io/helpers.go`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from lifecycle.cri.apis.streams import Streams


async def no_input() -> Any:
    """Yields nothing, and ends."""
    return
    yield b""


async def send_input(writer: asyncio.StreamWriter | None, streams: Streams) -> None:
    """All of `stdin`, and then its end; the other side may hang up meanwhile."""
    if writer is None or streams.stdin is None:
        return
    with suppress(ConnectionError):
        async for data in streams.stdin:
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


async def copy_output(
    reader: asyncio.StreamReader, write: Callable[[bytes], Awaitable[None]]
) -> None:
    """Until there is no more."""
    while data := await reader.read(65536):
        await write(data)
