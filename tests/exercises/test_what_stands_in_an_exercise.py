"""What a reader reads of an exercise, word for word, and every question with its right answer.

It stands beside this file in `asked/`: the texts as they are, and of each kind of question the first, and a digest of all
(thousands of questions are too many to read). Whoever changes an exercise writes them anew
(`KEEP=anew pytest tests/exercises/test_what_stands_in_an_exercise.py`) and reads in the difference what else has changed.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from lifecycle.exercises.catalogue import EXERCISES, find_exercise
from lifecycle.exercises.exercise import Case, Exercise
from tests.kept_text import kept

ASKED = Path(__file__).with_name("asked")


def written(value: Any) -> str:
    return json.dumps(value, default=_plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted(value)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return repr(value).partition(" at 0x")[0]


def questions(exercise: Exercise) -> list[str]:
    """For each kind of question the first one, and a digest of all of its kind."""
    kinds: dict[str, list[Case]] = {}
    for case in exercise.cases():
        kinds.setdefault(case.group, []).append(case)
    lines = []
    for kind, cases in kinds.items():
        whole = [[case.label, case.expected, _question(case)] for case in cases]
        digest = hashlib.sha256("\n".join(map(written, whole)).encode()).hexdigest()[:16]
        first = written(_question(cases[0]))[:200]
        lines.append(f"{kind}: {len(cases)}, {digest}")
        lines.append(f"  {cases[0].label}: {first} → {written(cases[0].expected)[:100]}")
    return lines


def _question(case: Case) -> Any:
    return case.question if case.question is not None else case.inputs


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.stage)
def test_texts_and_questions_are_what_they_were(exercise: Exercise) -> None:
    texts = [exercise.title, exercise.source, ", ".join(exercise.aliases), "", exercise.contract, "", exercise.starter]
    text = "\n".join([*texts, *questions(exercise)]) + "\n"
    file = ASKED / f"{exercise.stage}.txt"
    assert text == kept(file, text)


def test_nothing_is_left_over() -> None:
    assert sorted(file.stem for file in ASKED.glob("*.txt")) == sorted(exercise.stage for exercise in EXERCISES)


def test_a_name_that_is_nearly_right_is_guessed() -> None:
    with pytest.raises(KeyError) as caught:
        find_exercise("Rback")
    assert caught.value.args == ("no exercise 'Rback'; did you mean rbac?",)
    with pytest.raises(KeyError) as caught:
        find_exercise("xyzzy")
    stages = ", ".join(exercise.stage for exercise in EXERCISES)
    assert caught.value.args == (f"no exercise 'xyzzy'; there are: {stages}",)
