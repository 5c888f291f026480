"""Files of a volume: where they were asked for, as they were asked for."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from lifecycle.kubelet.volume.atomic_writer import AtomicWriter, FileProjection


def test_files_have_their_rights_and_owner_and_are_written_once(tmp_path: Path) -> None:
    user = 7 if os.getuid() == 0 else os.getuid()  # only root gives files away
    files = {"a/x": FileProjection(b"x", 0o400, user), "y": FileProjection(b"y", 0o644)}
    writer = AtomicWriter(tmp_path)
    assert [writer.write(files, 0.0) for _ in range(2)] == [True, False]
    paths = [tmp_path / name for name in files]
    found = [(path.read_bytes(), (stat := path.stat()).st_mode & 0o777, stat.st_uid) for path in paths]
    assert found == [(b"x", 0o400, user), (b"y", 0o644, os.getuid())]
    assert {path.stat().st_gid for path in paths} == {os.getgid()}, "no group's"


NO_PATHS = {
    "a/" * 2049: "must be less than or equal to 4096 characters",
    "b" * 256: "filenames must be less than or equal to 255 characters",
    "../c": "must not contain '..': ../c",
    "a/../../c": "must not contain '..': a/../../c",
    "a/../c": "must not contain '..': a/../c",
    "a/..": "must not contain '..': a/..",
    "..": "must not contain '..': ..",
    "..data/c": "must not start with '..': ..data/c",
    "": "must not be empty: ''",
    "a/" + "b" * 256 + "/c": "filenames must be less than or equal to 255 characters",
    "..c": "must not start with '..': ..c",
    "/c": "must be relative path: /c",
}


@pytest.mark.parametrize("path", NO_PATHS, ids=[f"{number} {said}" for number, said in enumerate(NO_PATHS.values())])
def test_a_path_that_leads_out_of_it_or_is_too_long_is_refused_and_nothing_is_written(
    path: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=re.escape(f"invalid path: {NO_PATHS[path]}") + "$"):
        AtomicWriter(tmp_path).write({path: FileProjection(b"y", 0o644)}, 0.0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "path", ["a..b", "a/..b", "c...", "b" * 255, "d" * 200 + "/" + "e" * 200, ".c", "a/.../c", "a//c"]
)
def test_dots_within_a_name_lead_nowhere(path: str, tmp_path: Path) -> None:
    assert AtomicWriter(tmp_path).write({path: FileProjection(b"y", 0o644)}, 0.0)
    assert (tmp_path / path).read_bytes() == b"y"


def test_until_the_new_files_are_there_each_name_leads_to_the_old_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the moment of the change: whoever reads finds all of the old, and then all of the new."""
    writer, seen = AtomicWriter(tmp_path), list[dict[str, str]]()

    def readable() -> dict[str, str]:
        return {path.name: path.read_text() for path in tmp_path.iterdir() if not path.name.startswith("..")}

    writer.write({"a": FileProjection(b"1", 0o644), "b": FileProjection(b"1", 0o644)}, 0.0)
    rename = os.rename

    def renamed(one: Path, other: Path) -> None:
        seen.append(readable())
        rename(one, other)
        seen.append({name: (tmp_path / "..data" / name).read_text() for name in ("a", "c")})

    monkeypatch.setattr(os, "rename", renamed)
    writer.write({"a": FileProjection(b"2", 0o644), "c": FileProjection(b"2", 0o644)}, 1.0)
    assert seen == [{"a": "1", "b": "1"}, {"a": "2", "c": "2"}]
    assert readable() == {"a": "2", "c": "2"}


def test_what_cannot_be_written_whole_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or there would be one more copy for each try; and what was there stays."""
    writer = AtomicWriter(tmp_path)
    assert writer.write({"a": FileProjection(b"1", 0o644)}, 0.0) is True
    before = sorted(path.name for path in tmp_path.iterdir())

    def full() -> None:
        raise OSError(28, "No space left on device")

    for moment in (1.0, 2.0):
        with pytest.raises(OSError, match=r"No space left on device$"):
            writer.write({"a": FileProjection(b"2", 0o644), "b": FileProjection(b"2", 0o644)}, moment, full)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert (tmp_path / "a").read_bytes() == b"1"
