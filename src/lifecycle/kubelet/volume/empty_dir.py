"""`emptyDir`: a directory that lives as long as its pod, on disk or in memory.

In memory it is a `tmpfs`, no larger than its `sizeLimit`, the pod's memory limit and
the node's memory allow. Secrets, tokens and downward API files are written into such a
one too (upstream *wraps* them in it), so that they never touch a disk. Mounting takes
root: a `Mounter` does it, and one that only takes note stands in where there is none.

Upstream: `pkg/volume/emptydir/empty_dir.go` (`SetUpAt`, `setupTmpfs`,
`calculateEmptyDirMemorySize`), v1.36. Left out: quotas, huge pages.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Protocol

from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import parse_quantity
from lifecycle.cri.removal import remove_tree
from lifecycle.kubelet.cm.resource_config import resource_config_for_pod
from lifecycle.kubelet.config.directories import DIRECTORY_MODE
from lifecycle.kubelet.volume.payloads import VolumeError

EMPTY_DIR_PLUGIN = "kubernetes.io/empty-dir"
PERMISSIONS = 0o777
READY_FILE = "ready"


class Mounter(Protocol):
    """Mounts and unmounts. Raises VolumeError."""

    def mount_tmpfs(self, path: Path, size: int) -> None:
        """A `tmpfs` of at most `size` bytes."""
        ...

    def bind(self, source: Path, target: Path, opened: int) -> None:
        """Make a file or directory appear somewhere else too: the one that is open as
        `opened`, whatever has become of `source` meanwhile.
        """
        ...

    def unmount(self, path: Path) -> None:
        """Again does no harm."""
        ...


class NotedMounter:
    """Mounts nothing: keeps what would have been mounted. `tmpfs`: bytes by path;
    `binds`: sources by target.
    """

    def __init__(self) -> None:
        self.tmpfs: dict[Path, int] = {}
        self.binds: dict[Path, Path] = {}

    def mount_tmpfs(self, path: Path, size: int) -> None:
        """A plain directory, with a `tmpfs`'s mode."""
        path.chmod(0o1777)
        self.tmpfs[path] = size

    def bind(self, source: Path, target: Path, opened: int) -> None:
        """Taken note of."""
        self.binds[target] = source

    def unmount(self, path: Path) -> None:
        """Forgotten."""
        self.tmpfs.pop(path, None)
        self.binds.pop(path, None)


class LinuxMounter:
    """Mounts for real, with `mount(8)`. Needs root."""

    def mount_tmpfs(self, path: Path, size: int) -> None:
        """With the options that upstream gives; without `noswap` where the kernel does
        not know it.
        """
        options = [f"size={size}"] if size else []
        if self._run(
            "mount",
            "-t",
            "tmpfs",
            "-o",
            ",".join([*options, "noswap"]),
            "tmpfs",
            str(path),
        ):
            failed = self._run(
                "mount",
                "-t",
                "tmpfs",
                *(["-o", ",".join(options)] if options else []),
                "tmpfs",
                str(path),
            )
            if failed:
                raise VolumeError(f"mount failed: {failed}")

    def bind(self, source: Path, target: Path, opened: int) -> None:
        """`mount --bind`, which is not to look up the path once more."""
        there = f"/proc/{os.getpid()}/fd/{opened}"
        failed = self._run("mount", "--no-canonicalize", "--bind", there, str(target))
        if failed:
            raise VolumeError(f"mount failed: {failed}")

    def unmount(self, path: Path) -> None:
        """`umount`, if something is mounted there."""
        if is_mount_point(path):
            failed = self._run("umount", str(path))
            if failed:
                raise VolumeError(f"unmount failed: {failed}")

    @staticmethod
    def _run(*command: str) -> str:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return (
            (done.stderr.strip() or f"exit status {done.returncode}")
            if done.returncode
            else ""
        )


def is_mount_point(path: Path) -> bool:
    """Whether something is mounted exactly there, be it on a directory or on a file."""
    try:
        with open("/proc/self/mountinfo") as lines:
            points = {line.split()[4] for line in lines}
    except OSError:
        return path.is_mount()
    return str(path.absolute()).replace(" ", "\\040") in points


def memory_size(
    pod: Object, size_limit: str | None, node_allocatable_memory: int
) -> int:
    """Bytes for a `tmpfs`: the least of what is set, the limit of the pod's group among
    it. 0: no limit known.
    """
    limits = [node_allocatable_memory, resource_config_for_pod(pod).memory or 0]
    if size_limit:
        limits.append(parse_quantity(size_limit).value())
    return min([limit for limit in limits if limit] or [0])


def set_up(path: Path, meta: Path, medium: str, size: int, mounter: Mounter) -> None:
    """Make the directory, mount if it is to be in memory, and note in `meta` that it is
    done. Raises VolumeError, OSError.
    """
    if (meta / READY_FILE).exists() and path.is_dir():
        return
    if medium not in ("", "Memory"):
        raise VolumeError(f'unknown storage medium "{medium}"')
    path.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
    if medium == "Memory":
        mounter.mount_tmpfs(path, size)
    else:
        path.chmod(PERMISSIONS)
    meta.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
    (meta / READY_FILE).touch()


def tear_down(path: Path, meta: Path, mounter: Mounter) -> None:
    """Unmount, and remove all traces. Again does no harm. Raises VolumeError,
    OSError.
    """
    mounter.unmount(path)
    for directory in (path, meta):
        remove_tree(directory)
