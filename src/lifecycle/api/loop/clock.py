"""Time that can be real or virtual.

Every timer of the cluster is an ordinary asyncio timer (`asyncio.sleep`,
`loop.call_later`), and every timestamp comes from a `Clock`, which reads the running
loop. Run the same code on a `VirtualTimeLoop` and a 600-second progress deadline passes
in milliseconds, the same way each time: whenever nothing is left to do *now*, the loop
jumps to the next timer.

Upstream: `k8s.io/utils/clock` (`Clock`, `testing.FakeClock`). Left out: stepping by
hand; the loop's own order of timers is the order.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Coroutine
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any, TypeVar

from lifecycle.api.late_import import IN_A_TAB
from lifecycle.api.loop.socketless_loop import SocketlessEventLoop, run_within

T = TypeVar("T")

VIRTUAL_EPOCH = datetime(2027, 1, 1, tzinfo=UTC).timestamp()
"""Where virtual time begins: later than every recording, so that what a recorded
cluster made is never from the future.
"""


class Clock:
    """Wall time, tied to the loop that runs the cluster.

    On a `VirtualTimeLoop` the wall time starts at `VIRTUAL_EPOCH` and moves with the
    loop's timers; on any other loop it is the machine's.
    """

    def now(self) -> float:
        """Seconds since 1970."""
        loop = (
            asyncio._get_running_loop()
        )  # the cheap look: called for every stored object
        if isinstance(loop, VirtualTimeLoop):
            return VIRTUAL_EPOCH + loop.time()
        return time.time()

    def timestamp(self) -> str:
        """`metav1.Time`: RFC 3339 in UTC with seconds, as in creationTimestamp."""
        return format_time(self.now())

    def micro_timestamp(self) -> str:
        """`metav1.MicroTime`: RFC 3339 in UTC with microseconds, as in leases and
        events.
        """
        return format_micro_time(self.now())

    def nano_timestamp(self) -> str:
        """Go's `time.RFC3339Nano`: as many digits as it takes, up to nine, as the
        kubelet notes when it saw a manifest.
        """
        return format_nano_time(round(self.now() * 1e9))


def rfc3339(moment: datetime, timespec: str) -> str:
    """A moment of UTC as Go writes it, to `seconds` or `microseconds`: the year has
    four digits, as it does not with `strftime` for the first thousand years.
    """
    return f"{moment.replace(tzinfo=None).isoformat(timespec=timespec)}Z"


def format_time(seconds: float) -> str:
    """`metav1.Time` on the wire."""
    return _format_second(int(seconds // 1))


@lru_cache(8)
def _format_second(second: int) -> str:
    """Within one second it is asked for some thousand times."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))


def format_micro_time(seconds: float) -> str:
    """`metav1.MicroTime` on the wire."""
    second, fraction = divmod(seconds, 1)
    micros = round(fraction * 1e6)
    if micros == 1_000_000:
        second, micros = second + 1, 0
    return f"{_format_second(int(second))[:-1]}.{micros:06}Z"


def format_nano_time(nanoseconds: int) -> str:
    """Nanoseconds since 1970, without zeros at the end."""
    second, fraction = divmod(nanoseconds, 1_000_000_000)
    digits = f".{fraction:09}".rstrip("0").rstrip(".")
    return f"{_format_second(second)[:-1]}{digits}Z"


def parse_time(text: str) -> float:
    """Seconds since 1970 of a `metav1.Time` or `metav1.MicroTime`. Raises
    ValueError.
    """
    return datetime.fromisoformat(text).timestamp()


class _JumpingSelector(selectors.DefaultSelector):
    """A selector that never waits for time: asked to wait, it moves the virtual time
    instead.
    """

    def __init__(self) -> None:
        super().__init__()
        self.elapsed = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        """Ready file descriptors; if there are none and a timer is due later, jump
        there.
        """
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if (
            timeout is None
        ):  # no timer at all: only a socket or another thread can wake us
            return super().select(None)
        self.elapsed += timeout
        return []


class _NobodyElse:
    """What passes the time where no socket and no thread can wake us."""

    elapsed = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        """Raises RuntimeError if there is no timer: it would be for ever."""
        if timeout is None:
            raise RuntimeError("everything waits, and nothing is due any more")
        self.elapsed += timeout
        return []

    def close(self) -> None:
        """Nothing was opened."""


_Loop = SocketlessEventLoop if IN_A_TAB else asyncio.SelectorEventLoop


class VirtualTimeLoop(_Loop):  # type: ignore[misc, valid-type]
    """An event loop whose time jumps to the next timer as soon as nothing is left to
    do.
    """

    def __init__(self, at: float = VIRTUAL_EPOCH) -> None:
        """`at`: what the clocks say in the beginning, in seconds since 1970."""
        self._jumping = _NobodyElse() if IN_A_TAB else _JumpingSelector()
        self._jumping.elapsed = at - VIRTUAL_EPOCH
        super().__init__(self._jumping)
        self._clock_resolution = 1e-9

    def time(self) -> float:
        """Virtual seconds since the loop was made; or since `VIRTUAL_EPOCH`, if it was
        made to begin at another moment.
        """
        return self._jumping.elapsed


def run_virtual(main: Coroutine[Any, Any, T], at: float = VIRTUAL_EPOCH) -> T:
    """Like `asyncio.run`, on virtual time; in a browser tab also within a step of the
    tab's own loop, which runs always. `at`: what the clocks say in the beginning.
    """
    factory = partial(VirtualTimeLoop, at)
    if IN_A_TAB:
        return run_within(main, factory)
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)
