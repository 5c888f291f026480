"""The program that enters containers, as a copy that nobody can write to.

Whoever enters a container is one of its processes for a moment, and the container has a
name for its program: `/proc/PID/exe`. If it gets there, by a link or as a script's
interpreter, it holds the machine's own Python, and as root it may write to it as soon
as it no longer runs; the next to run it is the machine (CVE-2019-5736). Looking out for
such links is not enough, for they can be exchanged after the look. So what runs is a
copy in memory, sealed for good: there is nothing of the machine's to hold.

Upstream: runc `libcontainer/dmz/cloned_binary_linux.go` (`CloneSelfExe`), with the same
seals.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from functools import cache

SEALS = ("F_SEAL_SEAL", "F_SEAL_SHRINK", "F_SEAL_GROW", "F_SEAL_WRITE")


def own_program() -> str:
    """What to execute, as a path that is good while this process lives: the copy, or
    Python itself on a machine that runs nothing from memory.
    """
    copy = _copy()
    return sys.executable if copy is None else f"/proc/{os.getpid()}/fd/{copy}"


@cache
def _copy() -> int | None:
    try:
        copy = os.memfd_create("python", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except (AttributeError, OSError):
        return None
    with open(sys.executable, "rb") as program, open(copy, "wb", closefd=False) as file:
        file.write(program.read())
    fcntl.fcntl(copy, fcntl.F_ADD_SEALS, sum(getattr(fcntl, seal) for seal in SEALS))
    try:  # it may look for its libraries beside itself, and be told not to run at all
        subprocess.run(
            [sys.executable, "-S", "-s", "-c", ""],
            executable=f"/proc/{os.getpid()}/fd/{copy}",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        os.close(copy)
        return None
    return copy
