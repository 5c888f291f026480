"""The files of a hollow container. There is no image behind it: what is known are the
usual directories, what the runtime writes to `/etc`, the volumes that the kubelet
mounted, and what the container's own commands wrote.

A path that only the image could answer for raises `UnknownFile`: it is neither there
nor absent.

Ours.
"""

from __future__ import annotations

import posixpath
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from lifecycle.cri.hollow.process.volumes import Attributes, Tree, UnknownFile

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
        "agnhost": f"{_ALPINE} agnhost agnhost-2 localhost.crt localhost.key uploads",
        "alpine": _ALPINE,
        "busybox": "bin dev etc home lib lib64 proc root sys tmp usr var",
        "debian": _DEBIAN,
        "nginx": f"{_DEBIAN} docker-entrypoint.d docker-entrypoint.sh",
        "ubuntu": _DEBIAN,
    }.items()
}
"""What is in `/`, by the image's name."""

_ROOT_FILES = frozenset(
    {
        "/agnhost",
        "/agnhost-2",
        "/docker-entrypoint.sh",
        "/localhost.crt",
        "/localhost.key",
    }
)
"""What of it is no directory."""

_USUAL = frozenset({"/bin", "/dev", "/etc", "/proc", "/sys", "/usr", "/var"})
"""Directories that every image has, with contents that are the image's."""


READ, WRITE = 4, 2
"""Bits of a permission, as the others have it."""

TEMPORARY = Attributes(0o1777)
"""Of `/tmp` and its like, in every image."""


class FileError(Exception):
    """What cannot be done with a path; the text is the C library's."""


@dataclass(slots=True, frozen=True)
class Credentials:
    """As whom a container's processes touch files. Root may do everything."""

    user: int = 0
    group: int = 0
    groups: frozenset[int] = frozenset({0})
    """All of them."""

    def may(self, wanted: int, what: Attributes) -> bool:
        """Whether `READ` or `WRITE` is granted."""
        if self.user == 0:
            return True
        shift = 6 if self.user == what.user else 3 if what.group in self.groups else 0
        return bool(what.mode >> shift & wanted)


Content = bytes | Callable[[], bytes]
"""Of a file, or what makes it when it is read."""


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
    """One container's. `etc`: what the runtime writes, by path, and what is known of
    the image's files; `root`: the names in `/`, None if nobody knows; `read_only`: all
    but its mounts.

    Whether its user may read and write is asked where the answer is known: of volumes,
    and of what the container wrote.
    """

    __slots__ = ("_etc", "_gone", "_mounts", "_read_only", "_root", "_tree", "user")

    def __init__(
        self,
        etc: Mapping[str, Content] | None = None,
        mounts: Iterable[Mount] = (),
        root: frozenset[str] | None = None,
        *,
        user: Credentials | None = None,
        read_only: bool = False,
    ) -> None:
        self.user = user or Credentials()
        self._read_only = read_only
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
            return "file" if path in _ROOT_FILES else "directory"
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

    async def stat(self, path: str) -> Attributes:
        """Mode and owner. Raises FileError if it is not there, UnknownFile."""
        if not await self.kind(path):
            raise FileError("No such file or directory")
        mount = self._mount_of(path)
        if mount is not None:
            return await mount.tree.stat(self._inside(mount, path))
        if path[1:] in self._tree.entries:
            return await self._tree.stat(path[1:])
        if path in ("/tmp", "/var/tmp"):
            return TEMPORARY
        if path in self._etc:
            return Attributes(0o644)
        raise UnknownFile(path)

    async def in_memory(self, path: str) -> bool:
        """Whether a path is in a `tmpfs`. Raises FileError if it is not there,
        UnknownFile where only a machine could tell.
        """
        if not await self.kind(path):
            raise FileError("No such file or directory")
        mount = self._mount_of(path)
        content = None if mount is None else await mount.tree.content()
        if content is None:
            raise UnknownFile(path)
        return content.in_memory

    async def change_mode(self, path: str, mode: int) -> None:
        """Raises FileError, UnknownFile."""
        attributes = await self.stat(path)
        tree, inside = self._place(path)
        if self.user.user not in (0, attributes.user):
            raise FileError("Operation not permitted")
        tree.attributes[inside] = replace(attributes, mode=mode)

    async def _ask(self, wanted: int, path: str) -> None:
        """Raises FileError unless the user may, or nobody knows."""
        try:
            attributes = await self.stat(path)
        except UnknownFile:
            return
        if not self.user.may(wanted, attributes):
            raise FileError("Permission denied")

    async def read(self, path: str) -> bytes:
        """Raises FileError, UnknownFile."""
        kind = await self.kind(path)
        if kind != "file":
            raise FileError("Is a directory" if kind else "No such file or directory")
        await self._ask(READ, path)
        mount = self._mount_of(path)
        if mount is not None:
            return await mount.tree.read(self._inside(mount, path))
        if path[1:] in self._tree.entries:
            return await self._tree.read(path[1:])
        if path in self._etc:
            content = self._etc[path]
            return content if isinstance(content, bytes) else content()
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
            if self._read_only:
                raise FileError("Read-only file system")
            self._gone.discard(path)
            return self._tree, path[1:]
        if mount.read_only or mount.tree.read_only:
            raise FileError("Read-only file system")
        return mount.tree, self._inside(mount, path)

    async def _own(self, tree: Tree, inside: str, path: str, mode: int) -> None:
        """Give what is new its mode and owner. Raises UnknownFile."""
        try:
            parent = await self.stat(posixpath.dirname(path))
        except (UnknownFile, FileError):
            parent = Attributes(0o755)
        group = parent.group if parent.mode & stat.S_ISGID else self.user.group
        tree.attributes[inside] = Attributes(mode, self.user.user, group)

    async def open(
        self, path: str, *, append: bool = False, mode: int = 0o644
    ) -> Callable[[bytes], None]:
        """Make the file, empty unless appended to; what is returned writes to it. A new
        one gets `mode`. Raises FileError, UnknownFile.
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
        await self._ask(WRITE, path if kind else posixpath.dirname(path))
        if not kind:
            await self._own(tree, inside, path, mode)
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
        await self._ask(WRITE, posixpath.dirname(path))
        await self._own(tree, inside, path, 0o755)
        tree.entries[inside] = None

    async def remove(self, path: str) -> None:
        """With all that is below. Raises FileError, UnknownFile."""
        if not await self.kind(path):
            raise FileError("No such file or directory")
        if any(mount.path == path for mount in self._mounts):
            raise FileError("Resource busy")
        tree, inside = self._place(path)
        await self._ask(WRITE, posixpath.dirname(path))
        tree.remove(inside)
        if tree is self._tree:
            self._gone.add(path)
