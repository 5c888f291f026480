"""`fsGroup`: giving a volume's files to a group that all containers of the pod are in.

Everything below the volume changes group, becomes readable (and, unless the volume is
read-only, writable) for it, and directories hand the group on to what is made in them.
On a large volume that takes long; `OnRootMismatch` looks at the top directory first and
is content if that one is right.

Upstream: `pkg/volume/volume_linux.go` (`VolumeOwnership.ChangePermissions`,
`changeFilePermission`, `skipPermissionChange`), v1.36.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from lifecycle.api.loop.pauses import Pauses
from lifecycle.kubelet.volume.subpath import LOOK, change_mode

READ_WRITE, READ_ONLY, EXECUTE = 0o660, 0o440, 0o110


def set_volume_ownership(
    volume: Path, fs_group: int | None, *, read_only: bool, policy: str = "Always"
) -> bool:
    """Give a volume to a group; whether anything was done. None: no group, nothing to
    do. Raises OSError.
    """
    changed = 0
    for _ in _changes(volume, fs_group, read_only, policy):
        changed += 1
    return changed > 0


async def set_large_volume_ownership(
    volume: Path, fs_group: int | None, *, read_only: bool, policy: str = "Always"
) -> None:
    """The same of a volume that may hold anything: others have their turn meanwhile.
    Raises OSError.
    """
    pauses = Pauses()
    for _ in _changes(volume, fs_group, read_only, policy):
        await pauses.pause()


def _changes(
    volume: Path, fs_group: int | None, read_only: bool, policy: str
) -> Iterator[None]:
    """One after each file and directory that was given away."""
    if fs_group is None:
        return
    if policy == "OnRootMismatch" and not _root_mismatch(volume, fs_group, read_only):
        return
    left = [os.fspath(volume)]
    while left:  # a container may have made it deeper than Python's stack goes
        path = left.pop()
        if stat.S_ISDIR(_change(path, fs_group, read_only)):
            left += (os.path.join(path, name) for name in os.listdir(path))
        yield


def ownership_mask(is_directory: bool, read_only: bool) -> int:
    """The permission bits that a group is given."""
    mask = READ_ONLY if read_only else READ_WRITE
    return mask | stat.S_ISGID | EXECUTE if is_directory else mask


def _change(path: str, fs_group: int, read_only: bool) -> int:
    """What it is: its mode as it was. A link that it has become since is not followed:
    a volume may be another pod's as well.
    """
    mode = os.lstat(path).st_mode
    os.lchown(path, -1, fs_group)
    if stat.S_ISLNK(mode):
        return mode
    opened = os.open(path, LOOK)
    try:
        if not stat.S_ISLNK(os.fstat(opened).st_mode):
            wanted = stat.S_IMODE(mode) | ownership_mask(stat.S_ISDIR(mode), read_only)
            change_mode(opened, wanted)
    finally:
        os.close(opened)
    return mode


def _root_mismatch(volume: Path, fs_group: int, read_only: bool) -> bool:
    info = volume.stat()
    mask = ownership_mask(True, read_only)
    return info.st_gid != fs_group or info.st_mode & mask != mask
