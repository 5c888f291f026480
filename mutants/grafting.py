"""A broken function in a process that has its module loaded already: only the function's code is exchanged.

Loading the package takes longer than most of the questions that are asked about one line. So the process that forks has
it loaded, whole, and the fork gets the mutant's code. That says the same as loading the mutant, as long as only the bodies
of functions differ: what was computed while modules were loaded stays as it was.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType

Place = tuple[str, int]
"""A function's qualified name, and the first line of its code (its decorator's, if it has one)."""


@dataclass(frozen=True)
class Graft:
    """The text of a mutant of `file`, with the functions that differ."""

    file: str
    text: str
    places: tuple[Place, ...]


def graft_of(file: str, before: str, after: str) -> Graft | None:
    """What to exchange; None if more than bodies of functions differ, or one of them needs another closure."""
    if _skeleton(before) != _skeleton(after):
        return None
    old, new = _functions(before, file), _functions(after, file)
    if old.keys() != new.keys() or any(old[place].co_freevars != new[place].co_freevars for place in old):
        return None
    return Graft(file, after, tuple(place for place in old if old[place] != new[place]))


def apply(graft: Graft) -> None:
    """Give all functions that were made of this file's old code the new one.

    Raises:
        LookupError: there is no such function in memory.
    """
    new = _functions(graft.text, graft.file)
    changed = dict.fromkeys(graft.places, 0)
    gc.unfreeze()
    for each in gc.get_objects():
        if type(each) is FunctionType and each.__code__.co_filename == graft.file:
            place = each.__code__.co_qualname, each.__code__.co_firstlineno
            if place in changed:
                each.__code__ = new[place]
                changed[place] += 1
    if missing := [place for place, count in changed.items() if not count]:
        raise LookupError(f"nothing in memory was made from {missing} of {graft.file}")


def _functions(text: str, file: str) -> dict[Place, CodeType]:
    """The outermost functions: of modules, and of classes. What stands in them is part of their code."""
    return {(code.co_qualname, code.co_firstlineno): code for code in _outermost(compile(text, file, "exec"))}


def _outermost(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & 0x2:  # CO_NEWLOCALS: functions have it, bodies of classes do not
                yield constant
            else:
                yield from _outermost(constant)


def _skeleton(text: str) -> str:
    """What is left of a module if no function does anything."""
    return ast.dump(_Emptying().visit(ast.parse(text)))


class _Emptying(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.body = [ast.Pass()]
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        node.body = [ast.Pass()]
        return node
