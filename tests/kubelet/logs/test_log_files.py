"""Where a container's log is, and by which other name it is found."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from lifecycle.cri.apis.pod_sandbox import PodSandboxMetadata
from lifecycle.kubelet.logs.files import (
    ContainerLogs,
    LogsOfTheRuntime,
    RealLogFile,
    container_log_path,
    link_log,
    log_symlink,
    pod_logs_directory,
    remove_dead_links,
)

POD = {"metadata": {"name": "web", "namespace": "shop", "uid": "u1"}}


def test_each_pod_has_a_directory_and_each_run_a_file() -> None:
    assert pod_logs_directory(POD) == "/var/log/pods/shop_web_u1"
    assert pod_logs_directory(POD, "/logs") == "/logs/shop_web_u1"
    assert container_log_path("c", 2) == "c/2.log"


def test_the_flat_name_says_whose_it_is() -> None:
    assert log_symlink(POD, "c", "abc") == "/var/log/containers/web_shop_c-abc.log"
    assert log_symlink(POD, "c", "abc", "/flat") == "/flat/web_shop_c-abc.log"


def test_a_flat_name_is_no_longer_than_a_file_system_takes() -> None:
    name = log_symlink(POD, "c", "x" * 300, "/flat").removeprefix("/flat/")
    assert len(name) == 255
    assert name == "web_shop_c-" + "x" * 240 + ".log"


def test_a_link_from_an_earlier_life_is_replaced(tmp_path: Path) -> None:
    link = tmp_path / "new" / "flat.log"
    for target in ("first", "second"):
        link_log(str(tmp_path / target), str(link))
        assert link.readlink() == tmp_path / target
    assert list(link.parent.iterdir()) == [link]


def test_only_links_that_lead_nowhere_are_removed(tmp_path: Path) -> None:
    (tmp_path / "file.log").touch()
    (tmp_path / "alive.log").symlink_to(tmp_path / "file.log")
    for name in ("dead.log", "a.log", "dead.txt"):
        (tmp_path / name).symlink_to(tmp_path / "nothing")
    assert remove_dead_links(str(tmp_path)) == ["a.log", "dead.log"]
    assert {path.name for path in tmp_path.iterdir()} == {"file.log", "alive.log", "dead.txt"}


@pytest.mark.parametrize("links", [True, False])
def test_a_nodes_own_directories_come_and_go_with_the_pod(tmp_path: Path, links: bool) -> None:
    logs = ContainerLogs(str(tmp_path / "pods"), str(tmp_path / "flat") if links else "")
    for _ in range(2):
        logs.make_directory(POD)
        logs.make_directory(POD, "c")
    folder = tmp_path / "pods" / "shop_web_u1"
    assert [path.name for path in folder.iterdir()] == ["c"]
    assert stat.S_IMODE((folder / "c").stat().st_mode) == 0o755
    (folder / "c" / "0.log").write_text("line\n")
    logs.link(POD, "c", "abc", "c/0.log")
    flat = tmp_path / "flat" / "web_shop_c-abc.log"
    assert flat.exists() is links
    if links:
        assert flat.read_text() == "line\n"
    for _ in range(2):
        logs.remove(PodSandboxMetadata("web", "u1", "shop", 0))
    assert not folder.exists()
    assert not flat.is_symlink()


def test_where_the_runtime_keeps_logs_nothing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    logs = LogsOfTheRuntime()
    logs.make_directory(POD, "c")
    logs.link(POD, "c", "abc", "c/0.log")
    logs.remove(PodSandboxMetadata("web", "u1", "shop", 0))
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_read_from_any_place(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"abcdef")
    file = RealLogFile(str(tmp_path / "log"))
    assert (file.read(), file.read(2), file.read(2, 3), file.read(1, 0), file.size()) == (
        b"abcdef",
        b"cdef",
        b"cde",
        b"",
        6,
    )
    with pytest.raises(FileNotFoundError):
        RealLogFile(str(tmp_path / "none")).size()
