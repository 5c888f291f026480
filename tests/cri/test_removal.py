"""Directories of which somebody else has made as many, and as deep, as there are: they go, and nothing else does."""

from __future__ import annotations

import io
import os
import resource
import tarfile
from contextlib import nullcontext
from pathlib import Path

import pytest

from lifecycle.cri.disk_usage import disk_usage
from lifecycle.cri.images.layers import MAX_DEPTH, unpack
from lifecycle.cri.images.oci_image import File, layer
from lifecycle.cri.removal import remove_tree
from lifecycle.kubelet.volume.ownership import set_volume_ownership
from tests.conftest import unavailable

DEEP = 2_100
"""Levels: more than Python's stack, than a path's 4,096 bytes, and than a process may have files open."""


def deep(path: Path, levels: int) -> None:
    """As a container does it: each directory made and entered from the one above."""
    path.mkdir()
    here = os.open(path, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=here))
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def entry_of(name: str) -> bytes:
    """A layer with one file, and no word of the directories above it."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.size = 1
        archive.addfile(info, io.BytesIO(b"x"))
    return file.getvalue()


def test_a_tree_deeper_than_any_path_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep(tmp_path / "tree", DEEP)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = len(os.listdir("/dev/fd")) + 8
    resource.setrlimit(resource.RLIMIT_NOFILE, (few, hard))
    try:
        remove_tree(tmp_path / "tree")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert list(tmp_path.iterdir()) == []
    remove_tree(tmp_path / "tree")  # again does no harm


def test_names_that_are_numbers_are_nobodys_way(tmp_path: Path) -> None:
    for name in ("0/1/0", "1/0", "2/2/2", "3"):
        (tmp_path / "tree" / name).mkdir(parents=True)
    (tmp_path / "tree/4").touch()
    remove_tree(tmp_path / "tree")
    assert list(tmp_path.iterdir()) == []


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/precious").touch()
    (tmp_path / "tree/d").mkdir(parents=True)
    for name in ("link", "d/link"):
        (tmp_path / "tree" / name).symlink_to(tmp_path / "outside")
    remove_tree(tmp_path / "tree")
    (tmp_path / "tree").symlink_to(tmp_path / "outside")
    with pytest.raises(OSError, match="tree"):
        remove_tree(tmp_path / "tree")
    assert (tmp_path / "outside/precious").exists()


def test_what_is_mounted_below_stays(tmp_path: Path) -> None:
    if os.geteuid():
        unavailable("root, for mounting")
    from lifecycle.cri.sandbox import syscalls

    (tmp_path / "precious").mkdir()
    (tmp_path / "precious/file").touch()
    for place in ("tree/a", "tree/b/c"):
        (tmp_path / place).mkdir(parents=True)
        try:
            syscalls.mount(str(tmp_path / "precious"), str(tmp_path / place), flags=syscalls.MS_BIND)
        except PermissionError:
            unavailable("the right to mount")
    (tmp_path / "tree/z").touch()
    try:
        with pytest.raises(OSError, match=r"busy: 'a' -> '\d'$"):
            remove_tree(tmp_path / "tree")
        assert (tmp_path / "precious/file").exists()
        assert not (tmp_path / "tree/z").exists()  # the rest goes all the same
    finally:
        for line in Path("/proc/self/mounts").read_text().splitlines():
            if line.split()[1].startswith(f"{tmp_path}/"):
                syscalls.umount(line.split()[1])
    remove_tree(tmp_path / "tree")


def test_a_layer_deeper_than_it_can_be_looked_at_is_refused(tmp_path: Path) -> None:
    """Every level of every entry is: with paths as long as they can be, a layer takes hours."""
    for levels, kept in ((MAX_DEPTH, True), (MAX_DEPTH + 1, False)):
        with (
            nullcontext()
            if kept
            else pytest.raises(
                ValueError, match=r"layer entry 'd/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/'… is deeper than 256 levels$"
            )
        ):
            unpack(entry_of("d/" * levels + "f"), tmp_path / str(levels), overlay=False)
    assert (tmp_path / "256" / ("d/" * MAX_DEPTH) / "f").read_bytes() == b"x"
    unpack(layer({".wh.d": File()}), tmp_path / "256", overlay=False)
    assert list((tmp_path / "256").iterdir()) == []


def test_a_layer_of_too_many_entries_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lifecycle.cri.images.layers.MAX_ENTRIES", 3)
    unpack(layer({name: File() for name in "abc"}), tmp_path / "a", overlay=False)
    with pytest.raises(ValueError, match=r"layer has more than 3 entries$"):
        unpack(layer({name: File() for name in "abcd"}), tmp_path / "b", overlay=False)


def test_a_deep_volume_is_given_to_a_group_and_measured(tmp_path: Path) -> None:
    deep(tmp_path / "v", 1_100)
    try:
        last = tmp_path / "v" / "/".join("d" * 1_100)
        (last / "deepest").write_bytes(bytes(10_000))
        assert set_volume_ownership(tmp_path / "v", os.getgid(), read_only=False)
        assert disk_usage(tmp_path / "v") >= 10_000
        assert last.stat().st_mode & 0o2770 == 0o2770
    finally:
        remove_tree(tmp_path / "v")  # who finds it later could not
