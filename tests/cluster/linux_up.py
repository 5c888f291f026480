"""`lifecycle up` with real containers, as a process of its own, and kubectl at it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lifecycle.cluster.linux.clean import clean, leftovers
from lifecycle.cluster.linux.requirements import missing
from lifecycle.cluster.linux.run_state import Run, runs
from tests.conftest import find_kubectl, unavailable
from tests.ends_with_us import ends_with_us

PATIENCE = 120
"""Seconds after which something hangs. A machine with other work to do may be slow; nothing here is about how fast it is."""


@dataclass
class Up:
    """A running cluster. `run`: what it is called on this machine; `seconds`: how long it took to be ready."""

    process: subprocess.Popen[str]
    kubeconfig: Path
    kubectl: Path
    run: Run
    seconds: float

    def k(self, *words: str, fails: bool = False, timeout: float = PATIENCE) -> str:
        """What kubectl prints, both outputs."""
        command = [str(self.kubectl), f"--kubeconfig={self.kubeconfig}", *words]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False
        )
        assert (done.returncode != 0) == fails, f"{' '.join(words)}: {done.stdout}"
        return done.stdout

    def on_node(self, node: str, *command: str) -> str:
        """What a program prints that runs in a node's network."""
        netns = self.run.directory / node / "netns"
        done = subprocess.run(
            ["nsenter", f"--net={netns}", "--", *command], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def end(self, number: int = signal.SIGINT) -> int:
        """Send a signal; the exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE)


@contextmanager
def up(where: Path, *words: str) -> Iterator[Up]:
    """Ready, and at the end gone, however the block ended."""
    for why in missing("containerd" if "containerd" in words else "sandbox"):
        unavailable(why)
    kubectl = find_kubectl("1.36")
    if kubectl is None:
        unavailable("kubectl 1.36 is not here (.ci/kubectl fetches it on Debian)")
    assert kubectl is not None
    kubeconfig = where / "kubeconfig"
    began = time.monotonic()
    with (where / "stderr").open("w+") as errors:
        process = subprocess.Popen(
            ends_with_us([sys.executable, "-m", "lifecycle", "up", "--kubeconfig", kubeconfig, *words], "TERM"),
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
            env={k: v for k, v in os.environ.items() if k != "KUBECONFIG"},
        )
        assert process.stdout is not None
        first = process.stdout.readline()
        seconds = time.monotonic() - began
        mine = next((run for run in runs() if _owner(run) == process.pid), None)
        try:
            assert first.startswith("ready "), (where / "stderr").read_text()
            assert mine is not None
            yield Up(process, kubeconfig, kubectl, mine, seconds)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stdout.close()
            if mine is not None and leftovers(mine):
                clean(mine)


def _owner(run: Run) -> int:
    try:
        return int(json.loads((run.directory / "owner.json").read_text())["pid"])
    except FileNotFoundError:
        return 0


def host_network() -> set[str]:
    """The machine's own interfaces and rules: what must never change."""
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    rules = subprocess.run(["iptables-save"], capture_output=True, text=True, check=True).stdout
    names = {f"interface {line.split(': ')[1].partition('@')[0]}" for line in links.splitlines()}
    return names | {line for line in rules.splitlines() if line[:1] == "-"}


def added_to_host_network(before: set[str]) -> set[str]:
    """What is there that was not, and stays: somebody else on this machine may be at work too, and what they make goes again."""
    deadline = time.monotonic() + PATIENCE / 4
    while (added := host_network() - before) and time.monotonic() < deadline:
        time.sleep(0.2)
    return added
