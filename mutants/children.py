"""Which lines run in other processes: those that a test starts with the interpreter it runs in.

coverage sees one process. A child that becomes another program, or ends without tidying up, would leave nothing behind; so
each line is noted at once, in a file that was opened before, wherever the child's root directory is by then.
"""

from __future__ import annotations

import fcntl
import os
import runpy
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path
from types import FrameType
from typing import Any

WITH_VALUE = ("-X", "-W")
"""Options of the interpreter that are followed by another word."""
ABOVE = 200
"""Descriptors below are the program's own."""
Lines = Mapping[str, Mapping[int, Sequence[str]]]


class Children:
    """A folder with an interpreter for children in it. `only`: patterns of the modules whose lines are noted."""

    def __init__(self, folder: Path, only: Sequence[str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._noted, self._context = folder / "noted.txt", folder / "context.txt"
        self._noted.write_text("")
        self._context.write_text("")
        (folder / "only.txt").write_text("\n".join(only))
        self.executable = folder / "python"
        words = shlex.join([sys.executable, os.path.abspath(__file__), str(folder)])
        self.executable.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        self.executable.chmod(0o755)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """As long as the block runs, whoever starts `sys.executable` starts ours."""
        real, sys.executable = sys.executable, str(self.executable)
        try:
            yield
        finally:
            sys.executable = real

    def switch_context(self, nodeid: str) -> None:
        """Children that begin from now on are this test's."""
        self._context.write_text(nodeid)

    def lines(self) -> Lines:
        """Module → line → the tests whose children ran it."""
        lines: dict[str, dict[int, list[str]]] = {}
        for text in sorted(set(self._noted.read_text().splitlines())):
            module, line, nodeid = text.split("\t")
            lines.setdefault(module, {}).setdefault(int(line), []).append(nodeid)
        return lines


def _note(folder: Path) -> None:
    """From now on, in this process and in those that it forks."""
    nodeid = (folder / "context.txt").read_text()
    only = (folder / "only.txt").read_text().splitlines()
    opened = os.open(folder / "noted.txt", os.O_WRONLY | os.O_APPEND)
    fd = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, ABOVE)
    os.close(opened)
    known: dict[str, bool] = {}
    noted: set[tuple[str, int]] = set()

    def line(frame: FrameType, what: str, _: Any) -> Callable[..., Any]:
        place = frame.f_code.co_filename, frame.f_lineno
        if what == "line" and place not in noted:
            noted.add(place)
            with suppress(OSError):
                os.write(fd, f"{place[0]}\t{place[1]}\t{nodeid}\n".encode())
        return line

    def call(frame: FrameType, *_: Any) -> Callable[..., Any] | None:
        name = frame.f_code.co_filename
        if name not in known:
            known[name] = any(fnmatch(name, pattern) for pattern in only)
        return line if known[name] and frame.f_code.co_name != "<module>" else None

    sys.settrace(call)


def main(folder: str, *words: str) -> None:
    """Do what `python WORDS` does."""
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0][:2] not in ("-c", "-m", "-"):
        del rest[: 2 if rest[0] in WITH_VALUE else 1]
    if rest and rest[0][:2] in ("-c", "-m"):
        rest[:1] = [part for part in (rest[0][:2], rest[0][2:]) if part]  # `-mpytest` says the same in one word
    kind = rest.pop(0) if rest and rest[0] in ("-c", "-m", "-") else ""
    sys.executable = str(Path(folder, "python"))
    sys.path[0] = "" if kind else str(Path(rest[0]).parent)
    sys.argv = [*(["-c"] if kind == "-c" else ["-"] if kind == "-" else []), *rest]
    _note(Path(folder))
    if kind == "-m":
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif kind:
        text = sys.stdin.read() if kind == "-" else sys.argv.pop(1)
        exec(compile(text, "<string>", "exec"), {"__name__": "__main__"})
    else:
        runpy.run_path(rest[0], run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
