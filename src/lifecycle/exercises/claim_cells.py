"""A sentence, its verdict, and what a witness has seen: do they agree?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from lifecycle.compare.claims import Cell, Partly, Refusal
from lifecycle.exercises.exercise import Attempt, Case, Exercise

CONTRACT = """\
cell(verdict, seen) -> the text that stands in the table of claims.

verdict: "holds", "partly", "changed", "removed" or "wrong-from-the-start".
seen:    what a witness says to the sentence:
         None                                it has seen nothing of the matter
         True, False                         it was seen to hold; seen not to hold
         {"holds_here": …, "fails_there": …} of a sentence that is true only under
                                             conditions: was it seen to hold where they
                                             are met, and seen to fail where they are
                                             not? Each True or False
         {"refused": why}                    the matter is not even as the question
                                             expects it to be

A witness that has seen nothing contradicts nobody: the text is the verdict alone.
A refusal contradicts every verdict. "holds" wants True, "changed", "removed" and
"wrong-from-the-start" want False, and "partly" wants both parts of the third kind,
which fits no other verdict.

Contradicted: "holds ✗ contradicted", and after a refusal ": " and why.
Otherwise:    "holds ✓ seen", "removed ✓ seen not to hold", "partly ✓ both seen"."""

STARTER = '''\
def cell(verdict, seen):
    """What the table of claims shows."""
    right = (verdict == "holds") == seen
    return f"{verdict} ✓ seen" if right else f"{verdict} ✗ contradicted"
'''

VERDICTS = ("holds", "partly", "changed", "removed", "wrong-from-the-start")
WHYS = ("no pod was ever there", "the log ends before it", "another port", "")


def cases() -> Iterator[Case]:
    """Every verdict with everything that may have been seen."""
    both = [
        {"holds_here": here, "fails_there": there}
        for here, there in product((True, False), repeat=2)
    ]
    groups: dict[str, list[Any]] = {
        "seen or not": [None, True, False],
        "under conditions": both,
        "refused": [{"refused": why} for why in WHYS],
    }
    for (group, all_seen), verdict in product(groups.items(), VERDICTS):
        for seen in all_seen:
            yield Case(
                group,
                f"{verdict}, {_words(seen)}",
                cell(verdict, seen),
                lambda a, v=verdict, s=seen: a(v, s),  # type: ignore[misc]
                [verdict, seen],
            )


def _words(seen: Any) -> str:
    if not isinstance(seen, dict):
        return {None: "silent", True: "seen", False: "seen not to hold"}[seen]
    return ", ".join(f"{name} {value}" for name, value in seen.items())


def cell(verdict: str, seen: Any) -> str:
    """As the book's table has it."""
    if not isinstance(seen, dict):
        return str(Cell(verdict, seen))
    if "refused" in seen:
        return str(Cell(verdict, Refusal(seen["refused"])))
    return str(Cell(verdict, Partly(seen["holds_here"], seen["fails_there"])))


def ours() -> Attempt:
    """The book's."""
    return cell


EXERCISE = Exercise(
    "claim-cells",
    "A verdict and its witness",
    CONTRACT,
    STARTER,
    "the book's own table of claims",
    cases,
    ours,
    ("what-still-holds", "claims"),
)
