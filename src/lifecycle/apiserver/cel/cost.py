"""What an expression may cost while it runs.

An expression of a hundred characters can ask for more than any machine has: a text that
replaces each letter by two, twenty times over; variables of which each is twice the one
before. The library stops loops after 10,000 rounds, and does not count what it makes.
So what is made is counted here: texts before a function makes them, lists and maps as
they come out of an expression. What a loop over something long takes is not counted
but measured, between its pieces (`pieces.py`).

Upstream: `apiserver/pkg/apis/cel/config.go` (`PerCallLimit`), cel-go's
`common/cost.go` (`StringTraversalCostFactor`) and `interpreter/runtimecost.go`, v1.36.
There each operation is counted, and a list is not copied on its way from one expression
to the next. Left out: the budget of a whole policy, estimates before an expression
runs, and what `+` makes within one expression.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import local
from typing import Any

from lifecycle.api.loop.worker import rest

PER_CALL_LIMIT = 1_000_000
PER_CHARACTER = 0.1
PER_ELEMENT = 10
"""What it costs to copy one out of the library."""


thread_time: Callable[[], float] = getattr(time, "thread_time", time.process_time)
"""A browser's tab has one thread."""

SECONDS = 0.5
"""Of processor time, for one call. What may cost a million takes less with cel-go."""


class CostError(ValueError):
    """The expression has cost too much. The text is cel-go's."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class _Call(local):
    until = float("inf")
    looked = 0.0


_call = _Call()


def begin_call() -> None:
    """From now on this thread has so much time."""
    _call.looked = thread_time()
    _call.until = _call.looked + SECONDS


def charge_time() -> None:
    """Raises CostError if the time of the call is over; what is worked out beside the
    loop rests, if it has not for long.
    """
    now = thread_time()
    if now > _call.until:
        raise CostError
    rest(now - _call.looked)
    _call.looked = now


def charge_text(characters: int) -> None:
    """For a text that is about to be made. Raises CostError."""
    if characters * PER_CHARACTER > PER_CALL_LIMIT:
        raise CostError


def charge_value(value: Any) -> None:
    """For a result and all that is in it, counted until it is too much. Raises
    CostError.
    """
    cost, waiting = 0.0, [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str | bytes):
            cost += len(one) * PER_CHARACTER
        elif isinstance(one, list | dict):
            cost += len(one) * PER_ELEMENT
            if cost <= PER_CALL_LIMIT:
                waiting.extend(one.values() if isinstance(one, dict) else one)
        if cost > PER_CALL_LIMIT:
            raise CostError
