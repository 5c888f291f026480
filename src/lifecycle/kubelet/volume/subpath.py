"""A piece of a volume, found without being led astray, and bound to a place of the
kubelet's own.

What is in a volume belongs to the containers that write to it, and one of them may
exchange a directory for a link to the machine's root between any two looks at it. So
the way is looked up only once, and then walked from the volume's root, directory by
directory, each opened in the one before and never over a link. What is open at the end
cannot be exchanged any more, and that is what is bound; not a path.

Going the other way, only the kubelet's own places are removed: what is mounted there is
the volume, and stays.

Upstream: `pkg/volume/util/subpath/subpath_linux.go` (`doBindSubPath`, `doSafeOpen`,
`doSafeMakeDir`, `doCleanSubPaths`), v1.36.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from lifecycle.kubelet.config.directories import DIRECTORY_MODE
from lifecycle.kubelet.volume.empty_dir import Mounter, is_mount_point

LOOKS_ONLY = sys.platform == "linux"
LOOK = os.O_NOFOLLOW | os.O_CLOEXEC
LOOK |= os.O_PATH if sys.platform == "linux" else os.O_NONBLOCK
"""A file opened only to say which one is meant; elsewhere than on Linux, as near to it
as can be.
"""


class SubpathError(Exception):
    """The way leads out of the volume, or changed while it was walked."""


def prepare_safe_subpath(
    volume: Path, subpath: str, place: Path, mounter: Mounter
) -> Path:
    """`subpath` of a volume, bound to `place`; what does not exist is made a directory,
    with the volume's own permissions. Returns where it is to be had: where nothing can
    be mounted, in the volume itself. Raises SubpathError, VolumeError, OSError if the
    directory cannot be made.
    """
    base = Path(os.path.realpath(volume))
    wanted = Path(os.path.realpath(base / subpath))
    if wanted != base and base not in wanted.parents:
        raise SubpathError(f"{wanted} is not within {base}")
    opened = _walk(base, wanted)
    try:
        place.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        if not os.path.lexists(place):
            if stat.S_ISDIR(os.fstat(opened).st_mode):
                place.mkdir(mode=DIRECTORY_MODE)
            else:
                place.touch(0o640)
        if not is_mount_point(place):
            mounter.bind(wanted, place, opened)
    finally:
        os.close(opened)
    return place if is_mount_point(place) else wanted


def _walk(base: Path, wanted: Path) -> int:
    """`wanted`, below `base`, as a descriptor. Raises SubpathError, OSError."""
    here = os.open(base, LOOK | os.O_DIRECTORY)
    mode = stat.S_IMODE(os.fstat(here).st_mode)
    names = wanted.relative_to(base).parts
    for number, name in enumerate(names, 1):
        try:
            there = _step(here, name, mode, last=number == len(names))
        finally:
            os.close(here)
        here = there
        if stat.S_ISLNK(os.fstat(here).st_mode):
            os.close(here)
            raise SubpathError(f"{wanted} has become a link: {name}")
    return here


def _step(parent: int, name: str, mode: int, *, last: bool) -> int:
    flags = LOOK if last else LOOK | os.O_DIRECTORY
    with suppress(FileNotFoundError):
        return _open(name, flags, parent)
    os.mkdir(name, dir_fd=parent)
    made = _open(name, flags | os.O_DIRECTORY, parent)
    change_mode(made, mode)
    return made


def change_mode(opened: int, mode: int) -> None:
    """Of what was opened with `LOOK`, which the kernel does not take itself."""
    os.chmod(f"/proc/self/fd/{opened}" if LOOKS_ONLY else opened, mode)


def _open(name: str, flags: int, parent: int) -> int:
    try:
        return os.open(name, flags, dir_fd=parent)
    except NotADirectoryError as error:  # a link is none, and neither is a file
        raise SubpathError(f"no directory any more: {name}") from error


def clean_subpaths(subpaths: Path, mounter: Mounter) -> None:
    """Unmount and remove the places of a pod's sub-paths, one for each mount of each
    container: `VOLUME/CONTAINER/INDEX`. Raises VolumeError, OSError.
    """
    if not subpaths.is_dir():
        return
    for volume in list(subpaths.iterdir()):
        for container in list(volume.iterdir()):
            for place in list(container.iterdir()):
                mounter.unmount(place)
                place.rmdir() if place.is_dir() else place.unlink()
            container.rmdir()
        volume.rmdir()
    subpaths.rmdir()
