"""Two clusters with other names for everything: is it the same story?"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from lifecycle.compare.pairing import Bijection
from lifecycle.exercises.exercise import Attempt, Case, Exercise

CONTRACT = """\
Partners(): a class. Which of their names is which of ours.

meet(ours, theirs) -> whether the two can be the same.
partner(ours) -> their name for it, or None if it has none yet.

A name is a list [kind, text], such as ["Pod", "nginx-7f8-x7k2w"] or ["uid", "4c1e…"].
Two names of another kind are never the same. Otherwise the first meeting makes two
names partners, for good. From then on each may stand only for the other: a meeting of
one of them with a third name is False, and changes nothing."""

STARTER = '''\
class Partners:
    """Pairs of names."""

    def __init__(self):
        self.pairs = {}

    def meet(self, ours, theirs):
        self.pairs[tuple(ours)] = theirs
        return True

    def partner(self, ours):
        return self.pairs.get(tuple(ours))
'''

Name = list[str]
SEEDS, MEETINGS = 8, 14
MOODS = {"the same story": 0.0, "nearly": 0.15, "another story": 0.6}
"""How often somebody meets a wrong one."""


def cases() -> Iterator[Case]:
    """Two clusters that tell the same with other names, and such as do not."""
    for mood, wrong in MOODS.items():
        for seed in range(SEEDS):
            meetings = list(_meetings(Random(f"{mood} {seed}"), wrong))
            yield Case(
                mood,
                f"story {seed}",
                _seen(_Ours, meetings),
                lambda attempt, m=meetings: _seen(attempt, m),  # type: ignore[misc]
                meetings,
            )


def _meetings(dice: Random, wrong: float) -> Iterator[tuple[Name, Name]]:
    kinds = ("Pod", "uid", "address")
    cast = [(dice.choice(kinds), f"{number}") for number in range(6)]
    for _ in range(MEETINGS):
        kind, text = dice.choice(cast)
        their_kind, their_text = kind, f"their {text}"
        if dice.random() < wrong:
            their_kind, other = dice.choice(cast)
            their_text = f"their {other}"
        if dice.random() < wrong / 3:
            their_kind, their_text = dice.choice(kinds), f"their {text}"
        yield [kind, f"our {text}"], [their_kind, their_text]


def _seen(make: Attempt, meetings: list[tuple[Name, Name]]) -> dict[str, Any]:
    partners: Any = make()
    met = [partners.meet(list(ours), list(theirs)) for ours, theirs in meetings]
    known = {" ".join(ours): partners.partner(list(ours)) for ours, _ in meetings}
    known["Pod nobody"] = partners.partner(["Pod", "nobody"])
    return {"met": met, "partners": known}


class _Ours:
    """The book's bijection."""

    def __init__(self) -> None:
        self._bijection = Bijection()

    def meet(self, ours: Name, theirs: Name) -> bool:
        """One meeting."""
        return self._bijection.bind((ours[0], ours[1]), (theirs[0], theirs[1]))

    def partner(self, ours: Name) -> Name | None:
        """Their name."""
        found: Any = self._bijection.partner((ours[0], ours[1]))
        return None if found is None else list(found)


def ours() -> Attempt:
    """The book's."""
    return _Ours


EXERCISE = Exercise(
    "renaming",
    "The same story with other names",
    CONTRACT,
    STARTER,
    "the book's own comparison",
    cases,
    ours,
    ("against-your-own-cluster", "bijection"),
)
