"""Removing a directory that somebody else has filled.

A container may make directories in directories by the hundred thousand: deeper than any
path can name, than Python's stack goes, and than files may be open at once. So nothing
is removed from the bottom up. A directory that is not empty gives its own directories
to the top one, under numbers, until every one has had its turn: two files are open at
any time, and no name has more than one part.

Links are removed, not followed, and what is mounted somewhere below stays as it is.

Upstream: Go's `os.RemoveAll` (`os/removeall_at.go`), which keeps one file open for each
level and reaches any depth with as many.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import count
from pathlib import Path

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(path: Path | str) -> None:
    """Everything that can be removed; again does no harm. Raises the first OSError if
    something is left.
    """
    failures: list[OSError] = []
    try:
        top = os.open(path, DIRECTORY)
    except FileNotFoundError:
        return
    try:
        _empty(top, failures)
    finally:
        os.close(top)
    if failures:
        raise failures[0]
    os.rmdir(path)


def _empty(top: int, failures: list[OSError]) -> None:
    own = _remove_files(top, failures)
    numbers = (name for name in map(str, count()) if name not in own)
    waiting: list[str] = []

    def take(directory: int, names: Iterable[str]) -> None:
        for name in names:
            number = next(numbers)
            try:  # which the kernel refuses where something is mounted
                os.rename(name, number, src_dir_fd=directory, dst_dir_fd=top)
            except OSError as error:
                failures.append(error)
            else:
                waiting.append(number)

    take(top, own)
    while waiting:
        name = waiting.pop()
        try:
            here = os.open(name, DIRECTORY, dir_fd=top)
            try:
                take(here, _remove_files(here, failures))
            finally:
                os.close(here)
            os.rmdir(name, dir_fd=top)
        except OSError as error:
            failures.append(error)


def _remove_files(directory: int, failures: list[OSError]) -> set[str]:
    """Whatever is no directory; the names of the directories, which stay."""
    left = set()
    with os.scandir(directory) as entries:
        for entry in list(entries):
            try:
                if entry.is_dir(follow_symlinks=False):
                    left.add(entry.name)
                else:
                    os.unlink(entry.name, dir_fd=directory)
            except OSError as error:
                failures.append(error)
    return left
