"""Which tests run which line, and how long each takes: one run of the tests under coverage."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mutants.digests import digest
from mutants.measuring import Measured
from mutants.nursery import Nursery

CHECKOUT = Path(__file__).resolve().parents[1]
AT_IMPORT = ""
"""coverage's context for what runs before the first test: module level code."""
HOURS = 10_000.0
"""Nobody is hurried while nothing is broken."""
BESIDE = ("pytest", "coverage", "hypothesis")
"""What each process needs that runs tests, and need not load again for each file."""
SOMEWHERE = 0
"""In place of a line's number: the module has changed since it was measured."""


@dataclass(frozen=True)
class CoverageMap:
    """`tests`: module → line → the tests that run it. `seconds` of the processor that a test takes. `imports`: others' modules.
    `apart`: no test had another one's scenes to look at, so each is known to run all that it depends on. `in_children`:
    modules that tests run in other processes, too."""

    tests: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]
    imports: tuple[str, ...] = ()
    apart: bool = False
    in_children: frozenset[str] = frozenset()

    def without(self, folder: str) -> CoverageMap:
        """The same without the tests of a folder."""
        kept = {
            module: {line: [n for n in nodeids if not n.startswith(f"{folder}/")] for line, nodeids in lines.items()}
            for module, lines in self.tests.items()
        }
        seconds = {n: s for n, s in self.seconds.items() if not n.startswith(f"{folder}/")}
        return replace(self, tests=kept, seconds=seconds)

    def quickest(self, nodeids: Iterable[str]) -> list[str]:
        """Tests in the order in which they are asked."""
        return sorted(nodeids, key=lambda nodeid: (self.seconds.get(nodeid, 0.0), nodeid))

    def of_line(self, module: Path, line: int) -> list[str]:
        """The tests that run a line, quickest first, and those that may: they ran the module before it changed."""
        lines = self.tests.get(str(module), {})
        known = set(lines.get(line, [])) - {AT_IMPORT}
        return self.quickest(known | set(lines.get(SOMEWHERE, []))) if known else []

    def of_lines(self, module: Path, lines: Iterable[int]) -> list[str]:
        """The tests that run any of some lines, quickest first."""
        return self.quickest({nodeid for line in lines for nodeid in self.of_line(module, line)})

    def of_file(self, name: str) -> set[str]:
        """The tests that stand in a file."""
        return {nodeid for nodeid in self.seconds if nodeid.split("::")[0] == name}

    def is_current(self, module: Path) -> bool:
        """Whether what is known of a module's lines can be believed."""
        return SOMEWHERE not in self.tests.get(str(module), {})

    def of_module(self, module: Path) -> list[str]:
        """The tests that run anything of a module after it was imported, quickest first."""
        nodeids = {nodeid for some in self.tests.get(str(module), {}).values() for nodeid in some}
        return self.quickest(nodeids - {AT_IMPORT})


