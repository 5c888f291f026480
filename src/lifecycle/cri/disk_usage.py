"""How much a directory takes on its disk.

What counts are blocks, not lengths: a file with holes is smaller than it looks, a short
one larger. A file with two names counts once, and what is mounted somewhere below is
another disk.

Upstream: `pkg/volume/util/fs/fs.go` (`DiskUsage`), v1.36.
"""

from __future__ import annotations

import os
from pathlib import Path

BLOCK = 512
"""Bytes in the unit of `st_blocks`, whatever the disk's own blocks are."""


def disk_usage(path: Path) -> int:
    """Bytes of everything below `path`, itself included; 0 if it is not there. Files
    that go meanwhile are not counted. Takes as long as there are files: not for the
    event loop.
    """
    try:
        top = path.lstat()
    except OSError:
        return 0
    used, counted, left = top.st_blocks, {top.st_ino}, [str(path)]
    while left:
        try:
            entries = list(os.scandir(left.pop()))
        except OSError:
            continue
        for entry in entries:
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if found.st_dev != top.st_dev or found.st_ino in counted:
                continue
            if found.st_nlink > 1:
                counted.add(found.st_ino)
            used += found.st_blocks
            if entry.is_dir(follow_symlinks=False):
                left.append(entry.path)
    return used * BLOCK
