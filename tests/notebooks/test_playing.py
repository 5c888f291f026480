"""Who answers a lab's question once more has run what the answer reaches, with what that needs, and nothing else."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

from tests.notebooks.playing import Player

CELLS = (
    "your_guess = ...",
    "numbers, drawn = iter(range(9)), []\nfor _ in range(2):\n    drawn.append(next(numbers) + your_guess)",
    "note('watched')",
    "def scene():\n    note('scene')\n    return RIGHT\nlab.check(\"guess\", your_guess, right=scene)",
)


@pytest.mark.parametrize(
    ("right", "again"),
    [("3", [("guess", 2, 3)]), ("drawn[0]", ["scene", ("guess", 2, 2)])],
    ids=["a scene for itself", "a scene that shows what was drawn"],
)
def test_what_an_answer_reaches_is_run_again(right: str, again: list[Any], tmp_path: Path) -> None:
    noted: list[Any] = []
    cells = [nbformat.v4.new_code_cell(cell.replace("RIGHT", right)) for cell in CELLS]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "lab.ipynb")
    player = Player(tmp_path / "lab.ipynb")

    def check(question: str, yours: Any, right: Any) -> None:
        noted.append((question, yours, right() if callable(right) else right))

    player.names |= {"note": noted.append, "lab": SimpleNamespace(check=check)}

    async def play() -> None:
        await player.run({"your_guess": ast.parse("your_guess = 3").body})
        assert noted == ["watched", "scene", ("guess", 3, 3)]
        noted.clear()
        await player.again({"your_guess": ast.parse("your_guess = 2").body}, "guess")

    asyncio.run(play())
    assert player.names["drawn"] == [2, 3], "drawn anew, from the first number on"
    assert noted == again
