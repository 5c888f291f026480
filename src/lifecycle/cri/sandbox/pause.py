"""The pause program in Python: to be process 1, bury the dead, and do nothing else.

When a process dies, its parent has to ask how (`waitpid`); until then it stays in the
process table, dead: a *zombie*. Whose parent is gone gets a new one: process 1 of its
PID namespace. So process 1 must ask after children it never had. In a pod, pause is
process 1 only if the containers share a PID namespace; otherwise each program is its
own process 1, and pause has nobody to bury.

The pods of `pod_sandboxes.py` run a program of 232 bytes instead
(`images/small_images.py`), which tells the kernel that it does not want to be told.

Upstream: `build/pause/linux/pause.c`, version 3.10.
"""

from __future__ import annotations

import os
import signal
import sys


def reap() -> int:
    """Bury all children that are dead; how many."""
    buried = 0
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return buried
        if pid == 0:
            return buried
        buried += 1


def main() -> None:
    """Until somebody says SIGINT or SIGTERM."""
    if os.getpid() != 1:
        print("Warning: pause should be the first process", file=sys.stderr)
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGCHLD, lambda *_: reap() and None)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
