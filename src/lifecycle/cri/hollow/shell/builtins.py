"""What a shell of a hollow container does itself.

Ours, after POSIX' Shell Command Language (2.14 Special Built-In Utilities).
"""

from __future__ import annotations

import asyncio
import re

from lifecycle.cri.hollow.process.not_modelled import NotModelled
from lifecycle.cri.hollow.process.paths import absolute
from lifecycle.cri.hollow.process.process import MOST_DEPTH, SIGTERMED
from lifecycle.cri.hollow.process.volumes import UnknownFile
from lifecycle.cri.hollow.shell.state import (
    ASSIGNMENT,
    ExitShell,
    LeaveLoop,
    ShellState,
    ShellStreams,
)
from lifecycle.cri.hollow.shell.syntax import (
    Parser,
)

_LONG_OPTIONS = {
    "errexit": "e",
    "nounset": "u",
    "xtrace": "x",
    "pipefail": "pipefail",
}
OPTIONS = frozenset(_LONG_OPTIONS.values())


class ShellBuiltins(ShellState):
    """One method for each that is more than a line."""

    async def _builtin(self, words: list[str], streams: ShellStreams) -> bool:
        """What a shell does itself; whether it was that."""
        name = words[0]
        if name in (":", "true"):
            self.code = 0
        elif name == "false":
            self.code = 1
        elif name in ("exit", "return"):
            if len(words) > 1:
                self.code = self._number(words[1]) & 255
            raise ExitShell
        elif name in ("break", "continue"):
            raise LeaveLoop(
                self._number(words[1]) if words[1:] else 1, name == "continue"
            )
        elif name == "set":
            self._set(words[1:])
        elif name == "shift":
            del self.arguments[: self._number(words[1]) if words[1:] else 1]
            self.code = 0
        elif name == "trap":
            self._set_trap(words)
        elif name == "wait":
            await self._wait(words)
        elif name in ("export", "local", "readonly"):
            self._declare(words)
        elif name == "unset":
            for word in words[1:]:
                self._variables.pop(word, None)
                self._exported.discard(word)
            self.code = 0
        elif name == "cd":
            await self._cd(words[1] if words[1:] else self.get("HOME") or "/", streams)
        elif name == "read":
            await self._read(words, streams)
        elif name == "eval":
            await self._eval(" ".join(words[1:]), streams)
        elif name == "kill" and self._job(words[-1]) is not None:
            self._jobs[int(words[-1]) - 101].cancel()
            self.code = 0
        elif name in (".", "source", "ulimit", "umask", "type", "command", "exec"):
            self._not_modelled(f"the shell's {name}", streams)
        else:
            return False
        return True

    async def _eval(self, script: str, streams: ShellStreams) -> None:
        self._evaluations += 1
        if self._evaluations > MOST_DEPTH:
            raise NotModelled(f"more than {MOST_DEPTH} times eval in one another")
        await self._run(Parser(script).script(), streams)
        self._evaluations -= 1

    def _number(self, word: str) -> int:
        if not re.fullmatch(r"-?\d+", word):
            raise ValueError(f"Illegal number: {word}")
        return int(word)

    def _job(self, word: str) -> asyncio.Task[int] | None:
        number = int(word) - 101 if word.isdigit() else -1
        return self._jobs[number] if 0 <= number < len(self._jobs) else None

    def _set(self, words: list[str]) -> None:
        rest = list(words)
        while rest and rest[0][:1] in ("-", "+") and rest[0] != "--":
            word = rest.pop(0)
            options = set(word[1:])
            if "o" in options:
                options.remove("o")
                options.add(_LONG_OPTIONS.get(rest.pop(0) if rest else "", "?"))
            if not options <= OPTIONS:
                raise NotModelled(f"the shell's set {' '.join(words)}")
            if word.startswith("+"):
                self._options -= options
            else:
                self._options |= options
        if rest:
            self.arguments = rest[1:] if rest[0] == "--" else rest
        self.code = 0

    def _declare(self, words: list[str]) -> None:
        for word in words[1:]:
            if match := ASSIGNMENT.fullmatch(word):
                self._variables[match[1]] = match[2]
            if words[0] == "export":
                self._exported.add(word.partition("=")[0])
        self.code = 0

    async def _cd(self, target: str, streams: ShellStreams) -> None:
        path = absolute(self.process.cwd, target)
        try:
            kind = await self.process.files.kind(path)
        except UnknownFile:
            kind = "directory"  # nobody can tell, and nothing is read yet
        if kind != "directory":
            streams.stderr(f"{self.name}: cd: can't cd to {target}\n".encode())
            self.code = 1
            return
        self.process.cwd = self._variables["PWD"] = path
        self.code = 0

    async def _read(self, words: list[str], streams: ShellStreams) -> None:
        names = [word for word in words[1:] if word != "-r"] or ["REPLY"]
        if any(name.startswith("-") for name in names):
            raise NotModelled(f"the shell's {' '.join(words)}")
        line = await streams.stdin.readline()
        text = line.decode("utf-8", "surrogateescape").rstrip("\n").strip(" \t")
        pieces = text.split(None, len(names) - 1)
        for i, name in enumerate(names):
            self.put(name, pieces[i] if i < len(pieces) else "")
        self.code = 0 if line.endswith(b"\n") else 1

    def _set_trap(self, words: list[str]) -> None:
        signals = {word.upper().removeprefix("SIG") for word in words[2:]}
        self.code = 0
        if len(words) < 3:
            return
        action = "" if words[1] == "-" else words[1]
        if signals & {"EXIT", "0"}:
            self._exit_trap = action
        if signals & {"TERM", "15"}:
            self._trap = None if words[1] == "-" else words[1]
            self.process.on_term = self._on_term if self._trap is not None else None

    def _on_term(self) -> None:
        if self._trap:  # an empty one ignores the signal
            self._signalled.set()

    async def _handle_signal(self) -> None:
        if self._signalled.is_set() and self._trap is not None:
            self._signalled.clear()
            code, trap = self.code, self._trap
            await self._run(
                Parser(trap).script(),
                ShellStreams(
                    self.process.stdin, self.process.stdout, self.process.stderr
                ),
            )
            self.code = code

    async def _wait(self, words: list[str]) -> None:
        """For all jobs, or for one; a signal is heard meanwhile."""
        jobs = self._jobs
        if len(words) > 1:
            numbers = [int(word) - 101 for word in words[1:] if word.isdigit()]
            jobs = [self._jobs[i] for i in numbers if 0 <= i < len(self._jobs)]
        signal = asyncio.ensure_future(self._signalled.wait())
        ended = asyncio.ensure_future(_all_done(jobs))
        try:
            await asyncio.wait({signal, ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            signal.cancel()
            ended.cancel()
        if self._signalled.is_set():
            self.code = SIGTERMED
            await self._handle_signal()
            return
        self.code = 0
        if len(words) > 1 and jobs and not jobs[-1].cancelled():
            self.code = jobs[-1].result()


async def _all_done(jobs: list[asyncio.Task[int]]) -> bool:
    if jobs:
        await asyncio.wait(jobs)
    return True
