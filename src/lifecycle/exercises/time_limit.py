"""Stopping a stranger's code that does not come back.

An alarm interrupts it with an exception that no `except Exception` catches. Code that
catches everything, in a loop, is interrupted some times more; then the whole program
ends with a line that says so, since nothing else is left.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread

AGAIN = 5.0
"""Seconds until the next interruption of code that went on after one."""
STUBBORN = 4
"""So many interruptions are tried."""


class TooSlow(BaseException):
    """Not an `Exception`, so that an attempt cannot swallow it by accident."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Interrupt what runs inside after so many seconds; only the main thread of a Unix
    process can, and a browser tab has none: its reader presses *Stop*.
    """
    if not hasattr(signal, "setitimer") or current_thread() is not main_thread():
        yield
        return
    alarms = 0

    def stop(_signal: int, _frame: object) -> None:
        nonlocal alarms
        alarms += 1
        if alarms > STUBBORN:
            print(
                f"gave no answer within {seconds:g} s, and goes on whatever stops it:"
                " nothing was graded",
                file=sys.stderr,
            )
            sys.stderr.flush()
            os._exit(1)
        raise TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
