"""What large requests have freed goes back to the machine.

A list with a hundred thousand members becomes millions of small things while it is
checked, and when it is answered they are gone. But the C library keeps the room for
whoever comes next: half a gigabyte after that one request, for good. So a moment after
much has been done the library is asked to give back what nobody uses. For half a
gigabyte that takes some seventy milliseconds of a thread that nobody waits for; where
there is nothing to give, a fraction of one.

Upstream: Go's runtime, whose scavenger does the same in the background
(`runtime/mgcscavenge.go`).
"""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any
from weakref import WeakSet

MUCH = 1 << 20
"""Bytes of JSON from which on what was made of it is worth the trouble."""

MOMENT = 0.3
"""Seconds: by then an answer is on its way, and what it was made of is free."""


@cache
def _malloc_trim() -> Callable[[int], int]:
    """GNU's C library has it; for others there is nothing to do."""
    function: Callable[[int], int] | None = getattr(
        ctypes.CDLL(None), "malloc_trim", None
    )
    return function or (lambda _pad: 0)


class FreedMemory:
    """Gives back, once a `MOMENT` at most, by what `submit` hands to another thread."""

    def __init__(self, submit: Callable[[Callable[[], object]], Any]) -> None:
        self._submit = submit
        self._asked: WeakSet[asyncio.AbstractEventLoop] = WeakSet()

    def give_back_soon(self, loop: asyncio.AbstractEventLoop) -> None:
        """A moment from now on; for who asks meanwhile, too."""
        if loop not in self._asked:
            self._asked.add(loop)
            loop.call_later(MOMENT, self._give_back, loop)

    def _give_back(self, loop: asyncio.AbstractEventLoop) -> None:
        self._asked.discard(loop)
        self._submit(lambda: _malloc_trim()(0))
