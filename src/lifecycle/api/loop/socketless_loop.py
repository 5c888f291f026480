"""An event loop for where there are no sockets and no other threads: a browser tab.

Nobody from outside can wake it, so it needs no pipe to itself; what is meant for
another thread is done at once, by this one. While a tab's own loop is waiting for a
cell, `run_within` runs a loop of this kind to its end.

Upstream: CPython's `asyncio/base_events.py` (`BaseEventLoop`, which asks its heirs for
a selector), Pyodide's `webloop.py` (the tab's own loop).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Args = TypeVarTuple("Args")


class SocketlessEventLoop(asyncio.BaseEventLoop):
    """Timers, tasks and futures. `selector` is asked how to pass the time; it never
    has events.
    """

    def __init__(self, selector: Any) -> None:
        super().__init__()
        self._selector = selector

    def _process_events(self, event_list: list[Any]) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """Nobody sleeps who would have to be woken."""

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Args], T], *args: *Args
    ) -> asyncio.Future[T]:
        """The answer, worked out here and now: there is no other thread."""
        done: asyncio.Future[T] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """There is none."""


@contextmanager
def outer_loop_aside() -> Iterator[None]:
    """Another loop may run here, even in the middle of a step of the one that runs in
    this thread; that one stands still meanwhile. Without one, nothing changes.
    """
    outer = asyncio._get_running_loop()
    task = asyncio.current_task() if outer is not None else None
    if outer is not None and task is not None:
        asyncio.tasks._leave_task(outer, task)
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(outer)
        if outer is not None and task is not None:
            asyncio.tasks._enter_task(outer, task)


def run_within(
    main: Coroutine[Any, Any, T], loop_factory: Callable[[], asyncio.AbstractEventLoop]
) -> T:
    """Run a coroutine to its end on a loop of its own, also in the middle of a step of
    another.
    """
    with outer_loop_aside(), asyncio.Runner(loop_factory=loop_factory) as runner:
        return runner.run(main)
