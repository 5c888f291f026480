"""Every placeholder, every count and every difference of the small documents is what it was."""

from __future__ import annotations

import copy
import pickle

import pytest

from lifecycle.compare import Normaliser, compare, freedoms, pair_siblings
from lifecycle.compare.accidents import ACCIDENTS
from lifecycle.compare.claims import VERDICTS
from lifecycle.compare.known import known_disagreements
from lifecycle.compare.masked import Masked, Near
from lifecycle.compare.rules import FIELD_RULES, TEXT_RULES
from tests.compare.kept_texts import KEPT, flat, is_kept, told
from tests.compare.test_tampering import CASES, Case

NAMES = {name: f"{number:02d}-{'-'.join(name.split()[:3]).replace(',', '')}" for number, name in enumerate(CASES)}


def lines(case: Case) -> list[str]:
    """Both sides normalised, then compared: honest, tampered with, and the other way round."""
    tampered = copy.deepcopy(case.ours)
    case.tamper(tampered)
    found, sides = [], []
    for title, side in (("ours", case.ours), ("theirs", case.theirs), ("tampered", tampered)):
        documents = side if isinstance(side, list) else [side]
        normaliser = Normaliser().learn(*documents)
        normalised = [normaliser.normalise(one, in_flight=case.in_flight) for one in documents]
        sides.append(normalised)
        found += [f"{title}: {dict(sorted(normaliser.counts.items()))}"]
        if title != "tampered":
            found += [f"  {line}" for number, one in enumerate(normalised) for line in flat(one, f"{number}")]
    for title, mine, yours in (
        ("honest", 0, 1),
        ("turned round", 1, 0),
        ("tampered", 2, 1),
        ("tampered, turned", 1, 2),
    ):
        bijection = pair_siblings(sides[mine], sides[yours])
        found.append(f"{title}:")
        for a, b in zip(sides[mine], sides[yours], strict=False):
            found += [f"  {line}" for line in told(compare(a, b, bijection))]
    return found


@pytest.mark.parametrize("name", CASES)
def test_what_a_freedom_makes_of_its_documents(name: str) -> None:
    text = "\n".join(line for case in CASES[name] for line in lines(case))
    assert is_kept(f"{NAMES[name]}.txt", f"{name}\n{text}\n")


def test_every_freedom_has_its_reason_in_so_many_words() -> None:
    text = "\n".join(f"{name}: {freedoms.why(name)}" for name in freedoms.names())
    order = [rule.name for rule in (*FIELD_RULES, *TEXT_RULES)]
    accidents = "\n".join(f"{each.name}: {each.why}" for each in ACCIDENTS)
    assert is_kept("reasons.txt", f"{text}\n\n{', '.join(order)}\n\n{accidents}\n\n{', '.join(VERDICTS)}\n")


def test_known_disagreements_are_bounded_as_they_were() -> None:
    text = "\n".join(
        f"{each.id}: {each.scenario.pattern} {each.path.pattern} {each.between.pattern} {each.values.pattern}"
        f" {each.values.flags} {each.at_most} {each.reason}"
        for each in known_disagreements()
    )
    assert is_kept("known.txt", f"{text}\n")


def test_nothing_kept_is_left_over() -> None:
    elsewhere = {"reasons", "known", "table"}
    assert {file.stem for file in KEPT.glob("*.txt")} == set(NAMES.values()) | elsewhere


def test_a_placeholder_survives_a_journey_between_processes() -> None:
    value = Normaliser().normalise({"metadata": {"resourceVersion": "17"}})["metadata"]["resourceVersion"]
    again = pickle.loads(pickle.dumps(value))
    assert (again, again.marks, again.raw, type(again)) == (value, value.marks, "17", Masked)


@pytest.mark.parametrize(
    ("one", "other", "holds"),
    [
        (10, 13, True),
        (10, 14, False),
        (13, 10, True),
        (100, 125, True),
        (100, 133, True),
        (100, 134, False),
        (0, 3, True),
    ],
)
def test_counts_are_near_by_steps_or_by_a_share_of_the_larger(one: int, other: int, holds: bool) -> None:
    assert Near(one, 3, 0.25).holds(Near(other, 3, 0.25)) is holds
