"""The files of a hollow container. There is no image behind it: what is known are the
usual directories, what the runtime writes to `/etc`, the volumes that the kubelet
mounted, and what the container's own commands wrote.

A path that only the image could answer for raises `UnknownFile`: it is neither there
nor absent.

Ours.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from lifecycle.cri.hollow.volumes import Tree, UnknownFile

MOST_BYTES = 64 * 1024 * 1024
"""What the files of one tree may take together."""

EMPTY_DIRECTORIES = frozenset(
    {
        "/home",
        "/media",
        "/mnt",
        "/root",
        "/run",
        "/srv",
        "/tmp",
        "/var/run",
        "/var/tmp",
    }
)
"""In which nothing is that nobody has put there."""

_ALPINE = "bin dev etc home lib media mnt opt proc root run sbin srv sys tmp usr var"
_DEBIAN = f"{_ALPINE} boot lib64"
ROOT_DIRECTORIES: Mapping[str, frozenset[str]] = {
    image: frozenset(names.split())
    for image, names in {
        "alpine": _ALPINE,
        "busybox": "bin dev etc home lib lib64 proc root sys tmp usr var",
        "debian": _DEBIAN,
        "nginx": f"{_DEBIAN} docker-entrypoint.d docker-entrypoint.sh",
        "ubuntu": _DEBIAN,
    }.items()
}
"""What is in `/`, by the image's name."""

_USUAL = frozenset({"/bin", "/dev", "/etc", "/proc", "/sys", "/usr", "/var"})
"""Directories that every image has, with contents that are the image's."""


class FileError(Exception):
    """What cannot be done with a path; the text is the C library's."""


@dataclass(slots=True, frozen=True)
class Mount:
    """A tree (from `below` on, a path without slashes around it) at `path`."""

    path: str
    tree: Tree
    below: str = ""
    read_only: bool = False


def _join(*parts: str) -> str:
    return "/".join(part for part in parts if part)


