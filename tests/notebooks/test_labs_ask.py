"""Labs ask, they do not answer: as committed they have gaps and a score of nothing; with the solution's answers they have the full score.

And each common mistake that the solution knows is refused, with the word that belongs to it.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import io
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from lifecycle.exercises.lab import OPEN, PREFIX, RIGHT, WRONG, Lab
from lifecycle.exercises.lab_answer import spoilt
from tests.notebooks.playing import LABS, Player, code_cells, names_of, right_answers, solution_of, wrong_answer

ASKING = [lab for lab in LABS if solution_of(lab).exists()]
each_lab = pytest.mark.parametrize("lab", ASKING, ids=lambda lab: lab.stem)


def test_every_lab_asks() -> None:
    assert [lab.stem for lab in LABS if lab not in ASKING] == []


@each_lab
def test_a_lab_has_a_gap_for_each_question_and_no_answer(lab: Path) -> None:
    questions, source = Lab(lab.stem).verdicts, "\n".join(code_cells(lab))
    solution = right_answers(solution_of(lab))
    assert questions
    gaps = {
        name: ast.unparse(statement)
        for statement in ast.parse(source).body
        for name in names_of(statement)
        if name.startswith(PREFIX)
    }
    assert gaps.keys() == solution.keys()
    assert [name for name, text in gaps.items() if text == ast.unparse(solution[name][0])] == []


@each_lab
def test_a_lab_is_committed_without_a_right_answer(lab: Path) -> None:
    cells = [cell for cell in nbformat.read(lab, as_version=4).cells if cell.cell_type == "code"]
    count = len(Lab(lab.stem).verdicts)
    said = "".join(out.get("text", "") for cell in cells if "lab.check(" in cell.source for out in cell.outputs)
    assert re.findall(rf"^\w+: {RIGHT}$", said, re.MULTILINE) == []
    assert len(re.findall(rf"^\w+: ({OPEN}|{WRONG})", said, re.MULTILINE)) == count
    assert cells[-1].outputs[0].text.startswith(f"0 of {count}\n")


@each_lab
def test_every_question_knows_a_common_mistake(lab: Path) -> None:
    asked = Lab(lab.stem)
    assert {mistake.question for mistake in asked.mistakes} == set(asked.verdicts)
    assert all(mistake.word.endswith((".", "?", "`")) for mistake in asked.mistakes)


@each_lab
def test_the_solution_has_the_full_score_and_each_mistake_is_told_so(lab: Path) -> None:
    asyncio.run(play(lab))


async def play(lab: Path) -> None:
    player = Player(lab)
    answers = right_answers(solution_of(lab))
    printed = await player.run(answers)
    asked: Lab = player.names["lab"]
    count = len(asked.verdicts)
    assert {question: verdict for question, verdict in asked.verdicts.items() if verdict != RIGHT} == {}, printed[
        -2000:
    ]
    assert printed.endswith(f"\n{count} of {count}\n")
    for mistake in asked.mistakes:
        await refused(player, answers, mistake)


async def refused(player: Player, answers: Any, mistake: Any) -> None:
    asked: Lab = player.names["lab"]
    wrong = wrong_answer(solution_of(player.lab), mistake, None)
    name = PREFIX + mistake.question
    if not callable(mistake.answer):
        right = player.names[name]
        player.values = {name: spoilt(right, mistake.answer)}
    printed = await player.again({**answers, **wrong}, mistake.question)
    player.values = {}
    assert asked.verdicts[mistake.question] == WRONG, f"{mistake.answer}: {printed}"
    assert mistake.word in " ".join(printed.split()), f"{mistake.answer}: {printed}"
    await player.again(answers, mistake.question)
    assert asked.verdicts[mistake.question] == RIGHT


def test_a_gap_is_no_answer() -> None:
    lab, printed = Lab(ASKING[0].stem), io.StringIO()
    [question, *_] = lab.verdicts
    with contextlib.redirect_stdout(printed):
        lab.check(question, ..., right=1)
        lab.score()
    assert printed.getvalue().startswith(f"{question}: {OPEN}\n0 of ")
