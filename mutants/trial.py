"""One mutant: broken, tested, mended."""

from __future__ import annotations

import difflib
from dataclasses import asdict, dataclass
from typing import Any

from mutants.candidates import Candidate
from mutants.coverage_map import CoverageMap
from mutants.workshop import Workshop

FIRST = 40
"""So many of the tests that run the line are asked first; then all the files they stand in."""


@dataclass(frozen=True)
class Outcome:
    """`before` and `after`: the changed lines. `reason`: why an equivalent mutant cannot be noticed."""

    module: str
    line: int
    operator: str
    before: str
    after: str
    noticed: bool
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def trial(candidate: Candidate, workshop: Workshop, coverage: CoverageMap) -> Outcome:
    """Ask the tests that run the changed line; if all pass, the whole files in which these tests stand.

    A line that runs only when its module is imported is asked about by whoever uses the module.
    """
    text = candidate.mutated()
    assert text is not None
    tests = coverage.of_line(candidate.module, candidate.line) or coverage.of_module(candidate.module)
    first = tests[:FIRST]
    files = list(dict.fromkeys(nodeid.split("::")[0] for nodeid in tests))
    with workshop.broken(candidate.module, text):
        passed = _pass(workshop, coverage, first) and _pass_files(workshop, coverage, files)
    before, after = changed_lines(candidate.module.read_text(), text)
    name = str(candidate.module.relative_to(workshop.checkout))
    return Outcome(name, candidate.line, candidate.operator, before, after, noticed=not passed)


def _pass(workshop: Workshop, coverage: CoverageMap, nodeids: list[str]) -> bool:
    if not nodeids:
        return True
    usual = sum(coverage.seconds.get(nodeid, 0.0) for nodeid in nodeids)
    return workshop.tests_pass(nodeids, seconds=20 + 3 * usual)


def _pass_files(workshop: Workshop, coverage: CoverageMap, files: list[str]) -> bool:
    usual = sum(seconds for nodeid, seconds in coverage.seconds.items() if nodeid.split("::")[0] in files)
    return not files or workshop.tests_pass(files, seconds=20 + 3 * usual)


def changed_lines(before: str, after: str) -> tuple[str, str]:
    """What was there and what is there instead, without indentation."""
    removed, added = [], []
    for line in difflib.ndiff(before.splitlines(), after.splitlines()):
        if line.startswith("- "):
            removed.append(line[2:].strip())
        elif line.startswith("+ "):
            added.append(line[2:].strip())
    return " ⏎ ".join(removed), " ⏎ ".join(added)
