"""Layers with all that a layer may hold, laid one over the other: what containerd makes of them, and what we make."""

from __future__ import annotations

import asyncio
import gzip
import io
import os
import stat
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lifecycle.cri.images.layers import unpack
from lifecycle.cri.images.oci_image import PackedLayer, build, digest_of_bytes
from lifecycle.cri.images.registry import Registry, Repository
from tests.conftest import unavailable
from tests.cri.private_containerd import private_containerd, why_not

CAPABILITY = b"\x01\x00\x00\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
"""May bind low ports: what `setcap cap_net_bind_service+ep` writes."""


def entry(
    name: str, content: bytes | None = None, kind: bytes = tarfile.REGTYPE, **more: Any
) -> tuple[tarfile.TarInfo, bytes | None]:
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.mtime = kind, 0o755 if kind == tarfile.DIRTYPE else 0o644, 1_700_000_000
    for key, value in more.items():
        setattr(info, key, value)
    info.size = len(content or b"")
    return info, content


def layer(*entries: tuple[tarfile.TarInfo, bytes | None]) -> PackedLayer:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for info, content in entries:
            archive.addfile(info, None if content is None else io.BytesIO(content))
    data = buffer.getvalue()
    return PackedLayer(digest_of_bytes(data), gzip.compress(data, mtime=0))


def xattr(name: str, value: bytes) -> dict[str, Any]:
    return {"pax_headers": {f"SCHILY.xattr.{name}": value.decode("utf-8", "surrogateescape")}}


LOWEST = layer(
    entry("bin/", kind=tarfile.DIRTYPE, mode=0o750, gid=5),
    entry("bin/tool", b"#!tool", mode=0o4755, uid=7, gid=8),
    entry("bin/other", kind=tarfile.LNKTYPE, linkname="bin/tool", uid=1, mode=0o4711),
    entry("bin/replaced", b"lower"),
    entry("bin/soft", kind=tarfile.SYMTYPE, linkname="/bin/tool", uid=3),
    entry("bin/server", b"binds", **xattr("security.capability", CAPABILITY)),
    entry("etc/noted", b"x", **xattr("user.note", b"by hand \xff")),
    entry("dev/null", kind=tarfile.CHRTYPE, devmajor=1, devminor=3, mode=0o666),
    entry("dev/disk", kind=tarfile.BLKTYPE, devmajor=7, devminor=200, mode=0o660, gid=6),
    entry("run/pipe", kind=tarfile.FIFOTYPE, mode=0o600),
    entry("tmp/", kind=tarfile.DIRTYPE, mode=0o1777),
    *(entry(f"gone/{name}", b"lower") for name in ("a", "b", "kept")),
    entry("opaque/lower", b"lower"),
    entry("late/lower", b"lower"),
    entry("turns/into-directory", b"file"),
    entry("turns/into-file/below", b"x"),
    entry("turns/into-link/below", b"x"),
    entry("same/", kind=tarfile.DIRTYPE, mode=0o700),
    entry("same/kept", b"lower"),
)  # fmt: skip
MIDDLE = layer(
    entry("gone/.wh.a"),
    entry("gone/.wh.never-was"),
    entry("opaque/.wh..wh..opq"),
    entry("opaque/upper", b"upper"),
    entry("late/upper", b"upper"),
    entry("late/.wh..wh..opq"),
    entry("turns/into-directory/", kind=tarfile.DIRTYPE),
    entry("turns/into-directory/below", b"x"),
    entry("turns/into-file", b"file"),
    entry("turns/into-link", kind=tarfile.SYMTYPE, linkname="into-file"),
    entry("same/", kind=tarfile.DIRTYPE, mode=0o711, uid=9),
)  # fmt: skip
UPPER = layer(
    entry("gone/", kind=tarfile.DIRTYPE),
    entry("gone/a", b"again"),
    entry("gone/.wh.b"),
    entry("bin/", kind=tarfile.DIRTYPE, mode=0o750, gid=5),
    entry("bin/replaced", b"newer", mode=0o755),
)
LAYERS = (LOWEST, MIDDLE, UPPER)


