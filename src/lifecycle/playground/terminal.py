"""A terminal: kubectl, a few words of a shell, and two that break things.

A command may bring what it reads, as a here-document. It goes on while others are
typed, as with `&` in a shell: `kubectl get pods -w` is watched while something is done
about them.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable
from io import StringIO
from pathlib import Path

from lifecycle.kubectl.command import run_kubectl
from lifecycle.playground.breakable_cluster import BreakableCluster, CannotBreakError
from lifecycle.playground.here_document import split_here_document
from lifecycle.playground.scenario import LONGEST_LINE

MOST = 200_000
"""Characters that one command may print."""

HELP = """\
kubectl …            the book's kubectl; `kubectl --help` lists its commands
break KIND NAME      take something away: a node, a component, a link
mend KIND NAME       bring it back
ls, cat FILE         the files that `kubectl apply -f` can read
edit                 write lines for a command, or a file
help, clear, history
Tab completes, the arrow keys bring back what was typed, Ctrl-C stops what runs.
"""

Print = Callable[[str, str], None]
"""Told (`out` or `err`, text)."""


class TooMuchOutputError(Exception):
    """The command prints without end."""


class _Stream:
    """What kubectl writes to; text is handed on until it is too much."""

    def __init__(self, kind: str, tell: Print) -> None:
        self._kind, self._tell, self._left = kind, tell, MOST

    def write(self, text: str) -> None:
        self._tell(self._kind, text[: self._left])
        self._left -= len(text)
        if self._left < 0:
            raise TooMuchOutputError


class Terminal:
    """`history`: the lines typed, in order."""

    def __init__(self, cluster: BreakableCluster, folder: Path) -> None:
        self._cluster = cluster
        self._folder = folder
        self.history: list[str] = []

    async def run(self, line: str, tell: Print) -> int:
        """Do what a line says; the exit code. Nothing is raised but what cancels it."""
        if len(line) > LONGEST_LINE:
            tell("err", f"sh: more than {LONGEST_LINE:,} characters in one command\n")
            return 2
        self.history.append(line)
        try:
            command, document = split_here_document(line)
            words = shlex.split(command, comments=True)
        except ValueError as error:
            tell("err", f"sh: {error}\n")
            return 2
        if not words:
            return 0
        try:
            return await self._run(words[0], words[1:], document or "", tell)
        except TooMuchOutputError:
            tell("err", f"\nstopped after {MOST:,} characters of output\n")
            return 1
        except asyncio.CancelledError:
            tell("err", "^C\n")
            raise

    async def _run(
        self, command: str, args: list[str], document: str, tell: Print
    ) -> int:
        if command in ("kubectl", "k"):
            client = self._cluster.client("kubectl")
            out, err = _Stream("out", tell), _Stream("err", tell)
            return await run_kubectl(
                args, client, out=out, err=err, stdin=StringIO(document)
            )
        if command in ("break", "mend"):
            return await self._break_or_mend(command, args, tell)
        if command == "help":
            tell("out", HELP)
        elif command == "history":
            tell("out", "".join(f"{i:5}  {t}\n" for i, t in enumerate(self.history, 1)))
        elif command == "ls":
            names = sorted(
                path.name for path in self._folder.iterdir() if path.is_file()
            )
            tell("out", "".join(f"{name}\n" for name in names))
        elif command == "cat":
            return self._cat(args, document, tell)
        else:
            tell("err", f"sh: {command}: not found (`help` says what there is)\n")
            return 127
        return 0

    async def _break_or_mend(self, word: str, args: list[str], tell: Print) -> int:
        parts = self._cluster.parts
        if len(args) != 2:
            lines = [f"  {kind} {' | '.join(names)}\n" for kind, names in parts.items()]
            tell("err", f"usage: {word} KIND NAME, one of\n" + "".join(lines))
            return 2
        act = self._cluster.break_part if word == "break" else self._cluster.mend_part
        try:
            await act(*args)
        except CannotBreakError as error:
            tell("err", f"{word}: {error}\n")
            return 1
        state = "broken" if word == "break" else "whole again"
        tell("out", f"{args[0]} {args[1]} is {state}\n")
        return 0

    def _cat(self, args: list[str], document: str, tell: Print) -> int:
        """`cat FILE …` prints files; `cat > FILE` writes what it reads into one."""
        if args and args[0].startswith(">"):
            name = Path(args[0][1:] or "".join(args[1:2])).name
            if not name:
                tell("err", "sh: > needs the name of a file\n")
                return 2
            (self._folder / name).write_text(document)
            return 0
        if not args:
            tell("out", document)
        for name in args:
            path = self._folder / Path(name).name
            try:
                tell("out", path.read_text())
            except OSError as error:
                tell("err", f"cat: {name}: {error.strerror}\n")
                return 1
        return 0
