"""Where a module can be broken, and how."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.operators.provider import OperatorProvider

from mutants.operators import AnswerNothing, LeaveOutCall, OtherText

RANDOM = ("VariableReplacer", "VariableInserter")
"""cosmic-ray's operators that throw dice of their own: the same seed would not give the same mutant."""


@functools.cache
def operators() -> dict[str, Operator]:
    """Every operator by its name: cosmic-ray's, then ours."""
    provider = OperatorProvider()
    theirs = {name: provider[name]() for name in provider if name not in RANDOM}
    return theirs | {ours.__name__: ours() for ours in (LeaveOutCall, AnswerNothing, OtherText)}


@dataclass(frozen=True, slots=True, order=True)
class Candidate:
    """One change of one place: `occurrence` counts the places of this operator in the module, from 0."""

    module: Path
    line: int
    column: int
    operator: str
    occurrence: int

    def mutated(self) -> str | None:
        """The module's text with this change; None if it means the same to Python, or nothing."""
        source = self.module.read_text()
        try:
            text = mutate_code(source, operators()[self.operator], self.occurrence)
        except AttributeError:  # cosmic-ray puts another exception in the place of a plain name only, not of `a.b`
            return None
        try:
            same = text is None or ast.dump(ast.parse(text)) == ast.dump(ast.parse(source))
        except SyntaxError:
            return None
        return None if same else text


def candidates(module: Path, lines: frozenset[int] | None = None) -> dict[tuple[int, int], list[Candidate]]:
    """All changes of a module by the place they change, if it lies in `lines` (None: anywhere)."""
    tree = get_ast(module.read_text())
    silent = set(_never_run(ast.parse(module.read_text())))
    places: dict[tuple[int, int], list[Candidate]] = {}
    nodes = list(ast_nodes(tree))
    # the `*` between parameters is no product: `/` in its place only changes which arguments may be named
    silent |= {node.start_pos for node in nodes if node.type == "operator" and node.parent.type == "parameters"}
    for name, operator in operators().items():
        positions = (start for node in nodes for start, _ in operator.mutation_positions(node))
        for occurrence, (line, column) in enumerate(positions):
            if (line, column) in silent or (lines is not None and line not in lines):
                continue
            places.setdefault((line, column), []).append(Candidate(module, line, column, name, occurrence))
    return places


def _never_run(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Positions that Python reads and never runs: annotations, aliases of types, what only type checkers import or heed."""
    for node in ast.walk(tree):
        for part in _unrun_parts(node):
            for inner in ast.walk(part):
                if isinstance(inner, ast.expr | ast.stmt):
                    first, last = inner.lineno, inner.end_lineno or inner.lineno
                    for line in range(first, last + 1):
                        begin = inner.col_offset if line == first else 0
                        end = (inner.end_col_offset or 0) if line == last else 200
                        yield from ((line, column) for column in range(begin, end))


def _unrun_parts(node: Any) -> Iterator[ast.AST]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            if node.returns is not None:
                yield node.returns
        case ast.arg(annotation=annotation) if annotation is not None:
            yield annotation
        case ast.AnnAssign():
            yield node.annotation
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            yield node.value  # nobody imports a star
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.ClassDef(bases=[ast.Name(id="Protocol")]):
            yield node
        case ast.Assign(value=ast.BinOp(op=ast.BitOr())) if _is_alias(node.value):
            yield node.value
        case ast.Call(func=ast.Name(id="zip"), keywords=[ast.keyword(arg="strict")]):
            yield node.keywords[0].value  # an assertion about what comes in, as `assert` is
        case ast.Call(func=ast.Name(id="dataclass")):
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "slots")  # only takes less memory
        case ast.Call(func=ast.Name(id="cast" | "TypeVar" | "NewType")) if node.args:
            yield node.args[0]
            yield from (keyword.value for keyword in node.keywords)  # bounds and variance: only type checkers heed them


def _is_alias(value: ast.AST) -> bool:
    """`int | str`, `dict[str, Any] | None`: an alias of types rather than a sum of flags."""
    return all(
        isinstance(part, ast.Name | ast.Attribute | ast.Subscript | ast.BinOp | ast.BitOr | ast.Load | ast.Tuple)
        or (isinstance(part, ast.Constant) and part.value is None)
        for part in ast.walk(value)
    ) and any(isinstance(part, ast.Subscript | ast.Constant) for part in ast.walk(value))
