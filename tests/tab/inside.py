"""Runs pytest inside WebAssembly; `tests/tab/test_rooms.py` starts it there.

Files are not chosen by what they import: what a tab lacks may be named by a test, and
whoever comes to use it is skipped with that reason. Whatever else fails has failed.
"""

from __future__ import annotations

import builtins
import errno
import importlib.util
import json
import re
import signal
import socket
import subprocess
import threading
import types
from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from tab.in_page import COMPILED, NO_BUILD, behind, not_in_a_tab

TESTS = "/book/tests/"
SOCKETS, PROCESSES, THREADS, REAL_TIME, A_KERNEL = "sockets", "processes", "threads", "a loop on real time", "a kernel"
AN_ALARM = "an alarm"
LACKS = {
    "multiprocessing": PROCESSES,
    "signal": PROCESSES,
    "socket": SOCKETS,
    "ssl": SOCKETS,
    "subprocess": PROCESSES,
    "threading": THREADS,
}
"""Modules of the standard library that a tab has and that have nobody to talk to there."""

SAID = {
    "the library {0}": re.compile("(?:needs the Python library|No module named) '?([a-z0-9_]+)"),
    "the library cel_expr_python": re.compile("cel-expr-python is not installed"),
    "the library matplotlib": re.compile("matplotlib is not installed"),
    THREADS: re.compile("can't start new thread"),
    "a certificate authority": re.compile(r"\['namespace', 'token'\] == \['ca.crt'"),
    "cgroups": re.compile(r"\[kubepods"),
    REAL_TIME: re.compile("WebAssembly stack switching not supported"),
    PROCESSES: re.compile("emscripten does not support processes"),
    SOCKETS: re.compile("module 'socket' has no attribute|nobody listens in a tab"),
    A_KERNEL: re.compile("module 'os' has no attribute"),
}
"""What is missing, and how that is said where no exception tells it."""

ENDLESS = (
    "tests/exercises/test_attempts.py::test_a_file_that_cannot_be_loaded_gets_one_line[while",
    "tests/exercises/test_attempts.py::test_an_attempt_without_end_is_stopped",
    "tests/exercises/test_exercises.py::test_an_attempt_that_hangs_is_stopped_and_after_three_times_left_alone",
)
"""These are not begun: an alarm ends them, and in a tab the reader does, who presses *Stop*."""

REASONS = {
    AN_ALARM,
    A_KERNEL,
    *LACKS.values(),
    *(name for name in SAID if "{" not in name),
    *(f"the library {name}" for name in (*NO_BUILD, *COMPILED, "prometheus_client", "resource")),
}
"""All that may be missing; `resource` is a part of the standard library that only Unix has."""

LISTED = {
    "tests/cli/test_words.py::test_doctor_names_each_program_and_each_extra": "the library cel_expr_python",
    "tests/cli/test_words.py::test_the_noise_floor_of_two_recordings_is_printed": THREADS,
}
"""Tests that only say that something else came out than on a machine."""

MOST_CASES = 3
"""Of a test with more cases these are asked, evenly chosen; the others are for a machine."""
ONE_CASE = ("tests/chaos/test_chaos.py", "tests/linearizability/test_storage.py")
"""Whole clusters under fire, for minutes: one case of each test."""
EVERY_THIRD = (
    "tests/compare/test_replay.py",
    "tests/controllers/test_cron_job.py",
    "tests/controllers/test_node_health.py",
    "tests/controllers/test_persistent_volumes.py",
    "tests/controllers/test_rollback.py",
    "tests/controllers/test_stateful_set.py",
    "tests/kubectl/test_completion.py",
    "tests/kubelet/kubelet_pods/test_pod_shapes.py",
    "tests/kubelet/server/test_server.py",
    "tests/kubelet/test_kubelet.py",
)
"""Files that would take a third of the time of all: of their tests every third is asked."""
EXAMPLES = 3
"""Of each property."""


class NotHereError(Exception):
    """A test used what a tab does not have; its text says what."""


class _Absent(type):
    """What such a module would have."""

    reason: str

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") or name == "reason":
            raise AttributeError(name)
        raise NotHereError(cls.reason)

    def __call__(cls, *args: Any, **named: Any) -> Any:
        raise NotHereError(cls.reason)

    def __getitem__(cls, parameter: Any) -> Any:
        return cls  # an annotation


class _AbsentModule(types.ModuleType):
    """A module that may be imported by a test."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name)
        self.reason = reason

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Absent(name, (), {"reason": self.reason})


_import = builtins.__import__


def import_for_tests(
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> types.ModuleType:
    """The `__import__` of a module of the tests; for all others it is Python's own."""
    top = name.partition(".")[0]
    if not str((globals or {}).get("__file__")).startswith(TESTS):
        return _import(name, globals, locals, fromlist or (), level)
    if level == 0 and top in LACKS:
        return _AbsentModule(name, LACKS[top])
    try:
        return _import(name, globals, locals, fromlist or (), level)
    except ModuleNotFoundError as error:
        return _AbsentModule(name, f"the library {str(error.name).partition('.')[0]}")


