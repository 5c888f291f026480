"""What a large request took goes back to the machine when it has been answered.

The C library keeps freed memory for later, one stock for each thread, and learns from
large pieces to keep larger ones. That is right for a program whose needs are even. A
server that was sent 3 MiB, made millions of small things of them and forgot those holds
half a gigabyte for good. So a server's process keeps one stock, whose end is given back
at once. What is free in the middle is not: for that the library has to be asked, and it
is, a moment after much was done. Half a gigabyte takes some seventy milliseconds, in a
thread of its own; who needs new memory meanwhile waits for it.

Nothing happens where the C library is not glibc.

Upstream: Go's scavenger (`runtime/mgcscavenge.go`), which gives free pages back.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import cache
from typing import Any
from weakref import WeakSet

from lifecycle.api.loop.clock import IN_A_TAB, VirtualTimeLoop

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
KEPT = 1 << 20
"""Bytes of free memory at the end of the stock."""

LARGE_PIECE = 512 << 10
"""Bytes of pieces that are no part of the stock. TLS takes a quarter of a megabyte for
each record that comes in, and gives it back: to ask the system for it takes ten times
as long as to read a short record. What is given here glibc does not raise.
"""

MUCH = 1 << 20
"""Bytes of JSON from which on what was made of it is worth the trouble: of one request,
or of many together.
"""

MOMENT = 1.0
"""Seconds: by then the answer is on its way. Nothing is given back more often."""

_asked: WeakSet[asyncio.AbstractEventLoop] = WeakSet()
_used = [0]
"""Bytes of what was worked on since the last time."""


@cache
def _c_library(name: str) -> Callable[..., Any]:
    import ctypes  # several milliseconds of every start

    try:
        function: Callable[..., Any] = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):
        return lambda *_: None
    return function


def keep_little() -> None:
    """For a process that only serves a cluster."""
    mallopt = _c_library("mallopt")
    mallopt(M_ARENA_MAX, 1)
    mallopt(M_TRIM_THRESHOLD, KEPT)
    mallopt(M_MMAP_THRESHOLD, LARGE_PIECE)


def give_back() -> None:
    """Now; for whoever is no event loop."""
    _c_library("malloc_trim")(0)


def give_back_soon() -> None:
    """A moment from now on, for all who ask meanwhile. On virtual time, where nothing
    is to happen beside the loop, it stays where it is.
    """
    loop = asyncio.get_running_loop()
    if loop not in _asked and not IN_A_TAB and not isinstance(loop, VirtualTimeLoop):
        _asked.add(loop)
        loop.call_later(MOMENT, _give_back, loop)


def give_back_after(size: int) -> None:
    """The same, once it is much."""
    _used[0] += size
    if _used[0] >= MUCH:
        _used[0] = 0
        give_back_soon()


def _give_back(loop: asyncio.AbstractEventLoop) -> None:
    _asked.discard(loop)
    with contextlib.suppress(RuntimeError):  # the loop is ending
        loop.run_in_executor(None, _c_library("malloc_trim"), 0)
