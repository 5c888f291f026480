"""Waiting until something in a directory changes: the kernel's inotify, or else the
clock.

Upstream: `pkg/kubelet/config/file_linux.go` (`startWatch`, `doWatch`, with `fsnotify`),
v1.36.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
from pathlib import Path

IN_MODIFY, IN_MOVED_FROM, IN_MOVED_TO, IN_CREATE, IN_DELETE, IN_CLOSE_WRITE = (
    0x2,
    0x40,
    0x80,
    0x100,
    0x200,
    0x8,
)
CHANGES = IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_CLOSE_WRITE


async def changed_or_later(path: Path, seconds: float, changes: int = CHANGES) -> bool:
    """Return when something in `path` changed (True) or after `seconds`. Where there is
    no inotify, only the time counts.

    `changes`: which kinds of change count, as inotify numbers them.
    """
    descriptor = _watch(path, changes)
    if descriptor < 0:
        await asyncio.sleep(seconds)
        return False
    loop = asyncio.get_running_loop()
    changed = asyncio.Event()
    try:
        loop.add_reader(descriptor, changed.set)
        await asyncio.wait_for(changed.wait(), seconds)
        return True
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def _watch(path: Path, changes: int) -> int:
    """A descriptor that becomes readable when something changed; -1 if there can be
    none.
    """
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        descriptor = int(libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
    except (OSError, AttributeError):
        return -1
    if descriptor < 0:
        return -1
    if libc.inotify_add_watch(descriptor, os.fsencode(path), changes) < 0:
        os.close(descriptor)
        return -1
    return descriptor
