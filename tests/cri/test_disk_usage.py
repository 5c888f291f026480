"""A directory's size on its disk: blocks, each file once, nothing that is mounted below."""

from __future__ import annotations

import os
from pathlib import Path

from lifecycle.cri.disk_usage import disk_usage

KiB = 1024


def grown(path: Path, kibibytes: int) -> Path:
    path.write_bytes(os.urandom(kibibytes * KiB))
    with path.open("rb") as file:
        os.fsync(file.fileno())  # a file that is not on the disk yet may have no blocks
    return path


def test_what_is_not_there_takes_nothing(tmp_path: Path) -> None:
    assert disk_usage(tmp_path / "none") == 0


def test_files_count_by_their_blocks(tmp_path: Path) -> None:
    empty = disk_usage(tmp_path)
    grown(tmp_path / "file", 64)
    assert disk_usage(tmp_path) - empty == 64 * KiB
    (tmp_path / "below").mkdir()
    folder = disk_usage(tmp_path / "below")
    grown(tmp_path / "below" / "file", 128)
    assert disk_usage(tmp_path) - empty == 192 * KiB + folder


def test_a_file_with_two_names_counts_once(tmp_path: Path) -> None:
    grown(tmp_path / "file", 64)
    before = disk_usage(tmp_path)
    (tmp_path / "again").hardlink_to(tmp_path / "file")
    assert disk_usage(tmp_path) == before


def test_a_hole_takes_no_room(tmp_path: Path) -> None:
    before = disk_usage(tmp_path)
    with (tmp_path / "hole").open("wb") as file:
        file.truncate(1 << 30)
    assert disk_usage(tmp_path) == before


def test_a_link_is_not_what_it_leads_to(tmp_path: Path) -> None:
    elsewhere, here = tmp_path / "elsewhere", tmp_path / "here"
    elsewhere.mkdir()
    here.mkdir()
    before = disk_usage(here)
    grown(elsewhere / "file", 64)
    (here / "file").symlink_to(elsewhere / "file")
    (here / "folder").symlink_to(elsewhere)
    assert disk_usage(here) - before <= 8 * KiB  # at most the links' own
