"""Whoever waits too long is ended by one thread, which watches over all tests of a process one after the other.

pytest-timeout starts a thread for each test: nearly a millisecond of processor time, as much as many a test takes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from time import monotonic
from typing import Any

import pytest

LOOKS = 60.0
"""Seconds after which the watchman looks again even if there is nobody to watch: whoever has longer than that need not wake him."""


def in_a_thread(work: Callable[[], None]) -> None:
    """Work that goes on for as long as the process."""
    threading.Thread(target=work, name="watchman", daemon=True).start()


class Watchman:
    """Calls `too_late(*about)`, in a thread of its own, when somebody's time is over."""

    def __init__(
        self,
        too_late: Callable[..., None],
        clock: Callable[[], float] = monotonic,
        begin: Callable[[Callable[[], None]], None] = in_a_thread,
    ) -> None:
        self._too_late, self._clock, self._begin = too_late, clock, begin
        self._changed = threading.Condition()
        self._end: float | None = None
        self._about: tuple[Any, ...] = ()
        self._looks_at = 0.0
        self._begun = False

    def watch(self, seconds: float, *about: Any) -> None:
        """From now on; whoever was watched before is not any more."""
        with self._changed:
            self._end, self._about = self._clock() + seconds, about
            if not self._begun:
                self._begun = True
                self._begin(self._watch)
            elif self._end < self._looks_at:
                self._changed.notify()

    def leave(self) -> None:
        """Nobody is watched."""
        with self._changed:
            self._end = None

    def _watch(self) -> None:
        with self._changed:
            while True:
                self._changed.wait(self.look())

    def look(self) -> float:
        """End whose time is over. Seconds until there is a reason to look again."""
        now = self._clock()
        if self._end is not None and self._end <= now:
            self._end = None
            self._too_late(*self._about)
        self._looks_at = now + LOOKS if self._end is None else min(self._end, now + LOOKS)
        return self._looks_at - now


def end_all(item: pytest.Item, settings: Any) -> None:
    """Print every thread's stack, and end the process."""
    from pytest_timeout import timeout_timer

    timeout_timer(item, settings)


@cache
def _watchman() -> Watchman:
    """The one of this process; a browser tab has no threads, and none."""
    return Watchman(end_all)


@pytest.hookimpl(optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool | None:
    """In place of pytest-timeout's thread; None: its signal is what was asked for."""
    if settings.method != "thread":
        return None
    item.cancel_timeout = _watchman().leave  # type: ignore[attr-defined]
    _watchman().watch(settings.timeout, item, settings)
    return True
