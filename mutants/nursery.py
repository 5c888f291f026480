"""A process that has everybody else's modules in memory and forks for each question, so that a mutant costs its tests only.

Loading pytest, its plug-ins and the libraries takes longer than most tests. What can be broken – the package – and who
looks at it – the tests – are loaded by the fork, so each fork has its own mutant.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import math
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

TOO_LONG = -1
"""In place of an exit code: the clock ended it."""
PATIENCE = 4
"""Whoever waits may do so this much longer than whoever computes: the machine may be busy with something else."""


class Nursery:
    """The other end: starts the process, and asks it."""

    def __init__(self, imports: Iterable[str], cwd: Path, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mutants.nursery"], cwd=cwd, env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._send(list(imports))

    def _send(self, document: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(document) + "\n")
        self.process.stdin.flush()

    def ask(self, arguments: list[str], output: Path, seconds: float) -> int:
        """pytest's exit code with these arguments, or a negative number; `seconds` are those of the processor."""
        assert self.process.stdout is not None
        self._send({"arguments": arguments, "output": str(output), "seconds": seconds})
        return int(self.process.stdout.readline())

    def close(self) -> None:
        """End of questions, end of the process."""
        self.process.communicate()


def _load(names: list[str]) -> None:
    """What cannot be loaded here, the fork will load or miss, as it would without us."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def _answer(arguments: list[str], output: str, seconds: float) -> int:
    pid = os.fork()
    if pid == 0:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (limit := math.ceil(seconds), limit))
        with open(output, "w") as file:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        import pytest

        code = 1
        try:
            code = int(pytest.main(arguments))
        finally:
            sys.stdout.flush()
            os._exit(code)  # nothing of the parent's is to be tidied up here
    end = time.monotonic() + PATIENCE * seconds
    code = TOO_LONG
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            break
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)  # also what the tests have started and left
    if code == TOO_LONG:
        os.waitpid(pid, 0)
    return code


def _main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)  # whatever is printed while loading is no answer
    os.dup2(2, 1)
    _load(json.loads(sys.stdin.readline()))
    gc.freeze()
    while line := sys.stdin.readline():
        print(_answer(**json.loads(line)), file=answers)


if __name__ == "__main__":
    _main()