class FileSystem:
    """One container's. `etc`: what the runtime writes, by path; `root`: the names in
    `/`, None if nobody knows.
    """

    __slots__ = ("_etc", "_gone", "_mounts", "_root", "_tree")

    def __init__(
        self,
        etc: Mapping[str, bytes] | None = None,
        mounts: Iterable[Mount] = (),
        root: frozenset[str] | None = None,
    ) -> None:
        self._tree = Tree()
        self._gone: set[str] = set()
        self._etc = etc or {}
        self._mounts = sorted(mounts, key=lambda mount: -len(mount.path))
        self._root = root

    def _mount_of(self, path: str) -> Mount | None:
        for mount in self._mounts:
            if path == mount.path or path.startswith(mount.path + "/"):
                return mount
        return None

    @staticmethod
    def _inside(mount: Mount, path: str) -> str:
        return _join(mount.below, path[len(mount.path) + 1 :])

    async def kind(self, path: str) -> str:
        """`file`, `directory`, or nothing if it is not there. Raises UnknownFile."""
        mount = self._mount_of(path)
        if mount is not None:
            inside = self._inside(mount, path)
            kind = await mount.tree.kind(inside)
            return kind or ("directory" if inside == mount.below else "")
        if path == "/":
            return "directory"
        own = await self._tree.kind(path[1:])
        if own:
            return own
        if path in self._gone:
            return ""
        if path in self._etc:
            return "file"
        if self._has_mounts_below(path) or path in EMPTY_DIRECTORIES:
            return "directory"
        if path in _USUAL or (path.count("/") == 1 and path[1:] in (self._root or ())):
            return "file" if path.endswith(".sh") else "directory"
        if await self._is_complete(posixpath.dirname(path)):
            return ""
        raise UnknownFile(path)

    def _has_mounts_below(self, path: str) -> bool:
        return any(mount.path.startswith(path + "/") for mount in self._mounts)

    async def _is_complete(self, directory: str) -> bool:
        """Whether all that is in a directory is known; of one that is not there, it
        is.
        """
        if directory == "/":
            return self._root is not None
        if self._mount_of(directory) or directory in EMPTY_DIRECTORIES:
            return True
        if self._tree.entries.get(directory[1:], b"") is None:
            return True
        if directory in _USUAL:
            return False
        try:
            kind = await self.kind(directory)
        except UnknownFile:
            return False
        return kind != "directory" or self._has_mounts_below(directory)

    async def read(self, path: str) -> bytes:
        """Raises FileError, UnknownFile."""
        kind = await self.kind(path)
        if kind != "file":
            raise FileError("Is a directory" if kind else "No such file or directory")
        mount = self._mount_of(path)
        if mount is not None:
            return await mount.tree.read(self._inside(mount, path))
        if path[1:] in self._tree.entries:
            return await self._tree.read(path[1:])
        if path in self._etc:
            return self._etc[path]
        raise UnknownFile(path)

    async def names(self, path: str) -> list[str]:
        """What is in a directory, sorted. Raises FileError, UnknownFile."""
        kind = await self.kind(path)
        if kind != "directory":
            raise FileError("Not a directory" if kind else "No such file or directory")
        mount = self._mount_of(path)
        prefix = "" if path == "/" else path
        inner = {
            other.path[len(prefix) + 1 :].split("/", 1)[0]
            for other in self._mounts
            if other.path.startswith(prefix + "/")
        }
        if mount is not None:
            return sorted({*await mount.tree.names(self._inside(mount, path)), *inner})
        if path == "/":
            if self._root is None:
                raise UnknownFile(path)
            inner |= {name for name in self._root if f"/{name}" not in self._gone}
        elif not await self._is_complete(path):
            raise UnknownFile(path)
        return sorted({*await self._tree.names(path[1:]), *inner})

    async def _parent(self, path: str) -> None:
        """Raises FileError unless something can be made in its parent. In a directory
        that only the image could have, it can.
        """
        try:
            kind = await self.kind(posixpath.dirname(path))
        except UnknownFile:
            return
        if kind != "directory":
            raise FileError("Not a directory" if kind else "No such file or directory")

    def _place(self, path: str) -> tuple[Tree, str]:
        """Where a path is written. Raises FileError."""
        mount = self._mount_of(path)
        if mount is None:
            self._gone.discard(path)
            return self._tree, path[1:]
        if mount.read_only or mount.tree.contents is not None:
            raise FileError("Read-only file system")
        return mount.tree, self._inside(mount, path)

    async def open(self, path: str, *, append: bool = False) -> Callable[[bytes], None]:
        """Make the file, empty unless appended to; what is returned writes to it.
        Raises FileError, UnknownFile.
        """
        if path.startswith(("/proc/", "/sys/")):
            raise UnknownFile(path)
        try:
            kind = await self.kind(path)
        except UnknownFile:
            kind = ""
        if kind == "directory":
            raise FileError("Is a directory")
        await self._parent(path)
        tree, inside = self._place(path)
        tree.entries[inside] = await self.read(path) if append and kind else b""

        def write(data: bytes) -> None:
            if tree.size() + len(data) > MOST_BYTES:
                raise FileError("No space left on device")
            tree.entries[inside] = (tree.entries.get(inside) or b"") + data

        return write

    def written(self, path: str) -> bytes:
        """What the container itself wrote there, and nothing else."""
        return self._tree.entries.get(path[1:]) or b""

    async def make_directory(self, path: str) -> None:
        """Raises FileError."""
        try:
            if await self.kind(path):
                raise FileError("File exists")
        except UnknownFile:
            pass
        await self._parent(path)
        tree, inside = self._place(path)
        tree.entries[inside] = None

    async def remove(self, path: str) -> None:
        """With all that is below. Raises FileError, UnknownFile."""
        if not await self.kind(path):
            raise FileError("No such file or directory")
        if any(mount.path == path for mount in self._mounts):
            raise FileError("Resource busy")
        tree, inside = self._place(path)
        tree.remove(inside)
        if tree is self._tree:
            self._gone.add(path)
