"""The few files that hollow programs make: enough for probes that look whether one is
there.

`touch /tmp/healthy; sleep 30; rm /tmp/healthy` is how many a container shows that it is
well. A script's files are known by when they come and go, in seconds since its start;
nothing is in them.

Ours.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

TEMPORARY = ("/tmp/", "/run/", "/var/run/")
"""Where nothing is that a program has not put there."""


@dataclass(slots=True, frozen=True)
class FileChange:
    """A file is there, or no longer, so many seconds after the start."""

    after: float
    path: str
    there: bool


def changes_of(words: list[str], after: float) -> tuple[FileChange, ...]:
    """What one command of a script does to files."""
    made = [words[i + 1] for i, word in enumerate(words[:-1]) if word in (">", ">>")]
    made += [
        word.lstrip(">")
        for word in words
        if word.startswith(">") and not word.startswith(">&") and word.lstrip(">")
    ]
    name = words[0].rsplit("/", 1)[-1]
    paths = [word for word in words[1:] if not word.startswith(("-", ">"))]
    if name in ("touch", "mkdir"):
        made += paths
    gone = paths if name in ("rm", "rmdir") else []
    return tuple(
        [FileChange(after, p, True) for p in made]
        + [FileChange(after, p, False) for p in gone]
    )


def is_there(changes: Iterable[FileChange], path: str, age: float) -> bool:
    """Whether a file is there, so many seconds after the start. Of what a program never
    touches: unless it would have had to.
    """
    mine = [change for change in changes if change.path == path]
    if not mine:
        return not path.startswith(TEMPORARY)
    return next(
        (change.there for change in reversed(mine) if change.after <= age), False
    )


def look(
    changes: Iterable[FileChange], command: tuple[str, ...], age: float
) -> tuple[int, str] | None:
    """Exit code and stderr of a command that only looks for a file: `cat`, `ls`,
    `test`, also in a shell. None: another.
    """
    words = list(command)
    if (
        len(words) == 3
        and words[0].rsplit("/", 1)[-1] in ("sh", "ash", "bash")
        and words[1] == "-c"
    ):
        try:
            words = shlex.split(words[2])
        except ValueError:
            return None
        if not words or any(
            word in (";", "&&", "||", "|") or word.endswith(";") for word in words
        ):
            return None
    name = words[0].rsplit("/", 1)[-1]
    if name == "[" and words[-1] == "]":
        name, words = "test", words[:-1]
    paths = [word for word in words[1:] if word.startswith("/")]
    if (
        name not in ("cat", "ls", "test", "stat")
        or len(paths) != 1
        or (name == "test" and words[1][:1] != "-")
    ):
        return None
    if is_there(changes, paths[0], age):
        return None if name in ("cat", "ls", "stat") else (0, "")
    said = {
        "cat": f"cat: can't open '{paths[0]}': No such file or directory\n",
        "ls": f"ls: {paths[0]}: No such file or directory\n",
        "stat": f"stat: can't stat '{paths[0]}': No such file or directory\n",
    }
    return 1, said.get(name, "")
