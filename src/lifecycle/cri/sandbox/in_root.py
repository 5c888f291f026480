"""Finding a place below a container's root, from outside of it.

An image may have links wherever it likes, and a volume that is mounted already may have
a neighbour's container in it, which exchanges directories for links while we look. For
the container `/` is its root; for us, who are not inside yet, a link to `/etc` leads to
the machine's. So no path is handed to the kernel. Each name is opened in the directory
before, not following it; a link is read, and what it says is walked in the same way;
`..` is the directory that we came from, at the root the root. What is open at the end
is the place, whatever becomes of its name.

Upstream: runc `libcontainer/rootfs_linux.go` (`createMountpoint`, `WithProcfd`),
`github.com/cyphar/filepath-securejoin` (`MkdirAllHandle`).
"""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

MAX_LINKS = 255
O_PATH = getattr(os, "O_PATH", 0)  # Linux only, as all that is done with it
HANDLE = O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def opened(root: str, path: str, directory: bool = True) -> Iterator[int]:
    """A descriptor of `path` below `root`, good for saying which place is meant. What
    is missing is made: directories, and at the end a file unless it is to be a
    `directory`. Raises OSError.
    """
    way = [os.open(root, O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)]
    try:
        _walk(way, path, directory)
        yield way[-1]
    finally:
        for each in way:
            os.close(each)


def _walk(way: list[int], path: str, directory: bool) -> None:
    names, links = deque(path.split("/")), 0
    while names:
        name = names.popleft()
        if name in ("", "."):
            continue
        if name == "..":
            if len(way) > 1:
                os.close(way.pop())
            continue
        last = not any(names)
        here = _step(way[-1], name, directory=directory or not last)
        if not stat.S_ISLNK(os.fstat(here).st_mode):
            way.append(here)
            continue
        target = os.readlink("", dir_fd=here)
        os.close(here)
        links += 1
        if links > MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        if target.startswith("/"):
            while len(way) > 1:
                os.close(way.pop())
        names.extendleft(reversed(target.split("/")))


def _step(parent: int, name: str, *, directory: bool) -> int:
    try:
        return os.open(name, HANDLE, dir_fd=parent)
    except FileNotFoundError:
        pass
    if directory:
        os.mkdir(name, dir_fd=parent)
    else:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        os.close(os.open(name, flags, 0o666, dir_fd=parent))
    return os.open(name, HANDLE, dir_fd=parent)


def by_handle(place: int) -> str:
    """A name for what is open, for calls that want one."""
    return f"/proc/self/fd/{place}"


def path_of(place: int) -> str:
    """Where what is open is, from outside of the container."""
    return os.readlink(by_handle(place))
