"""A run of the cluster on this machine: its name, its directory, and whether its owner
still lives.

Everything that a run leaves on a machine bears its id: the directory
`/var/lib/lifecycle/<id>` with all files, mounts and sockets below it, and the cgroup
`lifecycle-<id>`. Network namespaces have no names at all: the process holds them by
descriptor, and the kernel takes them away, with every interface and rule in them, when
their last user is gone. So two runs cannot meet, and what a killed one left can be
found and taken away by its id alone.

Upstream: none. kind keeps the same things apart by container name and a label of
Docker's.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lifecycle.cri.sandbox.launch import start_time

RUNS = Path("/var/lib/lifecycle")
RUN_LABEL = "lifecycle.run"
"""On sandboxes in a containerd that others may use too."""

_OWNER = "owner.json"


@dataclass(slots=True, frozen=True)
class Run:
    """One run. `id`: six hexadecimal digits."""

    id: str

    @property
    def directory(self) -> Path:
        """All its files, sockets and mounts are below."""
        return RUNS / self.id

    @property
    def cgroup(self) -> str:
        """The cgroup that all its pods are in, below the root of each tree."""
        return f"lifecycle-{self.id}"

    def owned(self) -> bool:
        """Whether the process that made it still lives. One that is just being made has
        no owner yet, and is left alone.
        """
        try:
            owner = json.loads((self.directory / _OWNER).read_text())
        except FileNotFoundError:
            return False
        except ValueError:
            return True
        return bool(start_time(owner["pid"]) == owner["started"])


def new_run() -> Run:
    """Make the directory of a new run, and sign it. Raises OSError."""
    RUNS.mkdir(mode=0o755, parents=True, exist_ok=True)
    while True:
        run = Run(secrets.token_hex(3))
        draft = RUNS / f".{run.id}.{os.getpid()}"
        draft.mkdir(mode=0o711)
        (draft / _OWNER).write_text(
            json.dumps({"pid": os.getpid(), "started": start_time(os.getpid())})
        )
        with suppress(FileExistsError, OSError):
            draft.rename(
                run.directory
            )  # signed from the first moment that others can see it
            return run
        (draft / _OWNER).unlink()
        draft.rmdir()


def runs() -> Iterator[Run]:
    """All runs of this machine, by what is on disk or among the cgroups."""
    names: set[str] = set()
    with suppress(FileNotFoundError):
        names |= {
            entry.name for entry in RUNS.iterdir() if not entry.name.startswith(".")
        }
    for tree in cgroup_trees():
        with suppress(OSError):
            names |= {
                name.removeprefix("lifecycle-")
                for name in os.listdir(tree)
                if name.startswith("lifecycle-")
            }
    for name in sorted(names):
        if len(name) == 6 and all(c in "0123456789abcdef" for c in name):
            yield Run(name)


def cgroup_trees() -> list[str]:
    """Where cgroup trees of either version are mounted."""
    with suppress(FileNotFoundError), open("/proc/self/mounts") as mounts:
        return [
            words[1]
            for words in map(str.split, mounts)
            if words[2] in ("cgroup", "cgroup2")
        ]
    return []