def measure(
    source: Path,
    tests: list[str],
    folder: Path,
    cwd: Path | None = None,
    *,
    modules: Iterable[Path] = (),
    asking: str = "",
    loaded: str = "",
    preloaded: Iterable[str] = (),
) -> CoverageMap:
    """Run each test file in a process of its own; `folder` keeps what was learnt of it at once, and only changed files run
    again. So whoever ends this early has the rest to do, and not all of it.

    `modules`: only of these is anything learnt, which takes less time. `asking`: a package whose modules count as parts of the
    tests that import them: a changed question is asked again. `loaded`: what two tests would have remembered
    together, each has run for itself, and the processes are forks of one that has loaded this module. `preloaded`: they are
    forks of one that has loaded these, which says nothing of the tests. Where a module has changed since, the numbers of its
    lines are not believed.

    Raises:
        ChildProcessError: a test fails without any mutant; nothing could be learnt from it.
    """
    cwd = cwd or CHECKOUT
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "map.json"
    document = json.loads(kept.read_text()) if kept.exists() else {}
    now = {str(file): digest(file, source, asking) for name in tests for file in test_files(cwd / name)}
    known = {name: part for name, part in document.items() if part["digest"] == now.get(name)}
    new = sorted(now.keys() - known.keys())
    only = [str(module) for module in modules] or [f"{source}/*"]
    environment = os.environ | {"PYTHONPATH": f"{source}{os.pathsep}{CHECKOUT}"}
    failing = []
    imports = [*BESIDE, *([loaded] if loaded else preloaded)] if new else []
    with Nursery(imports, cwd, environment) as nursery:
        for name in new:
            document = _run(nursery, Measured(only, str(folder / "new.json")), [name])
            if document is None:
                failing.append(name)
                continue
            known |= _by_file(document, cwd, {name: now[name]})
            (half := kept.with_suffix(".half")).write_text(json.dumps(known))
            half.replace(kept)  # whole, whenever somebody ends this
    if failing:
        raise ChildProcessError(f"the tests in {' '.join(failing)} must pass before anything is broken")
    return replace(_together(known.values()), apart=bool(loaded))


def _run(nursery: Nursery, measured: Measured, files: list[str]) -> dict[str, Any] | None:
    """What one process has to say that runs these files; None if a test fails."""
    arguments = ["-n0", "-p", "no:cacheprovider", "-p", "no:lifecycle", "--assert=plain", "--no-header", *files]
    printed = Path(measured.file).with_suffix(".txt")
    if nursery.ask(arguments, printed, seconds=HOURS, measured=measured):
        print(printed.read_text()[-2000:], file=sys.stderr)
        return None
    document: dict[str, Any] = json.loads(Path(measured.file).read_text())
    return document


def test_files(path: Path) -> list[Path]:
    """A test file, or all of a folder."""
    return [path] if path.is_file() else sorted(path.rglob("test_*.py"))


def _by_file(document: dict[str, Any], cwd: Path, digests: dict[str, str]) -> dict[str, Any]:
    """What was measured in one run, per test file."""
    parts: dict[str, Any] = {
        name: {"digest": digest, "tests": {}, "seconds": {}, "imports": document["imports"]}
        for name, digest in digests.items()
    }
    for nodeid, seconds in document["seconds"].items():
        parts[_file_of(nodeid, cwd)]["seconds"][nodeid] = seconds
    for where in ("tests", "children"):
        for module, lines in document[where].items():
            bare = {"digest": hashlib.sha256(Path(module).read_bytes()).hexdigest(), "lines": {}, "in_children": False}
            for line, nodeids in lines.items():
                for nodeid in set(nodeids) - {AT_IMPORT}:
                    modules = parts[_file_of(nodeid, cwd)]["tests"]
                    part = modules.setdefault(module, copy.deepcopy(bare))
                    part["lines"].setdefault(line, []).append(nodeid)
                    part["in_children"] |= where == "children"
    return parts


def _file_of(nodeid: str, cwd: Path) -> str:
    return str(cwd / nodeid.split("::")[0])


def _together(parts: Iterable[dict[str, Any]]) -> CoverageMap:
    tests: dict[str, dict[int, list[str]]] = {}
    seconds: dict[str, float] = {}
    imports: dict[str, None] = {}
    digests: dict[str, str] = {}
    in_children: set[str] = set()
    for part in parts:
        seconds |= part["seconds"]
        imports |= dict.fromkeys(part["imports"])
        for module, measured in part["tests"].items():
            if measured["in_children"]:
                in_children.add(module)
            if module not in digests:
                file = Path(module)
                digests[module] = hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else ""
            lines = tests.setdefault(module, {})
            for line, nodeids in measured["lines"].items():
                number = int(line) if measured["digest"] == digests[module] else SOMEWHERE
                lines.setdefault(number, []).extend(nodeids)
    return CoverageMap(tests, seconds, tuple(imports), in_children=frozenset(in_children))
