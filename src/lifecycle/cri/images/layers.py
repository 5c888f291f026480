"""Unpacking a layer: files to add, and marks for those of lower layers that are to
disappear.

A layer says "gone" with an empty file `.wh.NAME`, and "nothing below counts" with
`.wh..wh..opq` in a directory. The kernel's overlay says the same with a character
device 0,0 and with an extended attribute. Where an overlay cannot be mounted, layers
are unpacked one over the other, and the marks are obeyed on the spot.

A layer comes from a stranger: names that lead out of the directory are refused, and so
is a layer that grows beyond all measure; it is decompressed piece by piece, never as a
whole.

Upstream: OCI image-spec `layer.md`; containerd `pkg/archive/tar.go`,
`whiteout_linux.go`.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import shutil
import stat
import tarfile
from pathlib import Path
from typing import BinaryIO

from lifecycle.cri.removal import remove_tree

WHITEOUT = ".wh."
OPAQUE = ".wh..wh..opq"
PAX_XATTR = "SCHILY.xattr."
"""Before the name of an extended attribute in an archive."""

OVERLAYS_OWN = "trusted.overlay."
"""Attributes by which the kernel's overlay knows what is gone: no layer may set them by
itself.
"""

MAX_LAYER = 8 * 1024**3
"""Bytes of one unpacked layer, headers and holes included. Ours: containerd has no
limit but the disk.
"""
MAX_ENTRIES = 1 << 20
"""Files, directories and marks of one layer, each of which takes an inode of the node's
disk: a megabyte of compressed zeroes is two million of them. Ours, again.
"""
MAX_DEPTH = 256
"""Levels of one entry: each is looked at to see whether it is a link. Ours: containerd
takes whatever a path may be long, two thousand levels.
"""
MAX_HEADER = 1024 * 1024
"""Bytes of one header of the archive (a long name, extended attributes). Ours, as Go's
`archive/tar` has it.
"""


class _Archive:
    """What `tarfile` reads from: `data` as it is or decompressed on the way. Raises
    ValueError beyond the limits.
    """

    def __init__(self, data: bytes, limit: int) -> None:
        packed = data[:2] == b"\x1f\x8b"
        raw = io.BytesIO(data)
        self._file: BinaryIO | gzip.GzipFile = (
            gzip.GzipFile(fileobj=raw) if packed else raw
        )
        self._limit = limit

    def read(self, size: int) -> bytes:
        """Contents are read in small pieces, so a large one is a header."""
        if size > MAX_HEADER:
            raise ValueError(
                f"layer has a header of {size} bytes: at most {MAX_HEADER} are allowed"
            )
        self._check(self.tell() + size)
        return self._file.read(size)

    def seek(self, position: int) -> int:
        """Forward only costs what lies between: `tarfile` does not go back."""
        self._check(position)
        return self._file.seek(position)

    def tell(self) -> int:
        """In the decompressed archive."""
        return self._file.tell()

    def _check(self, position: int) -> None:
        if position > self._limit:
            raise ValueError(f"layer is larger than {self._limit} bytes")


def unpack(data: bytes, target: Path, overlay: bool, limit: int = MAX_LAYER) -> None:
    """Into `target`. `overlay`: keep marks for the kernel, else obey them.

    Raises ValueError for a name that leads out and for more than `limit` bytes;
    OSError, EOFError, `zlib.error` and `tarfile.TarError` for what is no archive.
    """
    target.mkdir(parents=True, exist_ok=True)
    left, entries, own = limit, 0, set[Path]()
    with tarfile.open(fileobj=_Archive(data, limit), mode="r:") as archive:  # type: ignore[call-overload]
        while (entry := archive.next()) is not None:
            entries += 1
            if entries > MAX_ENTRIES:
                raise ValueError(f"layer has more than {MAX_ENTRIES} entries")
            left -= entry.size  # holes of a sparse file take no room in the archive
            if left < 0:
                raise ValueError(f"layer is larger than {limit} bytes")
            _one(archive, entry, target, overlay, own)
            archive.members = []  # or it remembers every entry


def _inside(target: Path, name: str) -> Path:
    if name.count("/") > MAX_DEPTH:
        raise ValueError(
            f"layer entry {name[:40]!r}… is deeper than {MAX_DEPTH} levels"
        )
    path = Path(os.path.normpath(target / name.lstrip("/")))
    parent = Path(os.path.realpath(path.parent))
    if path != target and target not in path.parents:
        raise ValueError(f"layer entry {name!r} leads out of the image")
    if parent != target and target not in parent.parents:
        raise ValueError(f"layer entry {name!r} leads out of the image through a link")
    return path


def _one(
    archive: tarfile.TarFile,
    entry: tarfile.TarInfo,
    target: Path,
    overlay: bool,
    own: set[Path],
) -> None:
    """`own`: what this layer has brought so far, with the directories that it is in."""
    path = _inside(target, entry.name)
    if path == target:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.name == OPAQUE:
        if overlay:
            os.setxattr(path.parent, "trusted.overlay.opaque", b"y")
        else:
            for child in [each for each in path.parent.iterdir() if each not in own]:
                _remove(child)
        return
    if path.name.startswith(WHITEOUT):
        name = path.name.removeprefix(WHITEOUT)
        if name in (
            "",
            ".",
            "..",
        ):  # it would take away the directory, or the one above
            raise ValueError(f"invalid whiteout name: {path.name}")
        gone = path.with_name(name)
        _remove(gone)
        if overlay:
            os.mknod(gone, stat.S_IFCHR, os.makedev(0, 0))
        return
    if os.path.lexists(path) and not (
        entry.isdir() and path.is_dir() and not path.is_symlink()
    ):
        _remove(path)
    _make(archive, entry, target, path)
    if not overlay:
        own |= {path, *path.parents}
    os.chown(path, entry.uid, entry.gid, follow_symlinks=False)
    _set_xattrs(path, entry)
    if not path.is_symlink():
        os.chmod(path, entry.mode)
        os.utime(path, (entry.mtime, entry.mtime))


def _set_xattrs(path: Path, entry: tarfile.TarInfo) -> None:
    """Among them a program's capabilities. A file system without any is no error."""
    for key, value in entry.pax_headers.items():
        name = key.removeprefix(PAX_XATTR)
        if name != key and not name.startswith(OVERLAYS_OWN):
            content = value.encode("utf-8", "surrogateescape")
            try:
                os.setxattr(path, name, content, follow_symlinks=False)
            except OSError as error:
                if error.errno != errno.ENOTSUP:
                    raise


def _make(
    archive: tarfile.TarFile, entry: tarfile.TarInfo, target: Path, path: Path
) -> None:
    if entry.isdir():
        path.mkdir(exist_ok=True)
    elif entry.issym():
        path.symlink_to(entry.linkname)
    elif entry.islnk():
        os.link(_inside(target, entry.linkname), path, follow_symlinks=False)
    elif entry.ischr() or entry.isblk():
        kind = stat.S_IFCHR if entry.ischr() else stat.S_IFBLK
        os.mknod(path, entry.mode | kind, os.makedev(entry.devmajor, entry.devminor))
    elif entry.isfifo():
        os.mkfifo(path, entry.mode)
    else:
        content = archive.extractfile(entry)
        assert content is not None
        with path.open("wb") as file:
            shutil.copyfileobj(content, file)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    elif os.path.lexists(path):
        path.unlink()
