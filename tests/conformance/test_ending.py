"""Who ends the run ends all of it: the tests, the cluster, the images in their temporary folder."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from lifecycle.cri.images.small_images import find_busybox
from tests.conftest import unavailable

LIFECYCLE = """#!/bin/sh
trap 'echo taken down > "$OUT/cluster"; exit 0' INT
echo "ready in 0 s"
echo "$LIFECYCLE_IMAGES" > "$OUT/images"
while :; do sleep 0.05; done
"""
GINKGO = """#!/bin/sh
sleep 1000 &
echo $! > "$OUT/child.new" && mv "$OUT/child.new" "$OUT/child"
echo "Will run 2 of 2 specs"
wait
"""


def put(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_takes_everything_down(tmp_path: Path, number: signal.Signals) -> None:
    busybox = find_busybox()
    if busybox is None:
        unavailable("no static busybox (Debian: busybox-static)")
    assert busybox is not None
    put(tmp_path / "path" / "lifecycle", LIFECYCLE)
    put(tmp_path / "path" / "kubectl", "")
    put(tmp_path / "bin" / "ginkgo", GINKGO)
    put(tmp_path / "bin" / "e2e.test", "")
    shutil.copyfile(busybox, tmp_path / "bin" / "agnhost")
    here = tmp_path / "temporary"
    here.mkdir()
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'path'}:{os.environ['PATH']}",
        "KUBE_BIN": str(tmp_path / "bin"),
        "OUT": str(tmp_path),
        "TMPDIR": str(here),
    }
    out = tmp_path / "kept"
    out.mkdir()
    os.mkfifo(out / "tests.log")  # whoever opens it waits for the other one
    argv = [sys.executable, "-m", "conformance", "--no-keep", "--out", str(out)]
    process = subprocess.Popen(argv, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def end_of_log() -> None:  # for a reader who would otherwise wait for a run that never began
        process.wait()
        with suppress(OSError):
            os.close(os.open(out / "tests.log", os.O_WRONLY | os.O_NONBLOCK))

    threading.Thread(target=end_of_log, daemon=True).start()
    try:
        with (out / "tests.log").open() as log:
            assert log.readline() == "Will run 2 of 2 specs\n"
            process.send_signal(number)
            assert process.wait(60) == 128 + number
    finally:
        process.kill()
        process.wait()
    assert (tmp_path / "cluster").read_text() == "taken down\n"
    assert not Path((tmp_path / "images").read_text().strip()).exists()
    assert not any(here.iterdir())
    child = Path("/proc") / (tmp_path / "child").read_text().strip()
    assert not child.exists() or child.joinpath("stat").read_text().split()[2] == "Z"
