"""A test that fails and is tried once more: with its module's fixtures made anew, and ended as often as they were made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

MODULE = """
import itertools
import pathlib
import pytest

turns, log = itertools.count(), pathlib.Path(__file__).with_suffix(".log")


def said(what):
    with log.open("a") as file:
        file.write(what + "\\n")


@pytest.fixture(scope="session")
def keys():
    said("keys")
    return "keys"


@pytest.fixture(scope="module")
def server(keys):
    turn = next(turns)
    said(f"server {turn} starts")
    yield turn
    said(f"server {turn} ends")


@pytest.fixture(scope="module")
def played(server):
    said(f"played on {server}")
    yield server
    said(f"closed on {server}")


def test_before(played):
    pass


def test_on_the_second_server(played):
    assert played == 1


def test_after(played):
    assert played == 1
"""
LOG = """keys
server 0 starts
played on 0
closed on 0
server 0 ends
server 1 starts
played on 1
closed on 1
server 1 ends
"""


def tried(folder: Path, *options: str) -> tuple[int, str, str]:
    """Exit code, output, and what the module wrote down."""
    (folder / "test_module.py").write_text(MODULE)
    (folder / "pytest.ini").write_text("[pytest]\n")
    root = Path(__file__).resolve().parent.parent
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.second_try",
        "-p",
        "no:cacheprovider",
        *options,
        str(folder),
    ]
    done = subprocess.run(
        command,
        cwd=root,
        env={"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr, (folder / "test_module.log").read_text()


def test_a_second_try_gets_its_module_s_fixtures_anew(tmp_path: Path) -> None:
    code, output, log = tried(tmp_path, "-p", "rerunfailures", "--reruns", "1")
    assert (code, log) == (0, LOG), output
    assert "3 passed, 1 rerun" in output


def test_without_a_second_try_it_fails(tmp_path: Path) -> None:
    code, output, log = tried(tmp_path)
    assert code == 1, output
    assert "2 failed, 1 passed" in output
    assert log.count("starts") == log.count("ends") == 1
