"""Where the tests keep their folders: in memory, if the machine has a place for that.

Kubelets, runtimes, stores and kernels of tests make and remove some hundred thousand folders and files. On a disk each asks its journal.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import MutableMapping

IN_MEMORY = "/dev/shm"
ROOM = 4 << 30
"""How many bytes have to be free there; a whole run has less than one GiB at any time."""


def use_memory(environ: MutableMapping[str, str]) -> None:
    """Unless somebody has said where (`TMPDIR`). A container's `/dev/shm` is often small, and on some machines no program may be run
    from there: those keep the disk."""
    if "TMPDIR" in environ or sys.platform != "linux" or not os.access(IN_MEMORY, os.W_OK | os.X_OK):
        return
    there = os.statvfs(IN_MEMORY)
    if there.f_bavail * there.f_frsize >= ROOM and not there.f_flag & os.ST_NOEXEC:
        environ["TMPDIR"] = IN_MEMORY
        tempfile.tempdir = None  # it is asked for once and remembered
