"""Work over many nodes, a few of them at a time.

A pod with five thousand terms about nodes takes milliseconds for each node, and a
cluster has hundreds. Whoever decides for it stops after every few nodes; who drives the
work goes on at once, or lets others have their turn in between. Nothing that the
decision looks at changes meanwhile: the snapshot is the cycle's own.

Upstream: `pkg/scheduler/framework/parallelize/parallelism.go`, where goroutines share
the nodes out in chunks, and the runtime interrupts each.
"""

from __future__ import annotations

from collections.abc import Generator
from time import perf_counter
from typing import TypeVar

from lifecycle.api.loop.pauses import Pauses

NODES = 4
"""Nodes that are looked at in one step."""

STEP = 0.002
"""Seconds that are worth a step, where a node mostly takes microseconds."""

T = TypeVar("T")
Steps = Generator[None, None, T]
"""Work that stops between its steps, and what it comes to."""


class Step:
    """How long the present step has taken, for work that asks after every few nodes."""

    __slots__ = ("_began",)

    def __init__(self) -> None:
        self._began = perf_counter()

    def is_over(self) -> bool:
        """Whether it was long enough; then the next one begins."""
        now = perf_counter()
        if now - self._began < STEP:
            return False
        self._began = now
        return True


def at_once(steps: Steps[T]) -> T:
    """All of it, now."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result


async def in_turns(steps: Steps[T]) -> T:
    """All of it, in turn with others on this loop."""
    pauses = Pauses()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        await pauses.pause()
