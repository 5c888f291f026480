"""Whose time is over is told so, or ended with every stack printed; whoever is ready in time hears nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from queue import Queue

from tests.conftest import ROOT
from tests.watchman import LOOKS, Watchman

PATIENCE = 30.0


def test_only_who_is_too_late_hears_of_it() -> None:
    now, heard, begun = [100.0], list[str](), list[object]()
    watchman = Watchman(heard.append, lambda: now[0], begun.append)

    def after(seconds: float) -> float:
        now[0] += seconds
        return watchman.look()

    watchman.watch(10 * LOOKS, "has time")
    assert after(1.0) == LOOKS  # he need not be woken for that
    watchman.watch(5.0, "ready in time")
    assert after(2.0) == 3.0
    watchman.leave()
    assert after(8.0) == LOOKS
    watchman.watch(5.0, "replaced")
    watchman.watch(50.0, "too late")
    assert after(20.0) == 30.0
    assert heard == []
    assert after(30.0) == LOOKS
    assert heard == ["too late"]
    after(LOOKS)
    assert heard == ["too late"]
    assert len(begun) == 1  # one thread for all


def test_he_is_woken_by_who_has_less_time_than_he_sleeps() -> None:
    heard: Queue[str] = Queue()
    watchman = Watchman(heard.put)
    watchman.watch(10 * LOOKS, "has time")
    watchman.watch(0.05, "too late")
    assert heard.get(timeout=PATIENCE) == "too late"
    watchman.watch(0.05, "too late as well")
    assert heard.get(timeout=PATIENCE) == "too late as well"


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
