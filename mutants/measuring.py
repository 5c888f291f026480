"""In the process that runs tests: which of them runs which line, and how long it takes."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import coverage
import pytest

from mutants.children import Children

CHECKOUT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Measured:
    """What is to be learnt: `only` these modules' lines (patterns of paths); `file` gets the answer as JSON."""

    only: list[str]
    file: str


def _computed() -> float:
    """Seconds of the processor, with those of children that have ended: another's work on the same machine is no time."""
    return sum(os.times()[:4])


def forget_scenes() -> None:
    """Agreements and claims play their scenes once and remember them, and so do some files of tests: whoever asks second would run
    nothing of them. (Not what `lifecycle.agreements.forgetting` does for tests: what is measured can be another package of that
    name.)
    """
    for name, module in list(sys.modules.items()):
        if name.startswith("lifecycle.agreements") or name.rpartition(".")[2].startswith("test_"):
            for value in vars(module).values():
                if hasattr(value, "cache_clear") and value.__module__ == name:  # theirs, not what they import
                    value.cache_clear()


class _Contexts:
    """A pytest plug-in: each test, with its set-up and its end, is a context of its own."""

    def __init__(self, measuring: coverage.Coverage, children: Children) -> None:
        self.measuring = measuring
        self.children = children
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []
        self.begun = 0.0

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        forget_scenes()
        self.measuring.switch_context(nodeid)
        self.children.switch_context(nodeid)
        self.begun = _computed()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.seconds[nodeid] = _computed() - self.begun

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)


def measure(measured: Measured, arguments: list[str], plugins: list[Any]) -> int:
    """Run pytest under coverage; its exit code. What others have loaded is written down, too."""
    measuring = coverage.Coverage(data_file=None, include=measured.only, config_file=False)
    children = Children(Path(measured.file).with_suffix(".children"), measured.only)
    contexts = _Contexts(measuring, children)
    measuring.start()
    with children.watched():
        code = pytest.main(arguments, plugins=[*plugins, contexts])
    measuring.stop()
    data = measuring.get_data()
    by_line = {module: data.contexts_by_lineno(module) for module in data.measured_files()}
    document = {
        "tests": by_line,
        "children": children.lines(),
        "seconds": contexts.seconds,
        "imports": of_others(),
    }
    Path(measured.file).write_text(json.dumps(document))
    for nodeid in contexts.failed:
        print("fails unbroken:", nodeid, file=sys.stderr)
    return int(code)


def of_others() -> list[str]:
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
