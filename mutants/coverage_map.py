"""Which tests run which line, and how long each takes: one run of the tests under coverage."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import coverage
import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
AT_IMPORT = ""
"""coverage's context for what runs before the first test: module level code."""
SOMEWHERE = 0
"""In place of a line's number: the module has changed since it was measured."""


class _Contexts:
    """A pytest plug-in: each test, with its set-up and its end, is a context of its own."""

    def __init__(self, measuring: coverage.Coverage) -> None:
        self.measuring = measuring
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.measuring.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.append(report.nodeid)


@dataclass(frozen=True)
class CoverageMap:
    """`tests`: module → line → the tests that run it. `seconds`: how long a test takes. `imports`: others' modules."""

    tests: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]
    imports: tuple[str, ...] = ()

    def without(self, folder: str) -> CoverageMap:
        """The same without the tests of a folder."""
        kept = {
            module: {line: [n for n in nodeids if not n.startswith(f"{folder}/")] for line, nodeids in lines.items()}
            for module, lines in self.tests.items()
        }
        seconds = {n: s for n, s in self.seconds.items() if not n.startswith(f"{folder}/")}
        return CoverageMap(kept, seconds, self.imports)

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

    def is_current(self, module: Path) -> bool:
        """Whether what is known of a module's lines can be believed."""
        return SOMEWHERE not in self.tests.get(str(module), {})

    def of_module(self, module: Path) -> list[str]:
        """The tests that run anything of a module after it was imported, quickest first."""
        nodeids = {nodeid for some in self.tests.get(str(module), {}).values() for nodeid in some}
        return self.quickest(nodeids - {AT_IMPORT})


def measure(source: Path, tests: list[str], folder: Path, cwd: Path | None = None) -> CoverageMap:
    """Run the tests in a process of their own; `folder` keeps what was learnt, and only changed test files run again.

    Where a module has changed since, the numbers of its lines are not believed.

    Raises:
        ChildProcessError: a test fails without any mutant; nothing could be learnt from it.
    """
    cwd = cwd or CHECKOUT
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "map.json"
    document = json.loads(kept.read_text()) if kept.exists() else {}
    now = {str(file): _digest(file) for name in tests for file in test_files(cwd / name)}
    known = {name: part for name, part in document.items() if part["digest"] == now.get(name)}
    if new := sorted(now.keys() - known.keys()):
        file = folder / "new.json"
        command = [sys.executable, "-m", "mutants.coverage_map", str(source), str(file), *new]
        environment = os.environ | {"PYTHONPATH": f"{source}{os.pathsep}{CHECKOUT}"}
        if subprocess.run(command, stdout=subprocess.DEVNULL, cwd=cwd, env=environment, check=False).returncode:
            raise ChildProcessError(f"the tests in {' '.join(tests)} must pass before anything is broken")
        known |= _by_file(json.loads(file.read_text()), cwd, {name: now[name] for name in new})
        kept.write_text(json.dumps(known))
    return _together(known.values())


def test_files(path: Path) -> list[Path]:
    """A test file, or all of a folder."""
    return [path] if path.is_file() else sorted(path.rglob("test_*.py"))


def _digest(file: Path) -> str:
    """Of a test file with the `conftest.py` files beside and above it."""
    above = [folder / "conftest.py" for folder in file.parents]
    return hashlib.sha256(b"".join(some.read_bytes() for some in (file, *above) if some.exists())).hexdigest()


def _by_file(document: dict[str, Any], cwd: Path, digests: dict[str, str]) -> dict[str, Any]:
    """What was measured in one run, per test file."""
    parts: dict[str, Any] = {
        name: {"digest": digest, "tests": {}, "seconds": {}, "imports": document["imports"]}
        for name, digest in digests.items()
    }
    for nodeid, seconds in document["seconds"].items():
        parts[_file_of(nodeid, cwd)]["seconds"][nodeid] = seconds
    for module, lines in document["tests"].items():
        digest = hashlib.sha256(Path(module).read_bytes()).hexdigest()
        for line, nodeids in lines.items():
            for nodeid in set(nodeids) - {AT_IMPORT}:
                part = parts[_file_of(nodeid, cwd)]["tests"].setdefault(module, {"digest": digest, "lines": {}})
                part["lines"].setdefault(line, []).append(nodeid)
    return parts


def _file_of(nodeid: str, cwd: Path) -> str:
    return str(cwd / nodeid.split("::")[0])


def _together(parts: Iterable[dict[str, Any]]) -> CoverageMap:
    tests: dict[str, dict[int, list[str]]] = {}
    seconds: dict[str, float] = {}
    imports: dict[str, None] = {}
    digests: dict[str, str] = {}
    for part in parts:
        seconds |= part["seconds"]
        imports |= dict.fromkeys(part["imports"])
        for module, measured in part["tests"].items():
            if module not in digests:
                file = Path(module)
                digests[module] = hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else ""
            lines = tests.setdefault(module, {})
            for line, nodeids in measured["lines"].items():
                number = int(line) if measured["digest"] == digests[module] else SOMEWHERE
                lines.setdefault(number, []).extend(nodeids)
    return CoverageMap(tests, seconds, tuple(imports))


def _main() -> int:
    source, file, *tests = sys.argv[1:]
    measuring = coverage.Coverage(data_file=None, source=[source], config_file=False)
    contexts = _Contexts(measuring)
    measuring.start()
    arguments = ["-n0", "-p", "no:cacheprovider", "--assert=plain", "--no-header", *tests]
    code = pytest.main(arguments, plugins=[contexts])
    measuring.stop()
    data = measuring.get_data()
    by_line = {module: data.contexts_by_lineno(module) for module in data.measured_files()}
    document = {"tests": by_line, "seconds": contexts.seconds, "imports": _of_others()}
    Path(file).write_text(json.dumps(document))
    for nodeid in contexts.failed:
        print("fails unbroken:", nodeid, file=sys.stderr)
    return int(code)


def _of_others() -> list[str]:
    """What is loaded and does not come from the checkout."""
    return [
        name
        for name, module in list(sys.modules.items())
        if name != "__main__"
        and not str(getattr(module, "__file__", None) or "").startswith(
            (str(CHECKOUT / "src"), str(CHECKOUT / "tests"))
        )
        and name.split(".")[0] not in ("lifecycle", "tests", "mutants")
    ]


if __name__ == "__main__":
    sys.exit(_main())
