"""Commands in containers: the ends of an interactive one, the result of one that is
waited for.

Upstream: `cri-streaming/pkg/streaming/server.go` (`Runtime`) and
`cri-api/pkg/apis/runtime/v1/api.proto` (`ExecSyncResponse`), v1.36.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass


async def _ignore(data: bytes) -> None:
    return None


@dataclass(slots=True)
class Streams:
    """The ends of an interactive call, as the caller holds them.

    `stdin` yields what to send, None for no input at all; when it ends, the other side
    sees end of file. `stdout` and `stderr` are awaited with every piece that arrives
    (with a terminal everything is stdout). `resize` yields (width, height) in
    characters.
    """

    stdin: AsyncIterator[bytes] | None = None
    stdout: Callable[[bytes], Awaitable[None]] = _ignore
    stderr: Callable[[bytes], Awaitable[None]] = _ignore
    resize: AsyncIterator[tuple[int, int]] | None = None


@dataclass(slots=True, frozen=True)
class ExecSyncResponse:
    """How a command in a container ended."""

    exit_code: int
    stdout: str = ""
    stderr: str = ""
