"""`local`: a directory or disk of the node that outlives pods, behind a
PersistentVolume.

The first pod that mounts it gives it to its group. Whoever comes while another still
has it mounted leaves its files alone; and so does a kubelet that has just started and
finds it mounted for a pod. So which pods have it must be on the disk: in the pod's
directory is a symbolic link, named after the PersistentVolume, to what is mounted.
A `hostPath` volume at the same place leaves no such link, and does not count.

Upstream: `pkg/volume/local/local.go` (`getGlobalLocalPath`, `SetUpAt`,
`filterPodMounts`), v1.36, where a bind mount is what we have a link for. A link is
still there after a reboot. Left out: the event for a group that comes too late, making
a file system on a disk.
"""

from __future__ import annotations

import stat
from collections.abc import Awaitable, Callable
from pathlib import Path

from lifecycle.api.go.format import go_quote
from lifecycle.kubelet.config.directories import (
    DIRECTORY_MODE,
    PodDirectories,
    escape_qualified_name,
)
from lifecycle.kubelet.volume.payloads import VolumeError

LOCAL_PLUGIN = "kubernetes.io/local-volume"


def check(path: Path) -> None:
    """Raises VolumeError for what cannot be a local volume, OSError."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise VolumeError(f"path {go_quote(str(path))} does not exist") from None
    if not (stat.S_ISDIR(mode) or stat.S_ISBLK(mode)):
        raise VolumeError("only directory and block device are supported")
    if ".." in path.parts:
        raise VolumeError(f"invalid path: {path} must not contain '..'")


async def set_up(
    directories: PodDirectories,
    uid: str,
    persistent_volume: str,
    path: Path,
    own: Callable[[], Awaitable[None]],
) -> Path:
    """Mount it for a pod; where it is. `own` is called if no pod has it yet; who calls
    sees to it that only one pod at a time is about to have it. Raises VolumeError,
    OSError.
    """
    link = directories.volume(uid, LOCAL_PLUGIN, persistent_volume)
    if link.is_symlink():
        return link.readlink()
    check(path)
    if path not in _mounted(directories):
        await own()
    link.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
    link.symlink_to(path)
    return path


def tear_down(directories: PodDirectories, uid: str) -> None:
    """Unmount all of a pod's. What they lead to stays. Again does no harm. Raises
    OSError.
    """
    for link in _links(directories, uid):
        link.unlink()


def _links(directories: PodDirectories, uid: str) -> list[Path]:
    plugin = directories.volumes(uid) / escape_qualified_name(LOCAL_PLUGIN)
    return [path for path in plugin.glob("*") if path.is_symlink()]


def _mounted(directories: PodDirectories) -> set[Path]:
    return {
        link.readlink()
        for uid in directories.list_pods()
        for link in _links(directories, uid)
    }
