"""Where audit events go: a file, a line each; or a webhook, many at once.

A file is written as events come. A webhook would hold up every request, so events wait
in a buffer and go in batches: when there are enough, or when the oldest has waited long
enough. If the webhook is slower than the events come, the buffer fills up and new
events are dropped: a cluster that stands still because its log does would be worse.

Upstream: `apiserver/plugin/pkg/audit/{log,webhook,buffered}/`, defaults in
`pkg/server/options/audit.go`, v1.36. Left out: truncating large events, throttling,
blocking modes for the webhook.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections import deque
from collections.abc import Awaitable
from pathlib import Path
from typing import Protocol

from lifecycle.api import fast_json
from lifecycle.api.loop.clock import Clock
from lifecycle.api.loop.worker import beside
from lifecycle.apiserver.audit.event import event_string
from lifecycle.apiserver.audit.log_file import RotatingFile, Rotation
from lifecycle.apiserver.webhook.call import WebhookError
from lifecycle.apiserver.webhook.client import WebhookClient

BUFFER_SIZE = 10_000
MAX_BATCH_SIZE = 400
MAX_BATCH_WAIT = 30.0
BUFFER_BYTES = 64 << 20
"""What may wait in all. Upstream counts events only, whatever is in them."""

log = logging.getLogger(__name__)


class Backend(Protocol):
    """Takes events."""

    def write(self, line: bytes) -> Awaitable[None] | None:
        """One event as JSON, without a newline; what to wait for, if anything."""
        ...

    async def close(self) -> None:
        """Write what is still waiting."""
        ...


class LogBackend:
    """A file, appended to and rotated; `-` is standard output. `legacy` writes plain
    text instead of JSON. Raises OSError if the file cannot be opened.
    """

    def __init__(
        self,
        path: Path,
        clock: Clock,
        rotation: Rotation | None = None,
        *,
        legacy: bool = False,
    ) -> None:
        self._legacy = legacy
        self._file = (
            None
            if str(path) == "-"
            else RotatingFile(path, rotation or Rotation(), clock)
        )

    async def write(self, line: bytes) -> None:
        """See `Backend`. Each line is in the file before the request goes on. One that
        cannot be written is lost: no request fails for the sake of its log.
        """
        await beside(len(line), self._append, line)

    def _append(self, line: bytes) -> None:
        if self._legacy:
            line = event_string(fast_json.loads(line)).encode()
        try:
            if self._file is not None:
                self._file.write(line, b"\n")
            else:
                sys.stdout.buffer.write(line + b"\n")
                sys.stdout.buffer.flush()
        except (OSError, ValueError) as error:
            log.error("audit: an event could not be written: %s", error)

    async def close(self) -> None:
        """See `Backend`."""
        if self._file is not None:
            self._file.close()


class WebhookBackend:
    """Posts `EventList`s. `max_wait` is in seconds."""

    def __init__(
        self,
        client: WebhookClient,
        *,
        buffer_size: int = BUFFER_SIZE,
        max_batch: int = MAX_BATCH_SIZE,
        max_wait: float = MAX_BATCH_WAIT,
    ) -> None:
        self._client = client
        self._buffer: deque[bytes] = deque()
        self._bytes = 0
        self._size, self._max_batch, self._max_wait = buffer_size, max_batch, max_wait
        self._full = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closing = False
        self.dropped = 0
        """Events that found the buffer full, or whose batch could not be sent."""

    def write(self, line: bytes) -> None:
        """See `Backend`. Nothing to wait for."""
        bytes_waiting = self._bytes + len(line)
        if len(self._buffer) >= self._size or bytes_waiting > BUFFER_BYTES:
            self.dropped += 1
            return
        self._buffer.append(line)
        self._bytes = bytes_waiting
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(
                self._send(), name="audit webhook"
            )
        if len(self._buffer) >= self._max_batch:
            self._full.set()

    async def _send(self) -> None:
        """Batches, until nothing waits any more."""
        while self._buffer:
            if len(self._buffer) < self._max_batch and not self._closing:
                self._full.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._max_wait):
                        await self._full.wait()
            batch = [
                self._buffer.popleft()
                for _ in range(min(self._max_batch, len(self._buffer)))
            ]
            size = sum(map(len, batch))
            self._bytes -= size
            try:
                await self._client.tell(await beside(size, _event_list, batch))
            except WebhookError as error:
                self.dropped += len(batch)
                log.error("audit: %d events could not be sent: %s", len(batch), error)

    async def close(self) -> None:
        """See `Backend`."""
        self._closing = True
        self._full.set()
        if self._task is not None:
            await self._task


def _event_list(lines: list[bytes]) -> bytes:
    """What was JSON all the time: megabytes, perhaps."""
    head = b'{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":['
    return b"%b%b]}" % (head, b",".join(lines))


class Backends:
    """Several, one after the other."""

    def __init__(self, *backends: Backend) -> None:
        self._backends = backends

    async def write(self, line: bytes) -> None:
        """See `Backend`."""
        for backend in self._backends:
            waiting = backend.write(line)
            if waiting is not None:
                await waiting

    async def close(self) -> None:
        """See `Backend`."""
        for backend in self._backends:
            await backend.close()
