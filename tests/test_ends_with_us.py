"""A program whose tests were killed is gone with them: each way in which the tests start one that is not theirs."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

PATIENCE = 60
STARTERS = {
    "Kubernetes' own": "from tests.live.real_programs import Program; kept = Program({command}, log); kept.__enter__()",
    "a server beside ours": "from tests.differential.servers import _running; kept = _running({command}, log); kept.__enter__()",
    "etcd": (
        "from tests.etcd.real_etcd import RealEtcd; kept = RealEtcd(log.parent); kept._command = {command}; kept.launch()"
    ),
}
STAYS = "import os, signal, sys; open(sys.argv[1], 'w').write(str(os.getpid())); signal.pause()"
"""Says who it is, and stays."""


@pytest.mark.parametrize("starter", STARTERS)
def test_a_program_ends_when_the_tests_are_killed(starter: str, tmp_path: Path) -> None:
    os.mkfifo(told := tmp_path / "told")
    start = STARTERS[starter].format(command=[sys.executable, "-c", STAYS, str(told)])
    script = f"import pathlib; log = pathlib.Path({str(tmp_path / 'log')!r}); {start}; input()"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    tests = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, env=environment)
    handle = os.pidfd_open(int(told.read_text()))
    try:
        tests.kill()
        tests.communicate()
        ended, _, _ = select.select([handle], [], [], PATIENCE)
        assert ended, "it is left running"
    finally:
        if not select.select([handle], [], [], 0)[0]:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        os.close(handle)
