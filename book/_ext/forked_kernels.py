"""Kernels are forked from a process that has loaded what they need.

It is asked for the first kernel, and ends with whoever asked: see `kernel_nursery`.
Where forking is not to be trusted (on a Mac, libraries keep threads that it loses), and
for kernels of another Python, each is started as Jupyter starts it.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from jupyter_client.provisioning.factory import EntryPoint, KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

LAUNCHED_BY = [sys.executable, "-m", "ipykernel_launcher"]
OF_PYTHON = "PYTHON"
"""Variables with this prefix have had their effect when modules are loaded."""


class ForkedKernel:
    """One kernel, for whoever expects a `Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, nursery: socket.socket, request: dict[str, Any]) -> None:
        self.returncode: int | None = None
        self._told, its_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its_end:
            streams = [its_end.fileno(), 1, 2]
            socket.send_fds(nursery, [json.dumps(request).encode()], streams)
        self.pid = int(self._told.recv(20))

    def poll(self) -> int | None:
        """The exit code, if it has ended."""
        return self._code(socket.MSG_DONTWAIT)

    def wait(self) -> int | None:
        """The exit code; waits for it."""
        return self._code(0)

    def _code(self, how: int) -> int | None:
        if self.returncode is None:
            try:
                said = self._told.recv(20, how)
            except BlockingIOError:
                return None
            # a nursery that has ended says nothing, and no kernel survives it
            self.returncode = int(said or -signal.SIGKILL)
            self._told.close()
        return self.returncode

    def send_signal(self, signum: int) -> None:
        """Nothing if it has ended."""
        if self.poll() is None:
            os.kill(self.pid, signum)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class ForkingProvisioner(LocalProvisioner):
    """Where a kernel comes from."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """A fork, if that can be had; returns how the kernel is spoken to."""
        if sys.platform != "linux" or cmd[:3] != LAUNCHED_BY:
            return await super().launch_kernel(cmd, **kwargs)
        env, self.cwd = kwargs["env"], kwargs.get("cwd")
        of_python = {name: env[name] for name in env if name.startswith(OF_PYTHON)}
        self.process = ForkedKernel(
            the_nursery(os.getpid(), tuple(sorted(of_python.items()))),
            {"arguments": cmd[3:], "env": env, "cwd": self.cwd},
        )
        self.pid = self.pgid = self.process.pid
        return self.connection_info


@cache
def the_nursery(asking: int, of_python: tuple[tuple[str, str], ...]) -> socket.socket:
    """What is asked for kernels: one for each process that asks (a fork of it has not
    started one), and for what Python finds there.
    """
    ours, its_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    program = Path(__file__).with_name("kernel_nursery.py")
    with its_end:
        process = subprocess.Popen(
            [sys.executable, str(program), str(its_end.fileno())],
            pass_fds=[its_end.fileno()],
            stdin=subprocess.DEVNULL,
        )
    atexit.register(_end, asking, ours, process)
    return ours


def _end(asking: int, nursery: socket.socket, process: subprocess.Popen[bytes]) -> None:
    nursery.close()
    if os.getpid() == asking:  # what a fork has not started it does not wait for
        process.wait()


def install() -> None:
    """Whoever starts a kernel asks Jupyter's factory for the default provisioner."""
    factory = KernelProvisionerFactory.instance()
    module, name = ForkingProvisioner.__module__, ForkingProvisioner.__name__
    factory.provisioners[name] = EntryPoint(
        name, f"{module}:{name}", factory.GROUP_NAME
    )
    factory.default_provisioner_name = name


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    install()
    return {"parallel_read_safe": True, "parallel_write_safe": True}
