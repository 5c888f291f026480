"""A lab played by somebody: its cells, one after the other, with answers put into the gaps.

An answer is put in where the notebook gives the same name a value, a function or a class. Answers come from the lab's solution: the
right ones, or a wrong one that stands there as a mistake.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
from pathlib import Path
from typing import Any

import nbformat

from lifecycle.exercises.lab import PREFIX, Mistake
from tests.conftest import ROOT

LABS = sorted((ROOT / "labs").glob("*.ipynb"))
Statements = dict[str, list[ast.stmt]]


def solution_of(lab: Path) -> Path:
    return lab.parent / "solutions" / f"{lab.stem}.py"


def code_cells(lab: Path) -> list[str]:
    return [cell.source for cell in nbformat.read(lab, as_version=4).cells if cell.cell_type == "code"]


def names_of(statement: ast.stmt) -> list[str]:
    """The names that a statement at the left margin gives something to."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=[ast.Name(id=name)]):
            return [name]
    return []


def right_answers(solution: Path) -> Statements:
    statements = ast.parse(solution.read_text()).body
    return {name: [one] for one in statements for name in names_of(one) if name.startswith(PREFIX)}


def wrong_answer(solution: Path, mistake: Mistake, right: Any) -> Statements:
    """The mistake's answer under the name that the notebook asks for."""
    name = PREFIX + mistake.question
    if not callable(mistake.answer):
        return {name: []}
    [statement] = [one for one in ast.parse(solution.read_text()).body if mistake.answer.__name__ in names_of(one)]
    assert isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    statement.name = name
    return {name: [statement]}


class Player:
    """Somebody who runs a lab's cells in one namespace."""

    def __init__(self, lab: Path) -> None:
        self.lab, self.cells = lab, code_cells(lab)
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.values: dict[str, Any] = {}

    async def run(self, answers: Statements, cells: list[str] | None = None) -> str:
        """Run cells, all unless some are named, and give back what they print."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            for source in self.cells if cells is None else cells:
                body = [new for old in ast.parse(source).body for new in self._filled(old, answers)]
                for statement in body:
                    await self._execute(statement)
        return printed.getvalue()

    def _filled(self, statement: ast.stmt, answers: Statements) -> list[ast.stmt]:
        for name in names_of(statement):
            if name in self.values:
                put = ast.parse(f"{name} = __value_of_{name}").body
                self.names[f"__value_of_{name}"] = self.values[name]
                return put
            if name in answers:
                return answers[name]
        return [statement]

    async def _execute(self, statement: ast.stmt) -> None:
        module = ast.Module([statement], [])
        code = compile(module, self.lab.name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        running = eval(code, self.names)
        if inspect.iscoroutine(running):
            await running

    def between(self, question: str) -> list[str]:
        """The cells from the gap of a question to its check."""
        gap = [n for n, cell in enumerate(self.cells) if PREFIX + question in _given(cell)]
        check = [
            n for n, cell in enumerate(self.cells) if f'check("{question}"' in " ".join(cell.split()).replace("( ", "(")
        ]
        assert gap, f"no gap for {question}"
        assert len(check) == 1, f"{len(check)} checks of {question}"
        return self.cells[gap[0] : check[0] + 1]


def _given(cell: str) -> list[str]:
    return [name for statement in ast.parse(cell).body for name in names_of(statement)]
