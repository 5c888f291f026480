"""Take away everything that sandboxes and containers hold: processes, cgroups, mounts,
files.

Works from what is on disk, without a runtime, so that it can follow a `kill -9` of it:
`python -m lifecycle.cri.sandbox.clean ROOT`. The network's part (addresses, interfaces)
goes with the network namespace; an address reserved by an address plugin is given back
when its owner is told, by `remove_pod_sandbox` of a recovered runtime.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from lifecycle.cri.removal import remove_tree
from lifecycle.cri.sandbox import syscalls
from lifecycle.cri.sandbox.cgroups import Cgroup
from lifecycle.cri.sandbox.launch import read_json, start_time


def unmount_below(path: str) -> None:
    """Every mount at `path` or below it, the innermost first."""
    with open("/proc/self/mounts") as mounts:
        points = [line.split()[1].replace("\\040", " ") for line in mounts]
    for point in reversed([p for p in points if p == path or p.startswith(path + "/")]):
        with suppress(OSError):
            syscalls.umount(point)


def _end(pid: int, started: int | None = None) -> None:
    """Kill a process and wait until it is gone."""
    if not pid or (started is not None and start_time(pid) != started):
        return
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        for _ in range(200):
            if not start_time(pid):
                return
            time.sleep(0.005)


def clean_bundle(directory: Path) -> None:
    """One sandbox or container."""
    with suppress(FileNotFoundError):
        known = read_json(f"{directory}/pid.json")
        _end(known["pid"], known["started"])
        with suppress(OSError):
            if (
                str(directory).encode()
                in Path(f"/proc/{known['shim']}/cmdline").read_bytes()
            ):
                _end(known["shim"])
    with suppress(FileNotFoundError):
        Cgroup(read_json(f"{directory}/config.json")["linux"]["cgroupsPath"]).remove()
    unmount_below(str(directory))
    with suppress(OSError):
        remove_tree(directory)


def clean(root: Path) -> None:
    """Everything below a runtime's root but its images. No runtime may be using it."""
    for kind in ("containers", "sandboxes"):  # pause last: it holds the namespaces
        if (root / kind).is_dir():
            for directory in (root / kind).iterdir():
                clean_bundle(directory)
    for kind in ("netns", "userns", "shm"):
        unmount_below(str(root / kind))
        with suppress(OSError):
            remove_tree(root / kind)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(
            "usage: python -m lifecycle.cri.sandbox.clean ROOT (the directory of a"
            " sandbox runtime)"
        )
    clean(Path(sys.argv[1]))
