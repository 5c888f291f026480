"""What a row of the tables of tampered evidence says: one thing in a recording is otherwise, and the checks that have to notice."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from lifecycle.inspector import Recording

Line = dict[str, Any]


@dataclass(slots=True, frozen=True)
class Tamper:
    """`what` is otherwise. `files`: a pattern of files below the recording; `change`: of their text; `reddens`: claims that have a
    check of evidence."""

    what: str
    files: str
    change: Callable[[str], str]
    reddens: tuple[str, ...]

    def of(self, recorded: Path, folder: Path) -> Recording:
        """The recording in another folder: links to what it has, but for the files that are changed. Raises ValueError if none is."""
        if not self._copy(recorded, folder, self.files.split("/")):
            raise ValueError(f"nothing to change: {self.what}")
        return Recording(folder)

    def _copy(self, source: Path, target: Path, pattern: list[str]) -> int:
        """How many files were changed."""
        target.mkdir()
        changed = 0
        for entry in source.iterdir():
            there = target / entry.name
            if not fnmatch(entry.name, pattern[0]) or entry.is_dir() != (len(pattern) > 1):
                there.symlink_to(entry)
            elif entry.is_dir():
                changed += self._copy(entry, there, pattern[1:])
            else:
                before = entry.read_text()
                after = self.change(before)
                changed += after != before
                there.write_text(after)
        return changed


def text(pattern: str, instead: str, count: int = 0) -> Callable[[str], str]:
    """Replace a pattern, everywhere or so many times."""
    return lambda before: re.sub(pattern, instead, before, count=count, flags=re.M)


def lines(where: Callable[[Line], Any], *path: str | int, value: Any) -> Callable[[str], str]:
    """In every line (of JSON) where that is so, a field is otherwise."""

    def change(before: str) -> str:
        found = []
        for line in before.splitlines():
            document = json.loads(line)
            if where(document):
                inner = document
                for part in path[:-1]:
                    inner = inner[part] if isinstance(part, int) else inner.setdefault(part, {})
                inner[path[-1]] = value
                line = json.dumps(document, separators=(",", ":"))
            found.append(line)
        return "\n".join(found) + "\n"

    return change


def noted(note: str) -> Callable[[Line], bool]:
    """The exchange with this note."""
    return lambda line: line.get("note") == note


def pods(line: Line) -> bool:
    """An answer that is a pod."""
    return isinstance(line.get("response"), dict) and line["response"].get("kind") == "Pod"
