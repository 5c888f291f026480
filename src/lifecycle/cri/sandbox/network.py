"""What the sandbox runtime needs of a network: someone to call. In a cluster that is
libcni; this package does not know it.

The runtime makes the network namespace and brings `lo` up; whoever implements
`PodNetworkSetup` puts an interface into it and says which addresses it has. The order
is containerd's: namespace, network, and only then the pause process.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig
from lifecycle.cri.sandbox import syscalls

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


class PodNetworkSetup(Protocol):
    """Connects sandboxes to a network."""

    async def ready(self) -> str:
        """Empty, or why pods cannot be connected now."""
        ...

    async def add(
        self, sandbox_id: str, netns: str, config: PodSandboxConfig
    ) -> list[str]:
        """Connect the namespace at the path `netns`; the pod's addresses, the primary
        one first. Raises OSError or RuntimeError.
        """
        ...

    async def remove(
        self, sandbox_id: str, netns: str, config: PodSandboxConfig
    ) -> None:
        """Undo it. Again does no harm; `netns` is empty if the namespace is gone."""
        ...


class LoopbackOnly:
    """No network but the pod's own `lo`."""

    async def ready(self) -> str:
        """Always."""
        return ""

    async def add(
        self, sandbox_id: str, netns: str, config: PodSandboxConfig
    ) -> list[str]:
        """Nothing to do."""
        return []

    async def remove(
        self, sandbox_id: str, netns: str, config: PodSandboxConfig
    ) -> None:
        """Nothing to undo."""


def bring_lo_up() -> None:
    """Of the network one is in. Raises OSError."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sH14x", b"lo", 0)
        _, flags = struct.unpack("16sH14x", fcntl.ioctl(control, SIOCGIFFLAGS, request))
        up = struct.pack("16sH14x", b"lo", flags | IFF_UP)
        fcntl.ioctl(control, SIOCSIFFLAGS, up)


def make_network_namespace(path: str) -> None:
    """A new network namespace with `lo` up, kept alive by mounting it on the file
    `path`. Raises OSError.

    A thread leaves the machine's network for a new one, which concerns this thread
    alone, and ends.
    """
    problems: list[OSError] = []

    def work() -> None:
        try:
            syscalls.unshare(syscalls.CLONE_NEWNET)
            bring_lo_up()
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o444))
            syscalls.mount("/proc/thread-self/ns/net", path, flags=syscalls.MS_BIND)
        except OSError as error:
            problems.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if problems:
        raise problems[0]


def connect_inside(netns: str, port: int) -> socket.socket:
    """A connection to `localhost:PORT` within a network namespace. Raises OSError.

    A socket belongs to the namespace of the thread that made it, for ever, whoever uses
    it later.
    """
    connected: list[socket.socket] = []
    problems: list[OSError] = []

    def work() -> None:
        try:
            fd = os.open(netns, os.O_RDONLY)
            try:
                syscalls.setns(fd, syscalls.CLONE_NEWNET)
            finally:
                os.close(fd)
            connected.append(socket.create_connection(("127.0.0.1", port), timeout=5))
        except OSError as error:
            problems.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if problems:
        raise problems[0]
    return connected[0]


@contextmanager
def in_network(path: str) -> Iterator[None]:
    """The calling thread is in the network namespace at `path`, or stays where it is if
    that is empty. Raises OSError.

    Nothing may be awaited inside. Sockets made and processes started in there belong
    there.
    """
    if not path:
        yield
        return
    before = os.open(
        f"/proc/self/task/{threading.get_native_id()}/ns/net",
        os.O_RDONLY | os.O_CLOEXEC,
    )
    try:
        inside = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            syscalls.setns(inside, syscalls.CLONE_NEWNET)
        finally:
            os.close(inside)
        try:
            yield
        finally:
            syscalls.setns(before, syscalls.CLONE_NEWNET)
    finally:
        os.close(before)
