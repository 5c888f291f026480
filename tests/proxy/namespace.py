"""A network namespace with the real programs: made by the test, gone with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.conftest import unavailable

PROGRAMS = ("ip", "iptables", "iptables-save", "iptables-restore")
SECONDS = 20
"""No command takes longer, or the test fails."""


def need_real_iptables() -> None:
    """Skip, or fail in CI, where rules cannot be loaded for real."""
    if sys.platform != "linux" or os.geteuid() != 0:
        unavailable("network namespaces need Linux and root")
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        unavailable(f"not installed: {', '.join(missing)}")


def inside(namespace: str, *command: str, stdin: str = "") -> str:
    done = subprocess.run(
        ["ip", "netns", "exec", namespace, *command],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


@contextmanager
def network_namespace(purpose: str) -> Iterator[str]:
    need_real_iptables()
    name = f"lifecycle-{purpose}-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, timeout=SECONDS, check=False)
    if made.returncode:
        unavailable(f"no network namespace can be made: {made.stderr.strip()}")
    try:
        inside(name, "ip", "link", "set", "lo", "up")
        yield name
    finally:
        subprocess.run(["ip", "netns", "del", name], timeout=SECONDS, check=False)


def saved(namespace: str) -> str:
    """`iptables-save`, without comments and counters."""
    lines = inside(namespace, "iptables-save").splitlines()
    plain = [f"{line.partition(' [')[0]} [0:0]" if line.startswith(":") else line for line in lines]
    return "\n".join([*(line for line in plain if not line.startswith("#")), ""])
