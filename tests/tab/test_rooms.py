"""The rooms' tests on virtual time, run by Python in WebAssembly: the same code, no fork."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tab.bundle import package_files, recording_files, run_in_node, write_archive
from tab.libraries import TESTING, files_of

from tests.conftest import ROOT

ROOMS = ("apiserver", "controllers", "cri", "etcd", "kubectl", "kubelet", "proxy", "scheduler", "trace")
ON_VIRTUAL_TIME = ("run_virtual", "rehearse", "on_virtual_time", "VirtualTimeLoop")
NOT_IN_A_TAB = {"socket", "ssl", "subprocess", "threading", "multiprocessing", "signal", "sqlite3", "resource"}
"""Modules of the standard library that have nothing to talk to there."""
LIBRARIES = {"click", "dns", "jwt", "lifecycle", "pytest", "rich", "tests", "yaml"}
WITH_SOCKETS = {"lifecycle.cluster.outside_services", "lifecycle.apiserver.server.https", "lifecycle.kubectl.main"}
"""Modules of ours that listen, or are a program's way in."""
FEWEST = 800
"""Tests that pass there; fewer means that something is no longer asked."""


def imported(file: Path) -> Iterator[str]:
    """The modules that a file names."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def runs_in_a_tab(file: Path, seen: frozenset[Path] = frozenset()) -> bool:
    """Whether a file, and those of the tests that it uses, ask for nothing that a tab lacks."""
    for module in imported(file):
        top = module.partition(".")[0]
        if (
            top in NOT_IN_A_TAB
            or module in WITH_SOCKETS
            or (top not in sys.stdlib_module_names and top not in LIBRARIES)
        ):
            return False
        other = ROOT / (module.replace(".", "/") + ".py")
        if other.name == "conftest.py":
            return False  # it speaks of hypothesis, whose core is compiled
        if top == "tests" and other.exists() and other not in seen and not runs_in_a_tab(other, seen | {file}):
            return False
    return True


def chosen() -> list[str]:
    """The test files of `ROOMS` that play on virtual time and need nothing else."""
    return [
        str(file.relative_to(ROOT))
        for room in ROOMS
        for file in sorted((ROOT / "tests" / room).rglob("test_*.py"))
        if any(word in file.read_text() for word in ON_VIRTUAL_TIME) and runs_in_a_tab(file)
    ]


@pytest.mark.real
@pytest.mark.timeout(600)
def test_every_room_works_in_a_tab(tmp_path: Path) -> None:
    files = chosen()
    (tmp_path / "files.txt").write_text("\n".join(files))
    tests = [(str(file.relative_to(ROOT)), file) for file in sorted((ROOT / "tests").rglob("*.py"))]
    testing = [found for library in TESTING for found in files_of(library)]
    archive = tmp_path / "rooms.tar"
    write_archive(
        archive, [*package_files(), *testing, *tests, *recording_files(), ("files.txt", tmp_path / "files.txt")]
    )
    out = run_in_node("exec(open('tests/tab/inside.py').read())", [archive], timeout=590)
    told = [line for line in out.splitlines() if line.startswith('{"code"')]
    assert told, out[-6000:]
    result = json.loads(told[-1])
    assert result["code"] == 0, out[-6000:]
    assert set(result["passed"]) == set(ROOMS) - {"trace"}
    assert sum(result["passed"].values()) >= FEWEST, result
