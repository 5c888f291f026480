"""One mutant: broken, tested, mended."""

from __future__ import annotations

import ast
import difflib
import functools
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mutants.all_values import of_all_values
from mutants.candidates import Candidate
from mutants.coverage_map import CoverageMap
from mutants.readers import Readers
from mutants.workshop import Workshop

FIRST = 40
"""So many of the tests that run the line are asked first; then all the files they stand in."""
LONGEST = 120.0
"""But not those that take longer than this: what they have to say of a line, their tests have said one by one."""

SETTLING = 20.0
"""Seconds of the processor for loading the package, and what a test loads because no other has done so before it."""


@dataclass(frozen=True)
class Outcome:
    """`before` and `after`: the changed lines. `reason`: why an equivalent mutant cannot be noticed. `by`: the first test that noticed."""

    module: str
    line: int
    operator: str
    before: str
    after: str
    noticed: bool
    reason: str = ""
    by: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def trial(candidate: Candidate, workshop: Workshop, coverage: CoverageMap) -> Outcome:
    """Ask the tests that run the changed statement; if all pass, the whole files in which these tests stand.

    If tests were measured so that each ran all that it needs (`coverage.apart`), the files have nothing to add. A
    statement of a function that no test runs cannot be noticed by any.
    """
    text = candidate.mutated()
    assert text is not None
    source = candidate.module.read_text()
    tests = asked(candidate.module, source, candidate.line, coverage, workshop.readers)
    passed, by = True, ""
    if tests:
        in_children = str(candidate.module) in coverage.in_children
        with workshop.broken(candidate.module, text, in_children=in_children):
            if coverage.apart:
                passed = _pass(workshop, coverage, tests)
            else:
                files = list(dict.fromkeys(nodeid.split("::")[0] for nodeid in tests))
                passed = _pass(workshop, coverage, tests[:FIRST]) and _pass_files(workshop, coverage, files)
        by = "" if passed else workshop.who_noticed()
    before, after = changed_lines(source, text)
    name = str(candidate.module.relative_to(workshop.checkout))
    return Outcome(name, candidate.line, candidate.operator, before, after, noticed=not passed, by=by)


def asked(module: Path, source: str, line: int, coverage: CoverageMap, readers: Readers) -> list[str]:
    """The tests that may notice a change of a line, those first that are likeliest to. About what runs when the module is
    imported, those who read what it left behind are asked, wherever that is; then whoever runs anything of the module.
    """
    lines = lines_of_statement(source, line)
    if lines:
        known = coverage.of_lines(module, lines)
        return known if known or coverage.is_current(module) else coverage.of_module(module)
    reading: set[str] = set()
    for where, numbers in readers.of_line(module, line).items():
        current = coverage.is_current(where)
        reading |= set(coverage.of_lines(where, numbers) if current else coverage.of_module(where))
        if readers.tests is not None and where.is_relative_to(readers.tests):
            reading |= coverage.of_file(str(where.relative_to(readers.tests.parent)))
    if readers.tests is not None:
        for file in of_all_values(readers, module):
            reading |= coverage.of_file(str(file.relative_to(readers.tests.parent)))
    return [*coverage.quickest(reading), *(each for each in coverage.of_module(module) if each not in reading)]


def lines_of_statement(source: str, line: int) -> range:
    """The lines of the innermost statement of a function's body around a line; of what has a body itself, the head. Empty
    for what runs when the module is imported."""
    lines, body = range(0), False
    nodes: list[ast.AST] = [_tree(source)]
    while nodes:
        node = nodes.pop()
        for child in _parts(node):
            if not isinstance(child, ast.stmt | ast.ExceptHandler):
                continue
            first = min([child.lineno, *(each.lineno for each in getattr(child, "decorator_list", ()))])
            if first <= line <= (child.end_lineno or first):
                body = body or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                inner = getattr(child, "body", None)
                last = inner[0].lineno - 1 if inner else child.end_lineno or first
                lines = range(first, max(first, last) + 1) if body else range(0)
                nodes = [child]
                break
    return lines


@functools.lru_cache(maxsize=4)
def _tree(source: str) -> ast.Module:
    """A module is asked about line after line."""
    return ast.parse(source)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in a statement; a case of `match` has no lines of its own."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.match_case):
            yield from child.body
        else:
            yield child


def _pass(workshop: Workshop, coverage: CoverageMap, nodeids: list[str]) -> bool:
    if not nodeids:
        return True
    usual = {nodeid: coverage.seconds.get(nodeid, 0.0) for nodeid in nodeids}
    limits = {nodeid: SETTLING + 4 * seconds for nodeid, seconds in usual.items()}
    return workshop.tests_pass(nodeids, seconds=SETTLING + 3 * sum(usual.values()), limits=limits)


def _pass_files(workshop: Workshop, coverage: CoverageMap, files: list[str]) -> bool:
    usual = dict.fromkeys(files, 0.0)
    for nodeid, seconds in coverage.seconds.items():
        if (file := nodeid.split("::")[0]) in usual:
            usual[file] += seconds
    short = [file for file in files if usual[file] <= LONGEST]
    return not short or workshop.tests_pass(short, seconds=20 + 3 * sum(usual[file] for file in short))


def changed_lines(before: str, after: str) -> tuple[str, str]:
    """What was there and what is there instead, without indentation."""
    removed, added = [], []
    for line in difflib.ndiff(before.splitlines(), after.splitlines()):
        if line.startswith("- "):
            removed.append(line[2:].strip())
        elif line.startswith("+ "):
            added.append(line[2:].strip())
    return " ⏎ ".join(removed), " ⏎ ".join(added)
