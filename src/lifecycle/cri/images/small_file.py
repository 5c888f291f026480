"""Reading a file that an image or a container has made: `/etc/passwd`, say.

What has the name of a file may be a pipe, and whoever opens it waits until somebody
writes; or a device; or a file of eight gigabytes that takes none on the disk. So it is
opened without waiting, looked at, and read as far as such files go.
"""

from __future__ import annotations

import os
import stat

MOST = 1024 * 1024
"""Bytes. The `passwd` of a machine with ten thousand users has as many."""


def read_small(path: str | os.PathLike[str]) -> bytes:
    """The file's content. Raises OSError, and ValueError for what is no plain file or
    larger than `MOST`.
    """
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(opened, "rb") as file:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise ValueError(f"{path}: not a plain file")
        data = file.read(MOST + 1)
    if len(data) > MOST:
        raise ValueError(f"{path}: larger than {MOST} bytes")
    return data
