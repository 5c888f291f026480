"""Which tests run which line, and how long each takes: one run of the tests under coverage."""

from __future__ import annotations

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
    """`tests`: module → line → the tests that run it. `seconds`: how long a test takes."""

    tests: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]

    def quickest(self, nodeids: Iterable[str]) -> list[str]:
        """Tests in the order in which they are asked."""
        return sorted(nodeids, key=lambda nodeid: (self.seconds.get(nodeid, 0.0), nodeid))

    def of_line(self, module: Path, line: int) -> list[str]:
        """The tests that run a line, quickest first."""
        return self.quickest(set(self.tests.get(str(module), {}).get(line, [])) - {AT_IMPORT})

    def of_module(self, module: Path) -> list[str]:
        """The tests that run anything of a module after it was imported, quickest first."""
        nodeids = {nodeid for some in self.tests.get(str(module), {}).values() for nodeid in some}
        return self.quickest(nodeids - {AT_IMPORT})


def measure(source: Path, tests: list[str], folder: Path, cwd: Path | None = None) -> CoverageMap:
    """Run the tests in a process of their own.

    Raises:
        ChildProcessError: a test fails without any mutant; nothing could be learnt from it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "map.json"
    command = [sys.executable, "-m", "mutants.coverage_map", str(source), str(file), *tests]
    environment = os.environ | {"PYTHONPATH": f"{source}{os.pathsep}{CHECKOUT}"}
    if subprocess.run(command, stdout=subprocess.DEVNULL, cwd=cwd or CHECKOUT, env=environment, check=False).returncode:
        raise ChildProcessError(f"the tests in {' '.join(tests)} must pass before anything is broken")
    return read(file)


def read(file: Path) -> CoverageMap:
    """What `measure` has left."""
    document = json.loads(file.read_text())
    tests = {
        module: {int(line): nodeids for line, nodeids in lines.items()} for module, lines in document["tests"].items()
    }
    return CoverageMap(tests, document["seconds"])


def _main() -> int:
    source, file, *tests = sys.argv[1:]
    measuring = coverage.Coverage(data_file=None, source=[source], config_file=False)
    contexts = _Contexts(measuring)
    measuring.start()
    code = pytest.main(["-n0", "-p", "no:cacheprovider", "--no-header", *tests], plugins=[contexts])
    measuring.stop()
    data = measuring.get_data()
    by_line = {module: data.contexts_by_lineno(module) for module in data.measured_files()}
    Path(file).write_text(json.dumps({"tests": by_line, "seconds": contexts.seconds}))
    for nodeid in contexts.failed:
        print("fails unbroken:", nodeid, file=sys.stderr)
    return int(code)


if __name__ == "__main__":
    sys.exit(_main())
