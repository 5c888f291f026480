"""Log rotation: files of 10 MiB, five of them, all but the two newest compressed.

The runtime only writes; it is the kubelet that looks at sizes, moves the full file away
and asks the runtime to open a new one. A line is never lost: until `ReopenContainerLog`
returns, the runtime goes on writing into the file that has been renamed.

Upstream: `pkg/kubelet/logs/container_log_manager.go` (`rotateLog`, `rotateLatestLog`,
`compressLog`), v1.36.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import gmtime, strftime

from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.services import RuntimeService

MAX_SIZE = 10 * 1024 * 1024
MAX_FILES = 5
PERIOD = 10.0
"""Seconds between looks (`containerLogMonitorInterval`)."""
COMPRESSED, TEMPORARY = ".gz", ".tmp"


def rotated_logs(path: str) -> list[str]:
    """The files that were moved away, oldest first; the one in use is not among
    them.
    """
    log = Path(path)
    return sorted(str(other) for other in log.parent.glob(log.name + ".*"))


def clean_unused(logs: list[str]) -> list[str]:
    """Remove what a crash left: half-compressed files, and originals that are
    compressed already. The others.
    """
    kept = []
    for name in logs:
        if name.endswith(TEMPORARY) or f"{name}{COMPRESSED}" in logs:
            os.unlink(name)
        else:
            kept.append(name)
    return kept


def remove_excess(logs: list[str], max_files: int = MAX_FILES) -> list[str]:
    """Oldest first, until one more (the file in use) and one more (the next) fit. The
    others.
    """
    limit = max(max_files - 2, 0)
    while len(logs) > limit:
        os.unlink(logs.pop(0))
    return logs


def compress_log(path: str) -> None:
    """To `path.gz`, by way of a temporary name, so that a half-written one is never
    taken for whole.
    """
    temporary = f"{path}{TEMPORARY}"
    with open(path, "rb") as source, gzip.open(temporary, "wb") as target:
        while piece := source.read(1 << 20):
            target.write(piece)
    os.rename(temporary, f"{path}{COMPRESSED}")
    os.unlink(path)


async def rotate_log(
    path: str,
    now: float,
    reopen: Callable[[], Awaitable[None]],
    max_files: int = MAX_FILES,
) -> str:
    """Move the file away and have a new one opened; the name it got. If that fails, it
    gets its old name back.
    """
    for name in remove_excess(clean_unused(rotated_logs(path)), max_files):
        if not name.endswith(COMPRESSED):
            compress_log(name)
    rotated = f"{path}.{strftime('%Y%m%d-%H%M%S', gmtime(now))}"
    os.rename(path, rotated)
    try:
        await reopen()
    except RuntimeServiceError:
        os.rename(rotated, path)
        raise
    return rotated


def _size(path: str) -> int:
    return os.path.getsize(path) if path and os.path.exists(path) else -1


async def rotate_logs(
    runtime: RuntimeService,
    now: float,
    max_size: int = MAX_SIZE,
    max_files: int = MAX_FILES,
) -> list[str]:
    """Look at every running container's file once; the paths that were rotated."""
    done = []
    for status in await runtime.list_containers():
        if (
            status.state is not ContainerState.RUNNING
            or _size(status.log_path) < max_size
        ):
            continue

        async def reopen(container_id: str = status.id) -> None:
            await runtime.reopen_container_log(container_id)

        await rotate_log(status.log_path, now, reopen, max_files)
        done.append(status.log_path)
    return done
