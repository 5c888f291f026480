"""What is typed or piped at a command, as it comes.

Reading may wait for ever, and nobody else may have to wait for that: a terminal or a
pipe is read on a thread of its own, which ends with the program.

Upstream: `client-go/tools/remotecommand/v2.go` (`copyStdin`), v1.36, where a
goroutine reads.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from typing import TextIO

READ_SIZE = 1 << 15
PIECES = 4
"""As many wait to be sent before reading stops."""


async def standard_input(stdin: TextIO) -> AsyncIterator[bytes]:
    """The bytes of `stdin` in pieces, until its end."""
    try:
        descriptor = stdin.fileno()
    except OSError:  # a text in memory: no need to wait for it
        text = stdin.read()
        if text:
            yield text.encode()
        return
    queue: asyncio.Queue[bytes] = asyncio.Queue(PIECES)
    loop = asyncio.get_running_loop()
    reading = (descriptor, queue, loop)
    threading.Thread(target=_read, args=reading, daemon=True).start()
    while piece := await queue.get():
        yield piece


def _read(
    descriptor: int, queue: asyncio.Queue[bytes], loop: asyncio.AbstractEventLoop
) -> None:
    piece = b"more"
    while piece:
        try:
            piece = os.read(descriptor, READ_SIZE)
        except OSError:
            piece = b""
        putting = queue.put(piece)
        try:
            asyncio.run_coroutine_threadsafe(putting, loop).result()
        except RuntimeError:  # the loop is closed: nobody wants to know any more
            putting.close()
            return
