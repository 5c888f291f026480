"""Slow start: in which batches does a ReplicaSet controller ask for pods?"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator

from lifecycle.api.loop.clock import run_virtual
from lifecycle.controllers.replicaset.slow_start_batch import slow_start_batch
from lifecycle.exercises.exercise import Attempt, Case, Exercise

CONTRACT = """\
async slow_start_batch(count, initial_batch_size, create) -> (successes, error)

Awaits create() up to count times: a batch of initial_batch_size at once, and twice
as many with each batch that succeeded entirely. A batch with a failure is the last
one. Returns how many succeeded, and the first error of that batch (None if there was
none)."""

STARTER = '''\
import asyncio


async def slow_start_batch(count, initial_batch_size, create):
    """Batches of one, two, four … calls of `create`, as long as all of them succeed."""
    for _ in range(count):
        await create()
    return count, None
'''

COUNTS = (0, 1, 2, 3, 4, 7, 8, 15, 50, 500)
INITIAL = (1, 2, 5)


class Refused(Exception):
    """What a create fails with; its text says which one it was."""


def cases() -> Iterator[Case]:
    """Batches without failures, and with one at each of several places."""
    for count in COUNTS:
        for initial in INITIAL:
            yield _case("every create succeeds", count, initial, frozenset())
            for failing in {1, count // 2, count} - {0}:
                yield _case("one create fails", count, initial, frozenset({failing}))
            yield _case(
                "every create fails", count, initial, frozenset(range(1, count + 1))
            )
    for count in COUNTS[3:]:
        for failing in sorted({0, 1, 3, count}):
            yield _case(
                "some creates take longer",
                count,
                1,
                frozenset({failing} - {0}),
                _uneven,
            )


def _even(number: int) -> float:
    return 1.0


def _uneven(number: int) -> float:
    """Failing or not, the earlier ones of a batch take longer, and no two of them as
    long.
    """
    return 1.0 + 1.0 / number


def _case(
    group: str,
    count: int,
    initial: int,
    failing: frozenset[int],
    seconds: Callable[[int], float] = _even,
) -> Case:
    label = f"count {count} from {initial}" + (
        f" failing at {min(failing)}" if failing else ""
    )
    return Case(
        group,
        label,
        _observed(slow_start_batch, count, initial, failing, seconds),
        lambda a: _observed(a, count, initial, failing, seconds),
    )


def _observed(
    attempt: Attempt,
    count: int,
    initial: int,
    failing: frozenset[int],
    seconds: Callable[[int], float],
) -> object:
    """Sizes of the batches by the moment their calls were made, and what came back."""
    moments: list[float] = []

    async def create() -> None:
        moments.append(asyncio.get_running_loop().time())
        number = len(moments)
        await asyncio.sleep(seconds(number))
        if number in failing:
            raise Refused(f"create {number}")

    async def run() -> tuple[int, Exception | None]:
        successes, error = await attempt(count, initial, create)
        return successes, error

    successes, error = run_virtual(run())
    return {
        "batches": list(Counter(moments).values()),
        "successes": successes,
        "error": str(error) if error else None,
    }


def ours() -> Attempt:
    """The book's."""
    return slow_start_batch


EXERCISE = Exercise(
    "slow-start",
    "Slow start",
    CONTRACT,
    STARTER,
    "the book's own, which made the recorded batches",
    cases,
    ours,
)
