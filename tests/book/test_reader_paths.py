"""The reader paths keep their promises: the minutes of each add up, and what they name is there."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "book" / "reader-paths.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
PROMISED = {title: int(found[1]) for title, text in SECTIONS.items() if (found := re.search(r"`(\d+) minutes`", text))}
SPOKEN = {"two hours": 120, "ninety minutes": 90, "a day": 360}


def test_each_promise_is_the_one_of_its_title() -> None:
    assert len(PROMISED) == 4
    assert {title: SPOKEN[title.partition(": ")[2]] for title in PROMISED} == PROMISED


@pytest.mark.parametrize("title", PROMISED)
def test_the_minutes_add_up(title: str) -> None:
    minutes = [int(number) for number in re.findall(r"^\| (\d+) \|", SECTIONS[title], re.M)]
    assert sum(minutes) == PROMISED[title]


def test_every_page_that_is_named_exists() -> None:
    named = re.findall(r"\]\(([^)#]+)", PAGE)
    assert len(named) > 40
    assert [page for page in named if not (ROOT / "book" / page).is_file()] == []


def test_the_exercises_that_are_named_exist() -> None:
    from lifecycle.exercises.catalogue import EXERCISES

    named = set(re.findall(r"`lifecycle check (\S+)`", PAGE))
    assert named
    assert named <= {exercise.stage for exercise in EXERCISES}
