"""A lab played by somebody: its cells, one after the other, with answers put into the gaps.

An answer is put in where the notebook gives the same name a value, a function or a class. Answers come from the lab's solution: the
right ones, or a wrong one that stands there as a mistake.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import symtable
from functools import cache, cached_property
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import nbformat

from lifecycle.exercises.lab import PREFIX, Lab, Mistake
from tests.conftest import ROOT

LABS = sorted((ROOT / "labs").glob("*.ipynb"))
Statements = dict[str, list[ast.stmt]]
LASTING = (str, bytes, int, float, type(None), type, ModuleType, FunctionType, BuiltinFunctionType, Lab)
"""What a statement that uses it leaves as it was. (A lab only notes what became of each question.)"""


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


RIGHT_OF = "__right_of_"
"""Before a question: the name of what was found to be its right answer."""


class Player:
    """Somebody who runs a lab's cells in one namespace."""

    def __init__(self, lab: Path) -> None:
        self.lab, self.cells = lab, code_cells(lab)
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.values: dict[str, Any] = {}

    async def run(self, answers: Statements) -> str:
        """Run all cells, and give back what they print."""
        return await self._run(self._statements(self.cells, answers))

    async def again(self, answers: Statements, question: str) -> str:
        """Answer one question anew: run the cells from its gap to its check, and of them what the answer reaches.

        What it does not reach would do the same once more: a cluster that is watched after one has said what it will do, or a scene that
        tells the check what is right.
        """
        statements = self._statements(self.between(question), answers)
        name, known = PREFIX + question, f"{RIGHT_OF}{question}"
        right = next((check[1] for check in map(_check, statements) if check and check[0] == question), None)
        if right is not None and known in self.names:
            truth, reached = right.value, {name}
            right.value = ast.Name(known, ast.Load())
            chosen = self._reached(statements, reached)
            if not self._used_by(ast.Expr(truth)) & reached:
                return await self._run(chosen)
            right.value = truth
        return await self._run(self._reached(statements, {name}))

    def _reached(self, statements: list[ast.stmt], reached: set[str]) -> list[ast.stmt]:
        """Those with a name in `reached`, to which comes what one of them gives a name to, or may change. So what changes something is
        repeated together with what made it.
        """
        used = [self._used_by(statement) for statement in statements]
        chosen = set[int]()
        while more := {number for number, names in enumerate(used) if names & reached} - chosen:
            chosen |= more
            for number in more:
                reached |= {name for name in used[number] if not isinstance(self.names.get(name), LASTING)}
                reached |= _stored(statements[number])
        return [statements[number] for number in sorted(chosen)]

    def _statements(self, cells: list[str], answers: Statements) -> list[ast.stmt]:
        return [new for cell in cells for old in ast.parse(cell).body for new in self._filled(old, answers)]

    async def _run(self, statements: list[ast.stmt]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            for statement in statements:
                if (check := _check(statement)) and not ast.unparse(check[1].value).startswith(RIGHT_OF):
                    question, right = check
                    self.names["__noted"] = self._noted
                    right.value = ast.Call(ast.Name("__noted", ast.Load()), [ast.Constant(question), right.value], [])
                await self._execute(ast.fix_missing_locations(statement))
        return printed.getvalue()

    def _noted(self, question: str, right: Any) -> Any:
        """What is right, or a function that finds it out: noted once it is found."""

        def found() -> Any:
            self.names[RIGHT_OF + question] = right() if callable(right) else right
            return self.names[RIGHT_OF + question]

        return found

    @cached_property
    def _definitions(self) -> dict[str, frozenset[str]]:
        """What each function and class of the lab mentions: whoever calls it uses that, too."""
        statements = [statement for cell in self.cells for statement in ast.parse(cell).body]
        return {
            one.name: _mentioned(one)
            for one in statements
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        }

    def _used_by(self, statement: ast.stmt) -> set[str]:
        used, new = set[str](), _mentioned(statement)
        while new:
            used |= new
            new = frozenset(name for known in new for name in self._definitions.get(known, ())) - used
        return used

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


@cache
def _given(cell: str) -> list[str]:
    return [name for statement in ast.parse(cell).body for name in names_of(statement)]


def _check(statement: ast.stmt) -> tuple[str, ast.keyword] | None:
    """The question that a statement checks, and where it says what is right."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    if ast.unparse(call.func) != "lab.check":
        return None
    return next(((ast.literal_eval(call.args[0]), one) for one in call.keywords if one.arg == "right"), None)


def _mentioned(statement: ast.stmt) -> frozenset[str]:
    """Every name of the notebook in a statement, those that it gives something to included; not those within a function."""
    return _names(ast.unparse(statement))[0]


def _stored(statement: ast.stmt) -> frozenset[str]:
    """The names that a statement gives something to."""
    return _names(ast.unparse(statement))[1]


@cache
def _names(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """Which a statement mentions, and to which it gives something: each question of a lab looks at most of its statements."""
    top = symtable.symtable(source, "cell", "exec")
    tables, mentioned = [top], set[str]()
    for table in tables:
        tables += table.get_children()
        mentioned |= {one.get_name() for one in table.get_symbols() if table.get_type() == "module" or one.is_global()}
    given = {one.get_name() for one in top.get_symbols() if one.is_assigned() or one.is_imported()}
    return frozenset(mentioned), frozenset(given)
