"""A real etcd for a test: its own directory, free loopback ports, ended by its own process id."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.conftest import unavailable
from tests.ends_with_us import ends_with_us
from tests.loopback import free_ports


class RealEtcd:
    """One etcd. `start()` and `kill()` may be called again and again; data and address stay. `options` are more of its flags.

    `number` is its place among the members whose ports for peers are given: by itself, it is the only one.
    """

    def __init__(self, directory: Path, *options: str, number: int = 0, peers: Sequence[int] = ()) -> None:
        binary = shutil.which("etcd")
        if binary is None:
            unavailable("etcd is not installed (Debian: etcd-server)")
        assert binary is not None
        client, *other = free_ports(1 if peers else 2)
        self.url = f"http://127.0.0.1:{client}"
        self._log = directory / f"etcd{number or ''}.log"
        members = [f"http://127.0.0.1:{port}" for port in peers or other]
        cluster = ",".join(f"test{place}={member}" for place, member in enumerate(members))
        self._command = [
            binary, f"--name=test{number}", f"--data-dir={directory / f'data{number or str()}'}",
            "--log-level=error", "--logger=zap",
            f"--listen-client-urls={self.url}", f"--advertise-client-urls={self.url}",
            f"--listen-peer-urls={members[number]}", f"--initial-advertise-peer-urls={members[number]}",
            f"--initial-cluster={cluster}",
            "--heartbeat-interval=20", "--election-timeout=200", *options,
        ]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when it serves."""
        self.launch()
        self.wait()

    def launch(self) -> None:
        """Start it, and do not wait: a member serves only beside others. It ends with the thread that calls this, at the latest."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(ends_with_us(self._command), stdout=log, stderr=log)

    def wait(self) -> None:
        """Until it serves."""
        deadline = time.monotonic() + 90
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

    def pause(self) -> None:
        """SIGSTOP: it hears and says nothing, and will not know how long that was."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def real_etcd(directory: Path) -> Iterator[RealEtcd]:
    """A running etcd; skips the test where there is none."""
    etcd = RealEtcd(directory)
    try:
        etcd.start()
        yield etcd
    finally:
        etcd.kill()
