"""A real etcd for a test: its own directory, free loopback ports, ended by its own process id."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import unavailable
from tests.loopback import free_ports


class RealEtcd:
    """One etcd. `start()` and `kill()` may be called again and again; data and address stay. `options` are more of its flags."""

    def __init__(self, directory: Path, *options: str) -> None:
        binary = shutil.which("etcd")
        if binary is None:
            unavailable("etcd is not installed (Debian: etcd-server)")
        assert binary is not None
        client, peer = free_ports(2)
        self.url = f"http://127.0.0.1:{client}"
        self._log = directory / "etcd.log"
        peers = f"http://127.0.0.1:{peer}"
        self._command = [
            binary, "--name=test", f"--data-dir={directory / 'data'}", "--log-level=error", "--logger=zap",
            f"--listen-client-urls={self.url}", f"--advertise-client-urls={self.url}",
            f"--listen-peer-urls={peers}", f"--initial-advertise-peer-urls={peers}", f"--initial-cluster=test={peers}",
            "--heartbeat-interval=20", "--election-timeout=200", *options,
        ]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when it serves."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.url}/health", timeout=1) as answer:
                if b'"true"' in answer.read():
                    return
            time.sleep(0.02)
        raise AssertionError(f"etcd does not serve: {self._log.read_text()[-500:]}")

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@contextlib.contextmanager
def real_etcd(directory: Path) -> Iterator[RealEtcd]:
    """A running etcd; skips the test where there is none."""
    etcd = RealEtcd(directory)
    try:
        etcd.start()
        yield etcd
    finally:
        etcd.kill()
