"""Network namespaces: make one, look into one, and never leave one behind.

A namespace lives as long as somebody holds it: a process in it, a mount over a file, or
an open file descriptor. Ours hold descriptors, and their path is `/proc/<pid>/fd/<n>`.
So there is nothing to clean up on disk, and if the process is killed, its namespaces –
with every interface, route and rule in them – are gone.

A thread, not a process, is in a namespace. `with_net_ns_path` moves the calling thread
there and back.

Upstream: `containernetworking/plugins`, `pkg/ns/ns_linux.go` (`NetNS.Do`, `TempNetNS`,
`GetNS`), v1.9. Linux, and root, only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

from lifecycle.cni.errors import CNIError

CLONE_NEWNET = 0x40000000
T = TypeVar("T")


class NSPathNotExistError(CNIError):
    """The namespace is gone, or never was. DEL takes that for success."""


def check_ns_path(path: str) -> None:
    """Raises NSPathNotExistError, or CNIError if the path is something else. Upstream:
    `IsNSorErr`.
    """
    try:
        target = os.stat(path)
    except FileNotFoundError:
        raise NSPathNotExistError(
            f'failed to Statfs "{path}": no such file or directory'
        ) from None
    except OSError as error:
        raise CNIError(
            f'failed to Statfs "{path}": {(error.strerror or "").lower()}'
        ) from None
    if target.st_dev != os.stat("/proc/self/ns/net").st_dev:
        raise CNIError(f'unknown FS magic on "{path}": {_filesystem_magic(path):x}')


def _filesystem_magic(path: str) -> int:
    buffer = (ctypes.c_long * 32)()
    ctypes.CDLL(None, use_errno=True).statfs(os.fsencode(path), ctypes.byref(buffer))
    return int(buffer[0])


def setns(fd: int) -> None:
    """Move the calling thread. Raises OSError."""
    if hasattr(os, "setns"):
        os.setns(fd, CLONE_NEWNET)
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(fd, CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _unshare() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def current_netns() -> int:
    """A descriptor of the calling thread's namespace; the caller closes it."""
    return os.open(
        f"/proc/self/task/{threading.get_native_id()}/ns/net",
        os.O_RDONLY | os.O_CLOEXEC,
    )


@contextlib.contextmanager
def with_net_ns_path(path: str) -> Iterator[None]:
    """The calling thread is in the namespace; afterwards it is back. Nothing may be
    awaited inside. Raises CNIError.
    """
    check_ns_path(path)
    before = current_netns()
    try:
        inside = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            setns(inside)
        finally:
            os.close(inside)
        try:
            yield
        finally:
            setns(before)
    finally:
        os.close(before)


class Namespace:
    """A network namespace of our own; `path` can be given to plugins. Close it, or use
    it as a context manager.
    """

    def __init__(self, fd: int, name: str = "") -> None:
        self._fd = fd
        self.name = name

    @classmethod
    def create(cls, name: str = "") -> Namespace:
        """A new one, with nothing but a loopback interface that is down. Raises
        PermissionError without root.
        """
        fds: list[int] = []
        failed: list[OSError] = []

        def in_a_thread_of_its_own() -> None:
            try:
                _unshare()
                fds.append(current_netns())
            except OSError as error:
                failed.append(error)

        thread = threading.Thread(target=in_a_thread_of_its_own)
        thread.start()
        thread.join()
        if failed:
            raise failed[0]
        return cls(fds[0], name)

    @property
    def path(self) -> str:
        """Valid as long as this process lives and the namespace is not closed."""
        return f"/proc/{os.getpid()}/fd/{self._fd}"

    def run(self, function: Callable[[], T]) -> T:
        """Call a function in there, in this thread."""
        with with_net_ns_path(self.path):
            return function()

    def close(self) -> None:
        """Let go of it. The kernel removes what was in it."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Namespace:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def can_make_namespaces() -> bool:
    """Whether this process may: Linux, and root enough."""
    try:
        Namespace.create().close()
    except (OSError, AttributeError):
        return False
    return True
