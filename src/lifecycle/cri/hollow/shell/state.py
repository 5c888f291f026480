"""What a shell of a hollow container knows: variables, arguments, options, jobs, traps.

Ours, after POSIX' Shell Command Language (2.5 Parameters and Variables).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lifecycle.cri.hollow.process.not_modelled import NotModelled, not_modelled_message
from lifecycle.cri.hollow.process.paths import absolute
from lifecycle.cri.hollow.process.pipes import Input
from lifecycle.cri.hollow.process.process import Process
from lifecycle.cri.hollow.shell.expansion import Expander
from lifecycle.cri.hollow.shell.syntax import (
    Node,
    Parser,
    UnsupportedSyntax,
)

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


class ExitShell(Exception):
    """The script has ended."""


class LeaveLoop(Exception):
    """Out of loops: so many."""

    def __init__(self, levels: int, again: bool = False) -> None:
        super().__init__()
        self.levels, self.again = levels, again


@dataclass(slots=True, frozen=True)
class ShellStreams:
    """Where a command reads and writes."""

    stdin: Input
    stdout: Callable[[bytes], None]
    stderr: Callable[[bytes], None]


class ShellState:
    """The beginning of `Shell`. `arguments`: `$0` and what follows it."""

    def __init__(
        self,
        process: Process,
        arguments: Iterable[str] = ("sh",),
        parent: ShellState | None = None,
    ) -> None:
        self.process = process
        self.name, *self.arguments = arguments
        self.code = 0
        self._evaluations = 0
        self._variables = {**process.env, "PWD": process.cwd}
        if process.machine.has_busybox:  # dash does not count how deep it is
            depth = process.env.get("SHLVL", "")
            self._variables["SHLVL"] = str(int(depth if depth.isdigit() else 0) + 1)
        self._exported = set(self._variables)
        self._options: set[str] = set()
        if parent is not None:
            self._variables = dict(parent._variables)
            self._exported = set(parent._exported)
            self._options = set(parent._options)
            self.code = parent.code
        self._jobs: list[asyncio.Task[int]] = []
        self._trap: str | None = None
        self._exit_trap = ""
        self._signalled = asyncio.Event()
        self._last: Node | None = None
        self._expander = Expander(self, self._output_of, self._names)

    def set_options(self, options: set[str]) -> None:
        """`e`, `u`, `x`, `pipefail`."""
        self._options |= options

    def get(self, name: str) -> str | None:
        """A variable, an argument, or one of the shell's own names."""
        own = {
            "?": str(self.code),
            "#": str(len(self.arguments)),
            "@": " ".join(self.arguments),
            "*": " ".join(self.arguments),
            "$": "1" if self.process.leader else "7",
            "!": str(100 + len(self._jobs)) if self._jobs else "",
            "-": "",
            "0": self.name,
        }
        if name in own:
            return own[name]
        if name.isdigit():
            i = int(name) - 1
            return self.arguments[i] if i < len(self.arguments) else None
        value = self._variables.get(name)
        if value is None and "u" in self._options:
            raise ValueError(f"{name}: parameter not set")
        return value

    def put(self, name: str, value: str) -> None:
        """Set a variable."""
        self._variables[name] = value

    def _environment(self) -> dict[str, str]:
        return {
            name: value
            for name, value in self._variables.items()
            if name in self._exported
        }

    def _not_modelled(self, name: str, streams: ShellStreams) -> None:
        streams.stderr(not_modelled_message(name).encode())
        self.code = 126

    async def _output_of(self, script: str) -> str:
        """What `$(script)` stands for."""
        data = bytearray()
        streams = ShellStreams(Input(), data.extend, self.process.stderr)
        try:
            self.code = await self._subshell(Parser(script).script(), streams)
        except UnsupportedSyntax as error:
            raise NotModelled(str(error)) from None
        return data.decode("utf-8", "surrogateescape")

    async def _names(self, path: str) -> list[str]:
        return await self.process.files.names(absolute(self.process.cwd, path))

    async def _run(self, node: Node, streams: ShellStreams) -> None:
        raise NotImplementedError

    async def _subshell(self, node: Node, streams: ShellStreams) -> int:
        raise NotImplementedError
