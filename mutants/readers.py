"""Who reads what a module computes while it is imported: a constant, a class's attribute, a decorator, a default.

No test runs such a line; it has run before any begins. What it left behind is read later, by the functions of this module
and of those that import it. So the tests to ask are those that run a function which mentions the name, here or wherever it
was imported to; a name that is made from it (`LIMITS = (LIMIT, 2 * LIMIT)`, a class from its base) is followed, too.
"""

from __future__ import annotations

import ast
import hashlib
import os
import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef
Lines = dict[Path, frozenset[int]]


@dataclass(frozen=True)
class _Module:
    """`loaded`: its statements outside of functions, with the names they bind and those they mention. `functions`: their
    lines, with what they mention. `imported`: the name it has here → the module it comes from, and its name there (empty:
    the module itself)."""

    loaded: tuple[tuple[range, frozenset[str], frozenset[str]], ...]
    functions: tuple[tuple[range, frozenset[str]], ...]
    imported: dict[str, tuple[str, str]]


class Readers:
    """Of all modules below `source`, by their text: nothing is imported for it. `tests`: a folder of tests, which may look
    at a constant themselves. `kept`: a file for what was read, so that only what has changed is read again.
    """

    def __init__(self, source: Path, tests: Path | None = None, kept: Path | None = None) -> None:
        self.source, self.tests, self.kept = source, tests, kept

    @cached_property
    def modules(self) -> dict[Path, _Module]:
        """Every file, read once."""
        tests = sorted(self.tests.rglob("*.py")) if self.tests is not None else []
        known: dict[Path, tuple[bytes, _Module]] = {}
        code = hashlib.sha256(Path(__file__).read_bytes()).digest()
        if self.kept is not None and self.kept.exists():
            of_code, kept = pickle.loads(self.kept.read_bytes())
            known = kept if of_code == code else {}
        read: dict[Path, tuple[bytes, _Module]] = {}
        for file in [*sorted(self.source.rglob("*.py")), *tests]:
            digest = hashlib.sha256(file.read_bytes()).digest()
            before = known.get(file)
            read[file] = before if before is not None and before[0] == digest else (digest, _read(file))
        if self.kept is not None and read != known:
            self.kept.parent.mkdir(parents=True, exist_ok=True)
            (half := self.kept.with_suffix(f".{os.getpid()}")).write_bytes(pickle.dumps((code, read)))
            half.replace(self.kept)  # whole, whoever reads it meanwhile
        return {file: module for file, (_, module) in read.items()}

    @cached_property
    def importers(self) -> dict[tuple[str, str], list[tuple[Path, str]]]:
        """Module and name → where it is imported to, and what it is called there."""
        found: dict[tuple[str, str], list[tuple[Path, str]]] = {}
        for file, module in self.modules.items():
            for alias, origin in module.imported.items():
                found.setdefault(origin, []).append((file, alias))
        return found

    def of_line(self, module: Path, line: int) -> Lines:
        """Per module the lines of the functions that read what this line of module level code leaves behind."""
        bound = [names for lines, names, _ in self.modules[module].loaded if line in lines]
        return self.of_names(module, frozenset().union(*bound))

    def of_names(self, module: Path, names: frozenset[str]) -> Lines:
        """The same of names that a module binds."""
        found: dict[Path, set[int]] = {}
        seen: set[tuple[Path, str]] = set()
        todo = [(module, name) for name in names]
        while todo:
            place = file, name = todo.pop()
            if place in seen:
                continue
            seen.add(place)
            for lines, mentioned in self.modules[file].functions:
                if name in mentioned:
                    found.setdefault(file, set()).update(lines)
            for _, binds, mentioned in self.modules[file].loaded:
                if name in mentioned:
                    todo += [(file, made) for made in binds]
            todo += self._imported_from(file, name)
        return {file: frozenset(lines) for file, lines in found.items()}

    def _imported_from(self, file: Path, name: str) -> Iterator[tuple[Path, str]]:
        """By its name, or with its whole module: `limits.MOST` mentions `MOST`."""
        if not file.is_relative_to(self.source):
            return  # what tests share they share with tests
        dotted = _dotted(file, self.source)
        yield from self.importers.get((dotted, name), ())
        package, _, last = dotted.rpartition(".")
        whole = [*self.importers.get((dotted, ""), ()), *self.importers.get((package, last), ())]
        yield from ((importer, name) for importer, _ in whole)


def _dotted(file: Path, source: Path) -> str:
    parts = file.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _read(file: Path) -> _Module:
    tree = ast.parse(file.read_text())
    functions = ((_body(each), frozenset(_mentioned(_inside(each)))) for each in _outermost(tree))
    return _Module(tuple(_loaded(tree.body, frozenset())), tuple(functions), dict(_imports(tree)))


def _loaded(body: list[ast.stmt], owners: frozenset[str]) -> Iterator[tuple[range, frozenset[str], frozenset[str]]]:
    """Statement by statement, also below an `if` and in a class: whoever mentions the class may read what stands in it."""
    for statement in body:
        inner = [part for part in ast.iter_child_nodes(statement) if isinstance(part, ast.stmt)]
        inside = owners | {statement.name} if isinstance(statement, ast.ClassDef) else owners
        lines = range(_first(statement), (statement.end_lineno or 0) + 1)
        if inner and not isinstance(statement, Function):
            lines = range(lines.start, max(lines.start, inner[0].lineno - 1) + 1)
            yield from _loaded(inner, inside)
        outside = list(_outside(statement))
        yield lines, inside | frozenset(_bound(statement, outside)), frozenset(_mentioned(outside))


def _first(statement: ast.stmt) -> int:
    return min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))])


def _body(function: Function) -> range:
    return range(function.body[0].lineno, (function.end_lineno or function.lineno) + 1)


def _inside(function: Function) -> Iterator[ast.AST]:
    return (node for statement in function.body for node in ast.walk(statement))


def _outside(node: ast.AST) -> Iterator[ast.AST]:
    """What of a statement runs on import: no statements within it, and no annotations."""
    yield node
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not isinstance(child, ast.stmt):
                    yield from _outside(child)


def _outermost(node: ast.AST) -> Iterator[Function]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield child
        else:
            yield from _outermost(child)


def _bound(statement: ast.stmt, outside: list[ast.AST]) -> Iterator[str]:
    """The names that a statement leaves behind. A call for its own sake changes what it mentions."""
    if isinstance(statement, Function | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Expr):
        yield from _mentioned(outside)
    else:
        yield from (node.id for node in outside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def _mentioned(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _imports(tree: ast.Module) -> Iterator[tuple[str, tuple[str, str]]]:
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), level=0):
                for each in node.names:
                    yield each.asname or each.name, (module, each.name)
            case ast.Import():
                for each in node.names:
                    yield each.asname or each.name, (each.name, "")
