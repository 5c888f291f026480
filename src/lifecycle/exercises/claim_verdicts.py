"""What still holds: does a witness contradict the ledger?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from lifecycle.compare.claims import VERDICTS, Cell, Partly, every, some
from lifecycle.exercises.exercise import Attempt, Case, Exercise

CONTRACT = """\
contradicted(verdict, how, seen, elsewhere) -> bool

verdict:   of the ledger: "holds", "changed", "removed", "wrong-from-the-start" or
        "partly".
how:       "every" or "some": has the claim to be true of every place that was looked
        at, or of some place?
seen:      a list of bool, one for each place: was the claim true there? Perhaps empty.
elsewhere: None; or, for a claim that is said to be partly true, whether it was seen to
        fail where it should.
A witness who has looked at no place is silent, and silence contradicts nothing. What
holds has to be seen; of what has changed, was removed or was never true the opposite.
A verdict "partly" needs both: it has been seen to hold here, and to fail elsewhere.
Whoever has nothing to say about elsewhere (None) contradicts it, and so is any other
verdict contradicted by somebody who has something to say about it."""

STARTER = '''\
def contradicted(verdict, how, seen, elsewhere):
    """Does the witness say otherwise?"""
    found = all(seen) if how == "every" else any(seen)
    return found != (verdict == "holds")
'''

PLACES: tuple[list[bool], ...] = (
    [],
    [True],
    [False],
    [True, True],
    [True, False],
    [False, False, True],
    [False, False],
)


def cases() -> Iterator[Case]:
    """Every verdict, and all that can be seen."""
    for verdict, how, seen, elsewhere in product(
        VERDICTS, ("every", "some"), PLACES, (None, True, False)
    ):
        words = " ".join("yes" if one else "no" for one in seen) or "nothing"
        label = f"{how}: {words}"
        if elsewhere is not None:
            label += ", failed elsewhere" if elsewhere else ", held elsewhere"
        yield _case(verdict, label, verdict, how, seen, elsewhere)


def _case(
    group: str,
    label: str,
    verdict: str,
    how: str,
    seen: list[bool],
    elsewhere: bool | None,
) -> Case:
    ask: Callable[[Attempt], Any] = lambda attempt: attempt(  # noqa: E731
        verdict, how, seen, elsewhere
    )
    question = {"verdict": verdict, "how": how, "seen": seen, "elsewhere": elsewhere}
    return Case(group, label, _ours(verdict, how, seen, elsewhere), ask, seen, question)


def _ours(verdict: str, how: str, seen: list[bool], elsewhere: bool | None) -> bool:
    found = every(seen) if how == "every" else some(seen)
    if found is None or elsewhere is None:
        return Cell(verdict, found).contradicted
    return Cell(verdict, Partly(found, elsewhere)).contradicted


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "claim-verdicts",
    "Does the witness contradict?",
    CONTRACT,
    STARTER,
    "the book's own ledger of claims",
    cases,
    ours,
    ("what-still-holds", "claims"),
)
