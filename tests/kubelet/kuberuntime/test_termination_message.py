"""A container's last words: from its file, or from the end of its log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lifecycle.cri.apis.container import ContainerMetadata, ContainerState, ContainerStatus
from lifecycle.kubelet.kuberuntime.termination_message import (
    PATH,
    POLICY,
    read_at_most,
    termination_message,
    with_message,
)

TARGET = "/dev/termination-log"


def nothing(path: str) -> bytes:
    raise FileNotFoundError(path)


def ended(
    file: str, *, code: int = 1, fall_back: bool = False, message: str = "", log: str = "/no/log", **more: Any
) -> ContainerStatus:
    policy = "FallbackToLogsOnError" if fall_back else "File"
    mounts = ({"container_path": "/data", "host_path": "/else"}, {"container_path": TARGET, "host_path": file})
    return ContainerStatus(
        "id", "sandbox", ContainerMetadata("c", 0), more.pop("state", ContainerState.EXITED), 0, "image", "ref",
        exit_code=code, message=message, log_path=log, mounts=mounts,
        annotations=more.pop("annotations", {PATH: TARGET, POLICY: policy}),
    )  # fmt: skip


def line(text: str, tag: str = "F") -> bytes:
    return f"2026-01-01T00:00:00.000000000Z stdout {tag} {text}\n".encode()


@pytest.mark.parametrize(("size", "read"), [(3, b"cde"), (5, b"abcde"), (9, b"abcde"), (0, b"")])
def test_of_a_file_the_end_is_read(tmp_path: Path, size: int, read: bytes) -> None:
    (tmp_path / "file").write_bytes(b"abcde")
    assert read_at_most(str(tmp_path / "file"), size) == read


def test_the_file_at_the_containers_path_is_read(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("out of luck")
    assert termination_message(ended(str(tmp_path / "words")), nothing) == "out of luck"


def test_of_a_long_message_the_last_4096_bytes_are_kept(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("a" + "b" * 4096)
    assert termination_message(ended(str(tmp_path / "words")), nothing) == "b" * 4096
    assert termination_message(ended("/not/here"), lambda path: b"c" + b"d" * 4096) == "d" * 4096


def test_a_file_that_only_the_runtime_has_is_asked_of_it() -> None:
    asked = []

    def read_log(path: str) -> bytes:
        asked.append(path)
        return b"of paper"

    assert termination_message(ended("/not/here"), read_log) == "of paper"
    assert asked == ["/not/here"]


def test_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "words").write_bytes(b"a\xffb")
    assert termination_message(ended(str(tmp_path / "words")), nothing) == "a\ufffdb"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    words = f"Error on reading termination log {tmp_path}: Is a directory"
    assert termination_message(ended(str(tmp_path), fall_back=True), nothing) == words

    def broken(path: str) -> bytes:
        raise OSError("the runtime is gone")

    words = "Error on reading termination log /not/here: the runtime is gone"
    assert termination_message(ended("/not/here"), broken) == words


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"fall_back": True}, "said\n"),
        ({"fall_back": True, "code": 0}, ""),
        ({"fall_back": False}, ""),
        ({"annotations": {POLICY: "FallbackToLogsOnError"}}, "said\n"),
    ],
)
def test_who_failed_without_a_word_is_quoted_from_the_log(tmp_path: Path, more: Any, words: str) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "log").write_bytes(line("said"))
    for file in (str(tmp_path / "empty"), "/not/here"):
        assert termination_message(ended(file, log=str(tmp_path / "log"), **more), nothing) == words


def test_words_of_its_own_count_more_than_the_log(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("own")
    (tmp_path / "log").write_bytes(line("said"))
    status = ended(str(tmp_path / "words"), fall_back=True, log=str(tmp_path / "log"))
    assert termination_message(status, nothing) == "own"


def test_of_a_log_the_last_80_lines_and_2048_bytes_are_quoted(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"".join(line(f"{n:02}") for n in range(90)))
    quoted = termination_message(ended("/not/here", fall_back=True, log=str(log)), nothing)
    assert quoted == "".join(f"{n:02}\n" for n in range(10, 90))
    log.write_bytes(b"".join(line("x" * 99) for _ in range(80)))
    quoted = termination_message(ended("/not/here", fall_back=True, log=str(log)), nothing)
    assert (len(quoted), quoted[-101:]) == (2048, "\n" + "x" * 99 + "\n")


def test_pieces_of_a_line_are_put_together(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(line("half", "P") + line(" and half") + line("rest", "P"))
    status = ended("/not/here", fall_back=True, log=str(tmp_path / "log"))
    assert termination_message(status, nothing) == "half and half\nrest"


def test_a_log_that_is_not_there_says_nothing_and_one_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    assert termination_message(ended("/not/here", fall_back=True), nothing) == ""
    words = termination_message(ended("/not/here", fall_back=True, log=str(tmp_path)), nothing)
    assert words == f"Error reading termination message from logs: [Errno 21] Is a directory: '{tmp_path}'"


@pytest.mark.parametrize(("runtimes", "both"), [("", "own"), ("OOM", "OOM: own")])
def test_the_words_stand_behind_those_of_the_runtime(tmp_path: Path, runtimes: str, both: str) -> None:
    (tmp_path / "words").write_text("own")
    status = ended(str(tmp_path / "words"), message=runtimes)
    told = with_message(status, nothing)
    assert told.message == both
    assert (told.id, told.exit_code, told.annotations) == (status.id, status.exit_code, status.annotations)


def test_who_runs_or_has_no_path_or_no_words_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("own")
    running = ended(str(tmp_path / "words"), state=ContainerState.RUNNING)
    pathless = ended(str(tmp_path / "words"), annotations={})
    silent = ended("/not/here")
    for status in (running, pathless, silent):
        assert with_message(status, nothing) is status
