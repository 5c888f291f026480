"""A right attempt passes, however it is written; one slip and it is refused, with a line that helps; no attempt breaks the grading."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lifecycle.exercises import exercise as grading
from lifecycle.exercises.catalogue import EXERCISES, find_exercise
from lifecycle.exercises.exercise import Exercise, grade
from tests.exercises import other_ways
from tests.exercises.test_exercises import lifecycle

SLIPS = [(stage, slip) for stage, slips in other_ways.SLIPS.items() for slip in slips]


def attempt(stage: str, slip: str = "") -> Callable[..., Any]:
    make: Callable[[str], Callable[..., Any]] = getattr(other_ways, stage.replace("-", "_"))
    return make(slip)


def test_there_is_another_way_for_every_exercise() -> None:
    assert set(other_ways.SLIPS) == {exercise.stage for exercise in EXERCISES}
    assert all(len(slips) >= 3 for slips in other_ways.SLIPS.values())


@pytest.mark.parametrize("stage", other_ways.SLIPS)
def test_a_right_attempt_passes_that_is_written_otherwise(stage: str) -> None:
    table = grade(find_exercise(stage), attempt(stage))
    assert table.equal, table.notes()


@pytest.mark.parametrize(("stage", "slip"), SLIPS, ids=[f"{stage}: {slip}" for stage, slip in SLIPS])
def test_one_slip_is_refused_with_a_line_that_says_where(stage: str, slip: str) -> None:
    table = grade(find_exercise(stage), attempt(stage, slip))
    assert not table.equal
    line = table.notes()[0]
    assert line.startswith("wrong: ")
    assert " · " in line
    assert ": yours " in line
    assert ", right is " in line


class Bare(BaseException):
    """Nothing that `except Exception` catches."""


def raises(error: BaseException) -> Callable[..., Any]:
    def broken(*_: Any) -> Any:
        raise error

    return broken


def no_answer(*_: Any) -> None:
    return None


async def nobody_waits(*_: Any) -> bool:
    return True


def without_end(*_: Any) -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


ODD: dict[str, Callable[..., Any]] = {
    "raises": raises(ValueError("two\nlines")),
    "leaves": raises(SystemExit(0)),
    "raises what nobody catches": raises(Bare()),
    "answers nothing": no_answer,
    "answers text": lambda *_: "yes",
    "answers an object": lambda *_: object(),
    "answers strange keys": lambda *_: {(1, 2): {3}},
    "answers what contains itself": without_end,
    "is asynchronous": nobody_waits,
    "takes nothing": lambda: 1,
}


@cache
def in_short(stage: str) -> Exercise:
    """An exercise with two questions of each kind: an odd attempt is as odd at the thousandth."""
    exercise, asked, kept = find_exercise(stage), Counter[str](), []
    for case in exercise.cases():
        asked[case.group] += 1
        if asked[case.group] <= 2:
            kept.append(case)
    return replace(exercise, cases=lambda: iter(kept))


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("stage", other_ways.SLIPS)
@pytest.mark.filterwarnings("ignore:coroutine")
def test_no_attempt_breaks_the_grading(stage: str, odd: str) -> None:
    table = grade(in_short(stage), ODD[odd])
    assert not table.equal
    assert table.notes()[0].startswith("wrong: ")
    assert "\n" not in table.notes()[0]


def test_leaving_is_no_answer_and_another_shape_is_called_so() -> None:
    assert "yours raised SystemExit: 0" in grade(in_short("rbac"), ODD["leaves"]).notes()[0]
    assert "yours raised ValueError: two lines" in grade(in_short("rbac"), ODD["raises"]).notes()[0]
    assert "yours was a coroutine" in grade(in_short("rbac"), ODD["is asynchronous"]).notes()[0]
    assert "yours does not fit the contract (TypeError" in grade(in_short("slow-start"), no_answer).notes()[0]
    assert "yours does not fit the contract (AttributeError" in grade(in_short("host-local"), no_answer).notes()[0]
    assert "yours is yes, right is" in grade(in_short("rbac"), ODD["answers text"]).notes()[0]


def never(*_: Any) -> None:
    while True:
        pass


async def waits_for_ever(*_: Any) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("stage", other_ways.SLIPS)
def test_an_attempt_without_end_is_stopped(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading, "SECONDS_PER_CASE", 0.02)
    table = grade(in_short(stage), waits_for_ever if stage == "slow-start" else never)
    assert "yours gave no answer within" in table.notes()[0]
    assert not any(table.right[:-1])


def test_an_attempt_that_changes_everything_does_not_change_the_questions() -> None:
    def greedy(pod: Any, node: Any, pods: Any) -> int:
        pod.clear()
        node.clear()
        pods.append({(1, 2): {3}})
        return 0

    table = grade(find_exercise("scheduler-score"), greedy)
    assert not table.rows[-1].equal
    assert len(table.rows) == len(grade(find_exercise("scheduler-score"), attempt("scheduler-score")).rows)


BAD_FILES = {
    "exit(0)\n": "cannot be imported: SystemExit: 0",
    "raise KeyError('x')\n": "cannot be imported: KeyError: 'x'",
    "def f(:\n": "cannot be imported: SyntaxError",
    "while True: pass\n": "is not imported after",
}


@pytest.mark.parametrize("text", BAD_FILES)
def test_a_file_that_cannot_be_loaded_gets_one_line(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if text.startswith("while"):
        monkeypatch.setattr("lifecycle.exercises.attempts.SECONDS_TO_LOAD", 0.1)
    mine = tmp_path / "mine.py"
    mine.write_text(text)
    code, said = lifecycle("rbac", f"{mine}:f")
    assert code == 1
    assert BAD_FILES[text] in said
    assert len(said.splitlines()) == 1


STUBBORN = """
from lifecycle.exercises import exercise, time_limit
exercise.SECONDS_PER_CASE, time_limit.AGAIN = 0.1, 0.05

def stubborn(*_):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass

from lifecycle.exercises.catalogue import find_exercise
exercise.grade(find_exercise("slow-start"), stubborn)
"""


def test_an_attempt_that_catches_every_interruption_ends_the_program_with_a_line() -> None:
    ran = subprocess.run([sys.executable, "-c", STUBBORN], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 1
    assert ran.stderr == "gave no answer within 0.1 s, and goes on whatever stops it: nothing was graded\n"
