"""A log file that does not grow for ever: when it is full it becomes a backup, and of
the backups only some are kept.

A backup is the file under another name: `audit.log` becomes
`audit-2026-11-22T12-47-34.123.log`, by the time it was full (UTC), so sorting names
sorts by age. Too many of them go, the oldest first; so do those that are too old.
Compressing one may take seconds, so all that is done beside the requests, in a thread.

Upstream: `gopkg.in/natefinch/lumberjack.v2` (`Logger`), which
`apiserver/pkg/server/options/audit.go` (`getWriter`) uses, v1.36.
"""

from __future__ import annotations

import gzip
import os
import shutil
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from lifecycle.api.loop.clock import Clock

MEGABYTE = 1024 * 1024
DAY = 24 * 60 * 60
COMPRESSED = ".gz"


@dataclass(slots=True, frozen=True)
class Rotation:
    """When a file is full (MB), how many backups are kept and for how many days, and
    whether they are compressed. 0: no limit.
    """

    max_size: int = 100
    max_backups: int = 100
    max_age: int = 366
    compress: bool = False


class RotatingFile:
    """Appends to a file. Raises OSError if that cannot be opened. `megabyte` is how
    many bytes one has, for tests.
    """

    def __init__(
        self, path: Path, rotation: Rotation, clock: Clock, *, megabyte: int = MEGABYTE
    ) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path, self._rotation, self._clock = path, rotation, clock
        self._limit = rotation.max_size * megabyte
        self._file = self._opened()
        self._size = path.stat().st_size
        self._tidying: threading.Thread | None = None
        self._one_at_a_time = threading.Lock()

    def _opened(self) -> BinaryIO:
        return os.fdopen(
            os.open(self._path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600), "ab"
        )

    def write(self, *parts: bytes) -> None:
        """Append and flush, to a new file if this one would become too long. Raises
        ValueError for more than a whole file. From any thread.
        """
        size = sum(map(len, parts))
        if self._limit and size > self._limit:
            raise ValueError(
                f"write length {size} exceeds maximum file size {self._limit}"
            )
        with self._one_at_a_time:
            if self._limit and self._size + size > self._limit:
                self._rotate()
            self._file.writelines(parts)
            self._file.flush()
            self._size += size

    def _rotate(self) -> None:
        self._file.close()
        self._path.rename(self._backup_name())
        self._file, self._size = self._opened(), 0
        self._finish_tidying()
        self._tidying = threading.Thread(
            target=self.tidy, args=(self._clock.now(),), name="audit log", daemon=True
        )
        self._tidying.start()

    def _backup_name(self) -> Path:
        at = datetime.fromtimestamp(self._clock.now(), UTC)
        stamp = f"{at:%Y-%m-%dT%H-%M-%S}.{at.microsecond // 1000:03d}"
        return self._path.with_name(f"{self._path.stem}-{stamp}{self._path.suffix}")

    def _backups(self) -> list[tuple[float, Path]]:
        """When each was full, and where it is; the newest first."""
        backups = []
        for path in self._path.parent.glob(f"{self._path.stem}-*"):
            name = path.name.removesuffix(COMPRESSED)
            if name.endswith(self._path.suffix):
                stamp = name[
                    len(self._path.stem) + 1 : len(name) - len(self._path.suffix)
                ]
                try:
                    full = datetime.strptime(stamp, "%Y-%m-%dT%H-%M-%S.%f").replace(
                        tzinfo=UTC
                    )
                except ValueError:  # somebody else's file
                    continue
                backups.append((full.timestamp(), path))
        return sorted(backups, reverse=True)

    def tidy(self, now: float) -> None:
        """Remove and compress what the rotation says. `now` is in seconds since
        1970.
        """
        backups, rotation = self._backups(), self._rotation
        kept = []
        for place, (full, path) in enumerate(backups):
            too_many = rotation.max_backups and place >= rotation.max_backups
            too_old = rotation.max_age and full < now - rotation.max_age * DAY
            if too_many or too_old:
                path.unlink(missing_ok=True)
            else:
                kept.append(path)
        if rotation.compress:
            for path in kept:
                if path.suffix != COMPRESSED:
                    _compress(path)

    def _finish_tidying(self) -> None:
        if self._tidying is not None:
            self._tidying.join()

    def close(self) -> None:
        """Wait for what is being tidied up, and let go of the file."""
        self._finish_tidying()
        self._file.close()


def _compress(path: Path) -> None:
    packed = path.with_name(path.name + COMPRESSED)
    with path.open("rb") as source, gzip.open(packed, "wb") as target:
        shutil.copyfileobj(source, target)
    packed.chmod(path.stat().st_mode & 0o777)
    path.unlink()
