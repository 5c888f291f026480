"""A judge that cannot say no proves nothing: every row of every agreement table turns red for a break of our code that is its own,
and no other row does."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from lifecycle import agreements
from lifecycle.agreements.forgetting import forget_scenes
from lifecycle.compare import AgreementTable
from lifecycle.compare.freedoms import why
from tests.agreements.sabotages import JUDGED
from tests.agreements.sabotages.judged import Answers, Judged, Sabotage, said
from tests.agreements.sabotages.told import forget_what_was_told

BY_NAME = {judged.name: judged for judged in JUDGED}


@cache
def unbroken(name: str) -> AgreementTable:
    """The table of unbroken components."""
    return BY_NAME[name].table()


@pytest.fixture(autouse=True)
def _fresh_scenes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(logging.Logger, "handle", lambda *_: None)  # what is broken may complain
    yield
    forget_scenes()
    forget_what_was_told()


def _unexplained(judged: Judged) -> list[str]:
    return [said(row) for row in judged.table().computed if row.unexplained]


NAMED = [(judged, sabotage) for judged in JUDGED for sabotage in judged.sabotages]


@pytest.mark.parametrize(
    ("judged", "sabotage"), NAMED, ids=lambda each: getattr(each, "what", getattr(each, "name", ""))
)
def test_a_wrong_rule_turns_exactly_its_rows_red(
    judged: Judged, sabotage: Sabotage, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [said(row) for row in unbroken(judged.name).computed if sabotage.covers(row)]
    forget_scenes()
    sabotage.apply(monkeypatch)
    assert Counter(_unexplained(judged)) == Counter(expected) != Counter()
    assert len(expected) == 1 or sabotage.because


ASKED = [(judged, answers) for judged in JUDGED for answers in judged.answers]


@pytest.mark.parametrize(
    ("judged", "answers"), ASKED, ids=lambda each: getattr(each, "what", getattr(each, "name", ""))
)
def test_each_spoilt_answer_turns_its_own_row_red(
    judged: Judged, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [said(row) for row in answers.of(unbroken(judged.name))]
    assert keys
    for spoilt in selections(len(keys)):
        with monkeypatch.context() as patch:
            forget_scenes()
            answers.install(patch, spoilt.__contains__)
            table = judged.table()
        mine = answers.of(table)
        assert {i for i, row in enumerate(mine) if row.unexplained} == spoilt
        others = {id(row) for row in mine}
        assert [said(row) for row in table.computed if row.unexplained and id(row) not in others] == []


def selections(count: int) -> list[set[int]]:
    """Which rows are spoilt together: those whose number has a certain bit, so that no two rows are always treated alike. A long
    table is asked four times only: each row is spoilt twice and spared twice, beside different others."""
    rows = set(range(count))
    by_bit = [{i for i in rows if (i + 1) >> bit & 1} for bit in range(count.bit_length())]
    if len(by_bit) <= 4:
        return by_bit
    return [by_bit[0], rows - by_bit[0], by_bit[1], rows - by_bit[1]]


@pytest.mark.parametrize("judged", JUDGED, ids=lambda judged: judged.name)
def test_every_row_has_a_sabotage_and_every_freedom_a_reason(judged: Judged) -> None:
    table = unbroken(judged.name)
    asked = {id(row) for answers in judged.answers for row in answers.of(table)}
    bare = [
        said(row)
        for row in table.computed
        if not judged.of_others
        and id(row) not in asked
        and not any(sabotage.covers(row) for sabotage in judged.sabotages)
    ]
    assert bare == []
    assert [said(row) for row in table.computed if not row.comparison.total] == []
    assert [name for name in table.freedoms if not why(name)] == []
    assert table.opening is not None, "what does it say to somebody who has never seen one?"


def test_every_agreement_is_put_to_the_test() -> None:
    """Whatever in the package makes a table of recorded answers, by its name."""
    made = set()
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith(f"{agreements.__name__}."):
            made |= {
                name
                for name, value in vars(module).items()
                if getattr(value, "__module__", "") == module_name and name.endswith(("_agreement", "_then_and_now"))
            }
    assert made == {judged.name for judged in JUDGED}
