"""Comparing clusters: may this name stand for that one, everywhere?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from lifecycle.compare.pairing import Bijection
from lifecycle.exercises.exercise import Attempt, Case, Exercise

CONTRACT = """\
agree(meetings) -> list of bool

meetings: what was found in the same place of two clusters, in order:
        [[kind, name], [kind, name]], ours and theirs: ["uid", "u-1"].
Returns for each whether it may be: the two are of one kind, and either both are met for
the first time, or they have met before. Whoever has once been taken for a partner stays
it. A meeting that may not be changes nothing. The same name of another kind is somebody
else."""

STARTER = '''\
def agree(meetings):
    """Who may stand for whom."""
    partners = {}
    return [partners.setdefault(ours[1], theirs) == theirs for ours, theirs in meetings]
'''

SEED = 36
Meeting = list[list[str]]
SAID: dict[str, tuple[str, ...]] = {
    "the first time": ("a1 x1",),
    "the same again": ("a1 x1", "a1 x1"),
    "two pairs": ("a1 x1", "a2 x2", "a1 x1", "a2 x2"),
    "ours has another partner": ("a1 x1", "a1 x2"),
    "theirs has another partner": ("a1 x1", "a2 x1"),
    "exchanged": ("a1 x1", "a2 x2", "a1 x2", "a2 x1"),
    "another kind": ("a1 X1",),
    "the same name of another kind": ("a1 x1", "A1 X2"),
    "theirs, of another kind": ("a1 x1", "A2 X1"),
    "a refused one is free": ("a1 x1", "a1 x2", "a2 x2"),
    "ours, refused, is free": ("a1 x1", "a2 x1", "a2 x2"),
    "of another kind, then free": ("a1 X1", "a1 x1", "A1 X1"),
    "the same name on both sides": ("a1 a1", "a2 a1", "a1 a2"),
}


def cases() -> Iterator[Case]:
    """Each rule once, and crowds in which most are who they seem to be."""
    for label, words in SAID.items():
        yield _case("one rule", label, [_meeting(word) for word in words])
    chance = Random(SEED)
    for number in range(60):
        right = dict(zip("abcdef", chance.sample("uvwxyz", 6), strict=True))
        meetings = []
        for _ in range(25):
            one, kind = chance.choice("abcdef"), chance.choice(("uid", "uid", "ip"))
            other = right[one] if chance.random() < 0.8 else chance.choice("uvwxyz")
            their_kind = kind if chance.random() < 0.95 else "name"
            meetings.append([[kind, one], [their_kind, other]])
        yield _case("a crowd", f"clusters {number}", meetings)


def _meeting(word: str) -> Meeting:
    """Capital letters are of another kind."""
    return [
        ["uid" if name[0].islower() else "ip", name.lower()] for name in word.split()
    ]


def _case(group: str, label: str, meetings: list[Meeting]) -> Case:
    ask: Callable[[Attempt], Any] = lambda attempt: attempt(meetings)  # noqa: E731
    return Case(group, label, _ours(meetings), ask, meetings)


def _ours(meetings: list[Meeting]) -> list[bool]:
    bijection = Bijection()
    return [
        bijection.bind((ours[0], ours[1]), (theirs[0], theirs[1]))
        for ours, theirs in meetings
    ]


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "bijection",
    "Who stands for whom",
    CONTRACT,
    STARTER,
    "the book's own comparator",
    cases,
    ours,
    ("against-your-own-cluster",),
)
