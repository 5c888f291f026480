"""A process that is forked from a nursery, for whoever expects a `Popen`.

A nursery is started for whoever asks it first, and ends with whoever asked: see
`nursery`.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

OF_PYTHON = "PYTHON"
"""Variables with this prefix have had their effect when modules are loaded."""


class ForkedProcess:
    """One that is asked for with words. `streams`: descriptors of its standard output
    and of what it complains to.
    """

    stdin = stdout = stderr = None

    def __init__(
        self,
        program: Path,
        arguments: Sequence[str],
        env: Mapping[str, str],
        cwd: str | None = None,
        streams: tuple[int, int] = (1, 2),
    ) -> None:
        self.returncode: int | None = None
        self._told, its_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        request = {
            "arguments": list(arguments),
            "env": dict(env),
            "cwd": cwd or os.getcwd(),
        }
        of_python = {name: env[name] for name in env if name.startswith(OF_PYTHON)}
        nursery = the_nursery(program, os.getpid(), tuple(sorted(of_python.items())))
        with its_end:
            files = [its_end.fileno(), *streams]
            socket.send_fds(nursery, [json.dumps(request).encode()], files)
        self.pid = int(self._told.recv(20))

    def poll(self) -> int | None:
        """The exit code, if it has ended."""
        return self._code(socket.MSG_DONTWAIT)

    def wait(self, timeout: float | None = None) -> int | None:
        """The exit code; waits for it. Raises TimeoutError after so many seconds."""
        if self.poll() is None and not select.select([self._told], [], [], timeout)[0]:
            raise TimeoutError(f"process {self.pid} has not ended")
        return self._code(0)

    def _code(self, how: int) -> int | None:
        if self.returncode is None:
            try:
                said = self._told.recv(20, how)
            except BlockingIOError:
                return None
            # a nursery that has ended says nothing, and whom it forked has no other
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


@cache
def the_nursery(
    program: Path, asking: int, of_python: tuple[tuple[str, str], ...]
) -> socket.socket:
    """What is asked: one for each process that asks (a fork of it has not started one),
    and for what Python finds there. `program` is told the number of its socket.
    """
    ours, its_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
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
