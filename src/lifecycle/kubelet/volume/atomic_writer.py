"""Replacing a directory of files in one step.

A container that reads a mounted ConfigMap must see the old contents or the new, never
some of each. So the files are written into a fresh directory with a time in its name, a
symbolic link `..data` points to it, and each name that the reader knows is a link
through `..data`. Changing everything at once is then one `rename` of that link.

A file under a `subPath` mount sees none of this: it is bound to the file itself, not to
the link.

Whom the files belong to is settled before the link leads to them: nobody finds one that
it may not read yet.

Upstream: `pkg/volume/util/atomic_writer.go` (`AtomicWriter.Write`), v1.36.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

MAX_FILE_NAME_LENGTH = 255
MAX_PATH_LENGTH = 4096
DATA_DIR, NEW_DATA_DIR = "..data", "..data_tmp"


@dataclass(slots=True, frozen=True)
class FileProjection:
    """One file. `uid`: who is to own it, if not whoever writes."""

    data: bytes
    mode: int
    uid: int | None = None


Payload = Mapping[str, FileProjection]
"""Files by relative path."""

Own = Callable[[], None]
"""Gives the files of a volume to whom they belong. Raises OSError."""


def validate_path(target: str) -> None:
    """Raises ValueError for a path that would leave the volume, or that could be
    taken for one of the writer's own.
    """
    if not target:
        raise ValueError(f"invalid path: must not be empty: {target!r}")
    if os.path.isabs(target):
        raise ValueError(f"invalid path: must be relative path: {target}")
    if len(target) > MAX_PATH_LENGTH:
        raise ValueError(
            f"invalid path: must be less than or equal to {MAX_PATH_LENGTH} characters"
        )
    parts = target.split("/")
    if ".." in parts:
        raise ValueError(f"invalid path: must not contain '..': {target}")
    if any(len(part) > MAX_FILE_NAME_LENGTH for part in parts):
        raise ValueError(
            "invalid path: filenames must be less than or equal to"
            f" {MAX_FILE_NAME_LENGTH} characters"
        )
    if target.startswith(".."):
        raise ValueError(f"invalid path: must not start with '..': {target}")


class AtomicWriter:
    """Writes one volume. `rng` makes up the last part of directories' names."""

    def __init__(self, target: Path, rng: random.Random | None = None) -> None:
        self.target = target
        self._rng = rng or random.Random()

    def write(self, payload: Payload, now: float, own: Own = lambda: None) -> bool:
        """Make the volume hold exactly `payload`; whether anything had to change. `own`
        is called before new files can be seen. Raises ValueError, OSError.
        """
        files = {}
        for name, file in payload.items():
            validate_path(name)
            files[os.path.normpath(name)] = file
        old = self._current()
        if old is not None and _same(old, files):
            self._link_names(files)
            return False
        fresh = self._fresh_directory(now)
        try:
            self._fill(fresh, files)
            own()
            link = self.target / NEW_DATA_DIR
            link.unlink(missing_ok=True)
            link.symlink_to(fresh.name)
            os.rename(link, self.target / DATA_DIR)
        except OSError:  # or there would be one more copy for each try
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        self._link_names(files)
        self._unlink_names(files)
        if old is not None:
            shutil.rmtree(old)
        return True

    def _current(self) -> Path | None:
        link = self.target / DATA_DIR
        return self.target / os.readlink(link) if link.is_symlink() else None

    def _fresh_directory(self, now: float) -> Path:
        stamp = time.strftime("%Y_%m_%d_%H_%M_%S", time.gmtime(now))
        while True:
            path = self.target / f"..{stamp}.{self._rng.randrange(1 << 32)}"
            if not path.exists():
                path.mkdir()
                path.chmod(0o755)
                return path

    def _fill(self, fresh: Path, files: Payload) -> None:
        for name, file in files.items():
            path = fresh / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.data)
            path.chmod(file.mode)
            if file.uid is not None:
                os.chown(path, file.uid, -1)

    def _link_names(self, files: Payload) -> None:
        for name in {name.split("/", 1)[0] for name in files}:
            link = self.target / name
            if not link.is_symlink():
                link.symlink_to(f"{DATA_DIR}/{name}")

    def _unlink_names(self, files: Payload) -> None:
        current = {name.split("/", 1)[0] for name in files}
        for entry in self.target.iterdir():
            if (
                not entry.name.startswith("..")
                and entry.name not in current
                and entry.is_symlink()
            ):
                entry.unlink()


def _same(old: Path, files: Payload) -> bool:
    present = {
        str(path.relative_to(old)): path for path in old.rglob("*") if not path.is_dir()
    }
    if set(present) != set(files):
        return False
    # their modes are others than were written where the volume was given to a group
    return all(present[name].read_bytes() == file.data for name, file in files.items())
