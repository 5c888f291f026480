"""A piece of a volume: what a container does to the volume meanwhile leads nowhere, and what is in it outlives the pod."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from lifecycle.kubelet.volume.empty_dir import LinuxMounter, NotedMounter
from lifecycle.kubelet.volume.payloads import VolumeError
from lifecycle.kubelet.volume.subpath import SubpathError, clean_subpaths, prepare_safe_subpath
from tests.conftest import unavailable


def volume_in(tmp_path: Path) -> Path:
    volume = tmp_path / "volume"
    (volume / "a/b").mkdir(parents=True)
    (volume / "a/b/file").write_text("mine")
    (tmp_path / "machine/b").mkdir(parents=True)
    (tmp_path / "machine/b/file").write_text("the machine's")
    return volume


def exchanged(monkeypatch: pytest.MonkeyPatch, volume: Path, what: str, link: Path) -> None:
    """From the moment on at which the way has been looked up, `what` is a link."""
    look_up = os.path.realpath

    def realpath(path: Path) -> str:
        found = look_up(path)
        if found != str(volume) and not (volume / what).is_symlink():
            (volume / what).rename(volume / "away")
            (volume / what).symlink_to(link)
        return found

    monkeypatch.setattr("os.path.realpath", realpath)


@pytest.mark.parametrize("what", ["a", "a/b", "a/b/file"])
def test_a_directory_that_becomes_a_link_meanwhile_is_refused(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    volume, mounter = volume_in(tmp_path), NotedMounter()
    exchanged(monkeypatch, volume, what, tmp_path / "machine" / what.removeprefix("a").lstrip("/"))
    with pytest.raises(SubpathError):
        prepare_safe_subpath(volume, "a/b/file", tmp_path / "place", mounter)
    assert mounter.binds == {}


def test_nothing_is_made_where_a_link_leads_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    volume = volume_in(tmp_path)
    exchanged(monkeypatch, volume, "a", tmp_path / "machine")
    with pytest.raises(SubpathError):
        prepare_safe_subpath(volume, "a/new/er", tmp_path / "place", NotedMounter())
    assert sorted(path.name for path in (tmp_path / "machine").iterdir()) == ["b"]


def test_what_does_not_exist_is_made_with_the_volumes_permissions(tmp_path: Path) -> None:
    volume, mounter = volume_in(tmp_path), NotedMounter()
    volume.chmod(0o2775)
    prepare_safe_subpath(volume, "new/er", tmp_path / "place", mounter)
    assert [stat.S_IMODE((volume / name).stat().st_mode) for name in ("new", "new/er")] == [0o2775] * 2
    assert mounter.binds == {tmp_path / "place": volume / "new/er"}


def test_a_link_inside_the_volume_is_followed_and_one_that_leads_out_is_not(tmp_path: Path) -> None:
    volume, mounter = volume_in(tmp_path), NotedMounter()
    (volume / "in").symlink_to("a")
    (volume / "out").symlink_to(tmp_path / "machine")
    prepare_safe_subpath(volume, "in/b", tmp_path / "place", mounter)
    assert mounter.binds == {tmp_path / "place": volume / "a/b"}
    with pytest.raises(SubpathError):
        prepare_safe_subpath(volume, "out/b", tmp_path / "other", mounter)


def bound(tmp_path: Path, subpath: str) -> tuple[Path, Path]:
    """The place, really mounted, and the places of all."""
    if os.geteuid():
        unavailable("root, for mounting")
    place = tmp_path / "subpaths/v/c/0"
    try:
        prepare_safe_subpath(tmp_path / "volume", subpath, place, LinuxMounter())
    except VolumeError as error:
        unavailable(f"the right to mount: {error}")
    return place, tmp_path / "subpaths"


@pytest.mark.parametrize("subpath", ["a", "a/b/file"])
def test_a_volumes_contents_stay_when_the_pod_goes(subpath: str, tmp_path: Path) -> None:
    volume = volume_in(tmp_path)
    (volume / "a/link").symlink_to("/etc")
    place, places = bound(tmp_path, subpath)
    try:
        assert place.samefile(volume / subpath)
    finally:
        clean_subpaths(places, LinuxMounter())
    assert not places.exists()
    assert (volume / "a/b/file").read_text() == "mine"
    assert (volume / "a/link").is_symlink()


def test_what_is_mounted_is_what_was_looked_at_not_what_its_path_means_by_then(tmp_path: Path) -> None:
    """The last moment: between the look and the mount."""
    volume = volume_in(tmp_path)

    class Late(LinuxMounter):
        def bind(self, source: Path, target: Path, opened: int) -> None:
            (volume / "a").rename(volume / "away")
            (volume / "a").symlink_to(tmp_path / "machine")
            super().bind(source, target, opened)

    if os.geteuid():
        unavailable("root, for mounting")
    place = tmp_path / "subpaths/v/c/0"
    try:
        try:
            prepare_safe_subpath(volume, "a/b", place, Late())
        except VolumeError as error:
            unavailable(f"the right to mount: {error}")
        assert (place / "file").read_text() == "mine"
    finally:
        clean_subpaths(tmp_path / "subpaths", LinuxMounter())
