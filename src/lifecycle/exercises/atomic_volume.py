"""A volume's files, replaced while somebody reads them.

The reader looks each time that the attempt has touched the disk: whatever it does in
between, somebody may see it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.kubelet.volume.atomic_writer import AtomicWriter, FileProjection

CONTRACT = """\
write(directory, files)

directory: the path of a volume, as text: empty at first, later as you left it.
files:     {name: text}, all that the volume is to hold from now on. A name may have a
           directory in it ("conf.d/site.conf").

Somebody reads the volume while you write: each time that you have touched the disk.
Names that are there before and after must be readable all the time, and all of them
must show either what they said before or what they say now, never some of each. Names
that are new or go may come and go a little later. In the end every name can be read,
those that are gone are gone, and nothing of the old files is left: no file, and no link
to nowhere. If nothing has changed, nothing is written."""

STARTER = '''\
from pathlib import Path


def write(directory, files):
    """Make the volume hold these files."""
    for name, text in files.items():
        path = Path(directory, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
'''

TOUCHES = frozenset(
    {
        *("open", "write", "writelines", "close", "flush", "truncate", "__exit__"),
        *("rename", "replace", "link", "symlink", "mkdir", "unlink", "remove", "rmdir"),
    }
)
"""Functions of the interpreter after which the reader looks."""

Files = dict[str, str]
SEEDS = 2
NAMES = ("nginx.conf", "user", "password", "conf.d/site.conf", "conf.d/log.conf")


def cases() -> Iterator[Case]:
    """Volumes that are written several times over."""
    first = {"user": "anna", "password": "anna's"}
    second = {"user": "bert", "password": "bert's"}
    yield _case("all at once", "anna goes, bert comes", [first, second])
    yield _case("all at once", "and back", [first, second, first])
    yield _case("nothing new", "the same again", [first, first])
    yield _case("nothing new", "later", [first, second, second, second])
    yield _case("names", "a new one", [first, {**first, "mail": "a@b"}])
    yield _case("names", "one is gone", [second, {"user": "bert"}])
    yield _case("names", "an empty volume", [first, {}, second])
    yield _case(
        "names",
        "a directory comes and goes",
        [first, {**first, "conf.d/site.conf": "80"}, first],
    )
    for seed in range(SEEDS):
        dice = Random(f"volume {seed}")
        history = [
            {name: dice.choice("xyz") for name in NAMES if dice.random() < 0.7}
            for _ in range(4)
        ]
        yield _case("anything", f"history {seed}", history)


def _case(group: str, label: str, history: list[Files]) -> Case:
    right = [
        {
            "seen wrong": [],
            "files": files,
            "left over": 0,
            "written": number == 0 or new,
        }
        for number, files in enumerate(history)
        for new in [history[number - 1] != files]
    ]
    ask = lambda attempt: played(attempt, history)  # noqa: E731
    return Case(group, label, right, ask, history)


def played(write: Attempt, history: list[Files]) -> list[Any]:
    """What came of each write: a mixture that was seen, the files in the end, how many
    files and dead links nobody asked for, whether anything was written.
    """
    found = []
    with TemporaryDirectory() as made:
        before: Files = {}
        for files in history:
            was = _everything(made)
            reader = _Reader(made, before, files)
            reader.watch(write)
            now = _everything(made)
            texts = {name: _read(made, name) for name in {**before, **files}}
            real = [path for path, counts in now.items() if counts]
            found.append(
                {
                    "seen wrong": reader.wrong[:1],
                    "files": {k: v for k, v in texts.items() if v is not None},
                    "left over": len(real) - len(files),
                    "written": not before or now != was,
                }
            )
            before = files
    return found


class _Reader:
    """Reads the names that stay, whenever somebody else has touched a disk."""

    def __init__(self, directory: str, old: Files, new: Files) -> None:
        self._directory = directory
        self._old, self._new = old, dict(new)
        self._names = [name for name in old if name in new]
        self.wrong: list[dict[str, str | None]] = []

    def watch(self, write: Attempt) -> None:
        """Run it, and read."""
        before = sys.getprofile()
        sys.setprofile(self._hear)
        try:
            write(self._directory, dict(self._new))
        finally:
            sys.setprofile(before)
        self._look()

    def _hear(self, frame: FrameType, event: str, arg: object) -> None:
        if event == "c_return" and getattr(arg, "__name__", "") in TOUCHES:
            self._look()

    def _look(self) -> None:
        seen = {name: _read(self._directory, name) for name in self._names}
        for version in (self._old, self._new):
            if all(seen[name] == version[name] for name in self._names):
                return
        self.wrong.append(seen)


def _read(directory: str, name: str) -> str | None:
    try:
        with open(f"{directory}/{name}") as file:
            return file.read()
    except OSError:
        return None


def _everything(directory: str) -> dict[str, bool]:
    """All that lies below, with its place on the disk; whether it is a file, or a link
    to nowhere.
    """
    found: dict[str, bool] = {}
    for path in sorted(Path(directory).rglob("*")):
        stat = path.lstat()
        counts = not path.exists() or (path.is_file() and not path.is_symlink())
        found[f"{path} {stat.st_ino} {stat.st_mtime_ns}"] = counts
    return found


def ours() -> Attempt:
    """The book's."""

    def write(directory: str, files: Files) -> None:
        payload = {
            name: FileProjection(text.encode(), 0o644) for name, text in files.items()
        }
        AtomicWriter(Path(directory)).write(payload, 0.0)

    return write


EXERCISE = Exercise(
    "atomic-volume",
    "Files replaced under a reader's eyes",
    CONTRACT,
    STARTER,
    "a reader, who looks whenever you touch the disk",
    cases,
    ours,
    ("volumes", "atomic-writer"),
)