def seen(root: Path) -> dict[str, Any]:
    """All that a container would see: of each file what it is, whose, and what is in it."""
    found = {}
    for directory, names, files in os.walk(root):
        for name in (*names, *files):
            path = Path(directory, name)
            info = os.lstat(path)
            found[str(path.relative_to(root))] = {
                "mode": oct(info.st_mode),
                "owner": (info.st_uid, info.st_gid),
                "device": info.st_rdev,
                "links": info.st_nlink if stat.S_ISREG(info.st_mode) else 0,
                "time": info.st_mtime if stat.S_ISREG(info.st_mode) else 0,
                "link": os.readlink(path) if path.is_symlink() else "",
                "content": path.read_bytes() if stat.S_ISREG(info.st_mode) else b"",
                "xattrs": {
                    key: os.getxattr(path, key, follow_symlinks=False)
                    for key in os.listxattr(path, follow_symlinks=False)
                },
            }
    return found


async def of_containerd(folder: Path) -> dict[str, Any]:
    repositories = {"odd": Repository({"1": build(LAYERS, {"Cmd": ["x"]})})}
    async with Registry(repositories) as registry, private_containerd(folder) as client:
        name = registry.name("odd:1")
        await client.pull_image(name)
        mounted = folder / "mounted"
        mounted.mkdir()
        ctr = ["ctr", "--address", str(folder / "containerd.sock"), "--namespace", "k8s.io", "images"]
        done = await asyncio.to_thread(
            subprocess.run, [*ctr, "mount", name, str(mounted)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        try:
            return seen(mounted)
        finally:
            await asyncio.to_thread(
                subprocess.run, ["umount", str(mounted)], check=True
            )  # or it would outlive containerd


@contextmanager
def kept_apart(folder: Path) -> Iterator[Path]:
    """Each layer in a directory of its own, and the kernel lays them over each other."""
    for number, packed in enumerate(LAYERS):
        unpack(packed.compressed, folder / str(number), overlay=True)
    mounted = folder / "mounted"
    mounted.mkdir()
    lower = ":".join(str(folder / str(number)) for number in reversed(range(len(LAYERS))))
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", f"ro,lowerdir={lower}", str(mounted)], check=True)
    try:
        yield mounted
    finally:
        subprocess.run(["umount", str(mounted)], check=True)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if why_not():
        unavailable(why_not())
    return asyncio.run(of_containerd(tmp_path_factory.mktemp("layers")))


def unlike(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """File by file and fact by fact."""
    nothing: dict[str, Any] = {}
    return [
        f"{name} {fact}: {ours.get(name, nothing).get(fact)} for {theirs.get(name, nothing).get(fact)}"
        for name in sorted({*ours, *theirs})
        for fact in ("mode", "owner", "device", "links", "time", "link", "content", "xattrs")
        if ours.get(name, nothing).get(fact) != theirs.get(name, nothing).get(fact)
    ]


def test_layers_laid_over_each_other_by_the_kernel(theirs: dict[str, Any], tmp_path: Path) -> None:
    with kept_apart(tmp_path) as mounted:
        differences = unlike(seen(mounted), theirs)
        assert not differences, "\n".join(differences)


def test_layers_laid_into_one_directory(theirs: dict[str, Any], tmp_path: Path) -> None:
    for packed in LAYERS:
        unpack(packed.compressed, tmp_path / "root", overlay=False)
    differences = unlike(seen(tmp_path / "root"), theirs)
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize("overlay", [True, False])
def test_no_layer_speaks_to_the_overlay_by_itself(tmp_path: Path, overlay: bool) -> None:
    """Ours: a directory that redirects to another one would show what is not the image's."""
    hostile = layer(entry("d/", kind=tarfile.DIRTYPE, **xattr("trusted.overlay.redirect", b"/elsewhere")))
    unpack(hostile.compressed, tmp_path, overlay=overlay)
    assert os.listxattr(tmp_path / "d") == []
