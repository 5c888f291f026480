"""The shim's end of a container's streams, in a process of its own: what happens to it, and that it hears the end."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

from tests.conftest import unavailable

SHIM = """
import os, sys
from lifecycle.cri.sandbox.stdio import Stdio

os.chdir(sys.argv[2])
stdio = Stdio({"log_path": sys.argv[1]})
pid = os.fork()
if pid == 0:
    os.dup2(stdio.child_ends[1], 1)
    for number in range(1000):
        os.write(1, b"a line\\n")
    os._exit(7)
status = stdio.serve(pid)
stdio.finish()
print(os.waitstatus_to_exitcode(status))
"""


def shim(log: str, where: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SHIM, log, str(where)], capture_output=True, text=True, check=False, timeout=60
    )


def test_a_full_disk_costs_the_log_and_not_the_shim(tmp_path: Path) -> None:
    if platform.system() != "Linux":
        unavailable("/dev/full is Linux's")
    done = shim("/dev/full", tmp_path)
    assert (done.stdout, done.stderr) == ("7\n", "")
    done = shim(str(tmp_path / "log"), tmp_path)
    assert (done.stdout, done.stderr) == ("7\n", "")
    assert len((tmp_path / "log").read_text().splitlines()) == 1000
