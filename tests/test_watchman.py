"""Whose time is over is told so, or ended with every stack printed; whoever is ready in time hears nothing."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from queue import Queue

from tests.conftest import ROOT
from tests.watchman import LOOKS, Watchman

PATIENCE = 30.0


def test_only_who_is_too_late_hears_of_it() -> None:
    heard: Queue[str] = Queue()
    watchman = Watchman(heard.put)
    watchman.watch(10 * LOOKS, "has time")  # the watchman has no reason to look soon
    watchman.watch(0.05, "ready in time")
    watchman.leave()
    watchman.watch(0.05, "replaced")
    watchman.watch(0.1, "too late")
    assert heard.get(timeout=PATIENCE) == "too late"
    watchman.watch(0.05, "too late as well")
    assert heard.get(timeout=PATIENCE) == "too late as well"
    assert heard.empty()


def test_there_is_one_thread_for_all() -> None:
    before = set(threading.enumerate())
    watchman = Watchman(lambda: None)
    for _ in range(20):
        watchman.watch(LOOKS)
        watchman.leave()
    assert len(set(threading.enumerate()) - before) == 1


def test_a_test_that_hangs_ends_the_run_with_its_stack(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\ntimeout = 1\ntimeout_method = thread\n")
    (tmp_path / "test_module.py").write_text(
        "import threading\n"
        "def test_quick():\n"
        "    assert [each.name for each in threading.enumerate()] == ['MainThread', 'watchman']\n"
        "def test_hangs():\n"
        "    waits_for_ever()\n"
        "def waits_for_ever():\n"
        "    threading.Event().wait()\n"
        "def test_afterwards():\n"
        "    pass\n"
    )
    command = [sys.executable, "-m", "pytest", "-v", "-p", "timeout", "-p", "tests.watchman", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, str(tmp_path)],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    assert "test_quick PASSED" in said
    assert "in waits_for_ever" in said
    assert "Timeout" in said
    assert "test_afterwards" not in said
