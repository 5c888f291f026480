"""How a process that is not there behaves: what it says and when, how long it runs,
what a signal does to it.

Ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lifecycle.cri.hollow.files import FileChange

SIGKILLED, SIGTERMED = 137, 143
"""Exit codes of a process that a signal ended."""

FOREVER = float("inf")


@dataclass(slots=True, frozen=True)
class Output:
    """A line on `stdout` or `stderr`, or in a file (`>/path`, `>>/path`), so many
    seconds after the start.

    `text` may still name variables (`$NAME`). Said again every so many seconds if
    `every` is not 0.
    """

    after: float
    stream: str
    text: str
    every: float = 0.0


@dataclass(slots=True, frozen=True)
class Busy:
    """A time, in seconds since the start, in which a shell waits for a command and
    hears nothing. It comes back `every` so often.
    """

    start: float
    end: float
    every: float = 0.0


@dataclass(slots=True, frozen=True)
class Program:
    """How a process will behave.

    `runs_for`: seconds until it ends by itself, None: never. `on_term`: its exit code
    when asked to stop, None: it does not listen; `term_seconds`: how long it takes to
    end then; `busy`: when it hears nothing. `start_error`: why it cannot be run.
    `listens`: ports it accepts connections on. `pages`: paths that its HTTP servers
    answer with 200. `oom`: it uses all memory it can get. `output`: what it writes and
    when. `files`: which it makes and removes, and when.
    """

    runs_for: float | None = None
    exit_code: int = 0
    on_term: int | None = 0
    term_seconds: float = 0.0
    busy: tuple[Busy, ...] = field(default=())
    start_error: str = ""
    listens: frozenset[int] = frozenset()
    pages: frozenset[str] = frozenset({"", "/", "/index.html"})
    oom: bool = False
    output: tuple[Output, ...] = ()
    files: tuple[FileChange, ...] = ()

    def hears_after(self, age: float) -> float:
        """Seconds until it acts upon a signal that arrives at this age."""
        for busy in self.busy:
            at = age
            if busy.every and age >= busy.start:
                at = busy.start + (age - busy.start) % busy.every
            if busy.start <= at < busy.end:
                return busy.end - at
        return 0.0


_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def expand(text: str, envs: Mapping[str, str]) -> str:
    """A shell's `$NAME` and `${NAME}`; unset ones are empty. A doubled dollar is a
    literal one.
    """
    parts = text.split("$$")
    return "$".join(
        _VARIABLE.sub(lambda found: envs.get(found[1] or found[2], ""), part)
        for part in parts
    )