def untrue() -> list[str]:
    """The reasons that do not hold in this Python."""

    def works(use: Any) -> bool:
        try:
            use()
        except (AttributeError, OSError, RuntimeError):
            return False
        return True

    uses = {
        AN_ALARM: lambda: getattr(signal, "setitimer")(signal.ITIMER_REAL, 0),  # noqa: B009
        PROCESSES: lambda: subprocess.run(["true"], check=True),
        SOCKETS: lambda: socket.create_connection(("127.0.0.1", 1)),
        THREADS: lambda: threading.Thread(target=print).start(),
    }
    libraries = [name for name in (*NO_BUILD, *COMPILED) if importlib.util.find_spec(name)]
    return [*(name for name, use in uses.items() if works(use)), *libraries]


def missing(error: BaseException, told: str) -> str | None:
    """What this test would need, if that is why it went wrong."""
    for each in behind(error):
        if isinstance(each, NotHereError):
            return str(each)
    if reason := not_in_a_tab(error):
        said = {"library": f"the library {reason[1]}", "socket": SOCKETS, "thread": THREADS}
        return said.get(reason[0], A_KERNEL)
    for name, words in SAID.items():
        if match := words.search(told):
            return name.format(*match.groups())
    return None


def few_examples(item: pytest.Item) -> None:
    """Fewer than on a machine, and the same each time."""
    test = getattr(item, "obj", None)
    for holder, name in ((test, "_hypothesis_internal_use_settings"), (getattr(item, "cls", None), "settings")):
        own = getattr(holder, name, None)
        if isinstance(own, hypothesis.settings):
            few = min(own.max_examples, EXAMPLES)
            setattr(holder, name, hypothesis.settings(own, max_examples=few, derandomize=True, database=None))


class InATab:
    """Counts what happened."""

    def __init__(self) -> None:
        self.passed: dict[str, int] = defaultdict(int)
        self.missing: dict[str, list[str]] = defaultdict(list)
        self.seconds: dict[str, float] = defaultdict(float)
        self.left_out = 0

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Choose among many cases of one test, and leave out what would not end."""
        self.missing[AN_ALARM] += [item.nodeid for item in items if item.nodeid.startswith(ENDLESS)]
        items[:] = [item for item in items if not item.nodeid.startswith(ENDLESS)]
        tests: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in items:
            tests[item.nodeid.partition("[")[0]].append(item)
            few_examples(item)
        chosen = set[str]()
        for number, (test, cases) in enumerate(tests.items()):
            if test.startswith(EVERY_THIRD) and number % 3:
                continue
            most = 1 if test.startswith(ONE_CASE) else MOST_CASES
            chosen.update(case.nodeid for case in cases[:: -(-len(cases) // most)])
        self.left_out = len(items) - len(chosen)
        items[:] = [item for item in items if item.nodeid in chosen]

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, Any]:
        """A file that uses what is missing before any test does."""
        report = yield
        if report.failed and (match := re.search(r"NotHereError: (.*)", str(report.longrepr))):
            report.outcome = "skipped"
            report.longrepr = (collector.nodeid, 0, f"not in a tab: {match[1]}")
            self.missing[match[1]].append(collector.nodeid)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        """Tell what is missing from what is broken."""
        report = yield
        path = item.nodeid.partition("::")[0]
        self.seconds[path] += report.duration
        if report.failed and call.excinfo is not None:
            listed = LISTED.get(item.nodeid.partition("[")[0])
            if reason := missing(call.excinfo.value, str(report.longrepr)) or listed:
                report.outcome = "skipped"
                report.longrepr = (str(item.path), 0, f"not in a tab: {reason}")
                self.missing[reason].append(item.nodeid)
        elif report.passed and report.when == "call":
            self.passed[path] += 1
        return report


def listen(self: socket.socket, backlog: int = 0) -> None:
    """As in a browser; in Node it would look for a library that is not there, and end Python."""
    raise OSError(errno.EOPNOTSUPP, "nobody listens in a tab")


def main() -> None:
    """Run the files that are named; one of the lines printed is what happened, as JSON."""
    setattr(socket.socket, "listen", listen)  # noqa: B010
    result: dict[str, Any] = {"untrue": untrue()}
    counts = InATab()
    builtins.__import__ = import_for_tests  # type: ignore[assignment]
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "--tb=short",
        "--no-header",
        "-W",
        "ignore",
        "--continue-on-collection-errors",
    ]
    result["code"] = int(pytest.main([*options, *Path("files.txt").read_text().split()], plugins=[counts]))
    result |= {name: getattr(counts, name) for name in ("passed", "missing", "seconds", "left_out")}
    print(json.dumps(result))
