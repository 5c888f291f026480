"""Unpacking a layer: files to add, and marks for those of lower layers that are to
disappear.

A layer says "gone" with an empty file `.wh.NAME`, and "nothing below counts" with
`.wh..wh..opq` in a directory. The kernel's overlay says the same with a character
device 0,0 and with an extended attribute. Where an overlay cannot be mounted, layers
are unpacked one over the other, and the marks are obeyed on the spot.

A layer comes from a stranger: names that lead out of the directory are refused.

Upstream: OCI image-spec `layer.md`; containerd `pkg/archive/tar.go`,
`whiteout_linux.go`.
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import stat
import tarfile
from pathlib import Path

WHITEOUT = ".wh."
OPAQUE = ".wh..wh..opq"


def unpack(data: bytes, target: Path, overlay: bool) -> None:
    """Into `target`. `overlay`: keep marks for the kernel, else obey them. Raises
    ValueError for a name that leads out.
    """
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    target.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for entry in archive:
            _one(archive, entry, target, overlay)


def _inside(target: Path, name: str) -> Path:
    path = Path(os.path.normpath(target / name.lstrip("/")))
    parent = Path(os.path.realpath(path.parent))
    if path != target and target not in path.parents:
        raise ValueError(f"layer entry {name!r} leads out of the image")
    if parent != target and target not in parent.parents:
        raise ValueError(f"layer entry {name!r} leads out of the image through a link")
    return path


def _one(
    archive: tarfile.TarFile, entry: tarfile.TarInfo, target: Path, overlay: bool
) -> None:
    path = _inside(target, entry.name)
    if path == target:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.name == OPAQUE:
        if overlay:
            os.setxattr(path.parent, "trusted.overlay.opaque", b"y")
        else:
            for child in list(path.parent.iterdir()):
                _remove(child)
        return
    if path.name.startswith(WHITEOUT):
        gone = path.with_name(path.name.removeprefix(WHITEOUT))
        _remove(gone)
        if overlay:
            os.mknod(gone, stat.S_IFCHR, os.makedev(0, 0))
        return
    if os.path.lexists(path) and not (
        entry.isdir() and path.is_dir() and not path.is_symlink()
    ):
        _remove(path)
    _make(archive, entry, target, path)
    if entry.islnk():
        return
    os.chown(path, entry.uid, entry.gid, follow_symlinks=False)
    if not entry.issym():
        os.chmod(path, entry.mode)
        os.utime(path, (entry.mtime, entry.mtime))


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
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()
