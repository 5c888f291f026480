"""Virtual time that goes on only when somebody turns the crank.

`run_virtual` lets a cluster live until a scene is over. Here it lives on: between two
turns every task waits where it was, and a second may pass now, an hour later on.

Upstream: `k8s.io/utils/clock/testing` (`FakeClock.Step`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from lifecycle.api.loop.clock import VirtualTimeLoop
from lifecycle.api.loop.socketless_loop import outer_loop_aside

T = TypeVar("T")

A_MOMENT = 1e-6
"""Seconds in which everything happens that needs no time."""


class HandCrankedTime:
    """A loop of virtual time that stands still between two calls."""

    def __init__(self) -> None:
        self._loop = VirtualTimeLoop()

    @property
    def now(self) -> float:
        """Virtual seconds since the beginning."""
        return self._loop.time()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Let time pass until the work is done. Raises what it raises."""
        with outer_loop_aside():
            return self._loop.run_until_complete(work)

    def advance(self, seconds: float = A_MOMENT) -> None:
        """Let that much time pass, with all that is due in it."""
        self.run(asyncio.sleep(seconds))

    def start(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Work that goes on whenever time does."""
        return self._loop.create_task(work, name=name)

    def close(self) -> None:
        """The end of this time: what still waits is cancelled."""
        self.run(_cancel_others())
        with outer_loop_aside():
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
