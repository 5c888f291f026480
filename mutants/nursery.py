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
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mutants.grafting import Graft, apply
from mutants.measuring import Measured, measure

TOO_LONG = -1
"""In place of an exit code: the clock ended it."""
NOT_LOADED = 99
"""In place of an exit code: what was to be broken is not there."""
PATIENCE = 2
"""So many times the seconds that it may compute, somebody may neither compute nor want to: it waits for what never comes."""

SETTLED = 30.0
"""For whoever bounds each test: so much of that, if all tests together may take longer."""


class Nursery:
    """The other end: starts the process, and asks it."""

    def __init__(self, imports: Iterable[str], cwd: Path, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mutants.nursery"], cwd=cwd, env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._send(list(imports))
        self.computed = 0.0
        """Seconds of the processor that the last question took."""

    def _send(self, document: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(document) + "\n")
        self.process.stdin.flush()

    def ask(
        self,
        arguments: list[str],
        output: Path,
        seconds: float,
        limits: Mapping[str, float] | None = None,
        graft: Graft | None = None,
        measured: Measured | None = None,
    ) -> int:
        """pytest's exit code with these arguments, or a negative number; `seconds` are those of the processor, and `limits`
        bounds some tests one by one. `graft` breaks what the process has loaded; `measured` notes who runs what.

        Raises:
            LookupError: the process has not loaded what the graft breaks.
        """
        assert self.process.stdout is not None
        question = {
            "arguments": arguments,
            "output": str(output),
            "seconds": seconds,
            "limits": dict(limits or {}),
            "graft": graft and asdict(graft),
            "measured": measured and asdict(measured),
        }
        self._send(question)
        answer = self.process.stdout.readline().split()
        code, self.computed = int(answer[0]), float(answer[1])
        if code == NOT_LOADED:
            raise LookupError(f"{graft} changes nothing that is loaded")
        return code

    def __enter__(self) -> Nursery:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close(at_once=kind is not None)

    def close(self, *, at_once: bool = False) -> None:
        """End of questions, end of the process. `at_once`: nobody waits for the answer to the last one."""
        if at_once:
            self.process.terminate()
        self.process.communicate()


def _load(names: list[str]) -> None:
    """What cannot be loaded here, the fork will load or miss, as it would without us."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            with contextlib.suppress(Exception):
                importlib.import_module(name)


class _Clock:
    """A pytest plug-in: who computes for ever is not waited for until all the others have had their time.

    The signal ends the process, and that is an answer.
    """

    def __init__(self, limits: Mapping[str, float]) -> None:
        self.limits = limits

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if nodeid in self.limits:
            signal.setitimer(signal.ITIMER_PROF, self.limits[nodeid])

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _answer(arguments: list[str], output: str, seconds: float, limits: Any, **more: Any) -> int:
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (limit := math.ceil(seconds), limit))
        with open(output, "w") as file:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        code = 1
        try:
            code = _ask(arguments, limits, **more)
        finally:
            sys.stdout.flush()
            os._exit(code)  # nothing of the parent's is to be tidied up here
    return _wait(pid, PATIENCE * (min(seconds, SETTLED) if limits else seconds))


def _ask(arguments: list[str], limits: Any, graft: Any, measured: Any) -> int:
    import pytest

    if graft is not None:
        try:
            apply(Graft(graft["file"], graft["text"], tuple((name, line) for name, line in graft["places"])))
        except LookupError:
            return NOT_LOADED
    plugins: list[Any] = [_Clock(limits)]
    if measured is not None:
        return measure(Measured(**measured), arguments, plugins)
    return int(pytest.main(arguments, plugins=plugins))


def _wait(pid: int, patience: float) -> int:
    """Until it ends, or does nothing any more; how busy the machine is with something else makes no difference."""
    code, worked, since = TOO_LONG, "", time.monotonic()
    try:
        while time.monotonic() - since < patience:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                code = os.waitstatus_to_exitcode(status)
                break
            if (now := _work(pid)) != worked:
                worked, since = now, time.monotonic()
            time.sleep(0.05)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)  # also what the tests have started and left
        if code == TOO_LONG:
            os.waitpid(pid, 0)
    return code


def _work(pid: int) -> str:
    """What the kernel has noted of a process and its children: another text as soon as it has computed anything. Who stands
    in the queue for a processor has not stopped, so this is the time of the day there."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return str(time.monotonic()) if fields[0] == "R" else " ".join(fields[11:15])


def _computed() -> float:
    """Of the children that have ended."""
    return sum(os.times()[2:4])


def _main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)  # whatever is printed while loading is no answer
    os.dup2(2, 1)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # and whom it waits for goes first
    _load(json.loads(sys.stdin.readline()))
    gc.freeze()
    while line := sys.stdin.readline():
        before = _computed()
        code = _answer(**json.loads(line))
        print(code, _computed() - before, file=answers)


if __name__ == "__main__":
    _main()
