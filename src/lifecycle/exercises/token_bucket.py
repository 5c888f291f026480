"""The client's allowance: how long has a request to wait?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from random import Random

from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.kubectl.request.throttling import TokenBucket

CONTRACT = """\
waits(qps, burst, moments) -> list of seconds

qps:     so many tokens are made in a second. burst: so many are in the bucket at first,
        and never more.
moments: when requests want to leave, in seconds, none before the one before it.
Each request takes a token, and if there is none, one that will be made: it waits until
then. Who comes after it takes the next one. Tokens are made all the time, also parts of
one. Returns how long each request waits, to the thousandth of a second."""

STARTER = '''\
def waits(qps, burst, moments):
    """Nobody waits."""
    return [0.0 for _ in moments]
'''

SEED = 36
SAID: dict[str, tuple[float, int, tuple[float, ...]]] = {
    "twenty at once": (5, 10, (0.0,) * 20),
    "as many as it may": (5, 10, (0.0,) * 10),
    "one a second": (1, 1, tuple(map(float, range(8)))),
    "a little too fast": (1, 2, tuple(n * 0.9 for n in range(12))),
    "a rest that fills it": (5, 3, (0, 0, 0, 0, 10, 10, 10, 10)),
    "a rest that does not": (5, 10, (*(0.0,) * 12, *(1.0,) * 6)),
    "never more than the burst": (50, 2, (0, 100, 100, 100, 100)),
    "while others wait": (2, 1, (0, 0, 0, 0.25, 0.75, 3)),
    "parts of a token": (3, 1, (0, 0.1, 0.2, 0.3, 0.4)),
    "it does not begin at zero": (5, 2, (1e6, 1e6, 1e6, 1e6 + 0.1)),
    "nobody": (5, 10, ()),
    "discovery": (50, 300, (0.0,) * 310),
}


def cases() -> Iterator[Case]:
    """Each rule once, and requests at random."""
    for label, (qps, burst, moments) in SAID.items():
        yield _case("one rule", label, qps, burst, list(moments))
    chance = Random(SEED)
    for number in range(60):
        qps, burst = chance.choice((0.5, 1, 5, 20)), chance.choice((1, 2, 10))
        pauses = [chance.choice((0, 0, 0.01, 0.3, 2)) for _ in range(25)]
        wanted = [round(moment, 2) for moment in accumulate(pauses)]
        yield _case("at random", f"client {number}", qps, burst, wanted)


def _case(group: str, label: str, qps: float, burst: int, moments: list[float]) -> Case:
    ask: Callable[[Attempt], object] = lambda attempt: _rounded(  # noqa: E731
        attempt(qps, burst, moments)
    )
    question = {"qps": qps, "burst": burst, "moments": moments}
    return Case(
        group, label, _rounded(_ours(qps, burst, moments)), ask, moments, question
    )


def _rounded(seconds: Sequence[float]) -> list[int]:
    """In thousandths: the last digits of a sum are nobody's business."""
    return [round(each * 1000) for each in seconds]


def _ours(qps: float, burst: int, moments: list[float]) -> list[float]:
    bucket = TokenBucket(qps, burst)
    return [bucket.reserve(moment) for moment in moments]


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "token-bucket",
    "The client's allowance",
    CONTRACT,
    STARTER,
    "the book's own client",
    cases,
    ours,
    ("the-request-on-the-wire", "throttling"),
)
