"""`tar` in hollow containers, as `kubectl cp` runs it."""

from __future__ import annotations

import io
import tarfile

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.cri.hollow.commands.files import make_directories
from lifecycle.cri.hollow.commands.tar import tar
from lifecycle.cri.resolv_conf import resolv_conf
from tests.cri.hollow.shell.test_shell import script

TREE = "mkdir -p /tmp/w/d/e /tmp/w/d/empty /tmp/o; cd /tmp/w; echo 1 > d/a; echo 2 > d/e/b; "


def test_what_is_packed_is_unpacked_below_the_directory() -> None:
    assert script(f"{TREE} tar cf - d | tar xmf - -C /tmp/o; cd /tmp/o; cat d/a d/e/b; ls d") == (
        0,
        "1\n2\na\ne\nempty\n",
        "",
    )
    assert script(f"{TREE} tar cf - d | tar -xmf - -C /tmp/o; cat /tmp/o/d/a")[1] == "1\n"
    assert script(f"{TREE} tar -c -f - d/a d/e/b | tar -x -f - -C /tmp/o; ls /tmp/o/d")[1] == "a\ne\n"
    assert script(f"{TREE} tar -C d -cf - a | tar xf - -C /tmp/o; ls /tmp/o")[1] == "a\n"
    assert script(f"{TREE} tar cf - d/a | tar xf - ; cat d/a")[1] == "1\n", "without -C below where one is"


def test_a_path_from_the_root_is_packed_without_its_slash() -> None:
    assert script(f"{TREE} tar cf - /tmp/w/d/a | tar xf - -C /tmp/o; cat /tmp/o/tmp/w/d/a") == (0, "1\n", "")


def test_options_about_owners_and_modes_are_passed_over() -> None:
    options = "--no-same-permissions --no-same-owner --warning=no-unknown-keyword"
    assert script(f"{TREE} tar cf - d | tar {options} -xpof - -C /tmp/o; cat /tmp/o/d/a") == (0, "1\n", "")


def test_what_is_not_there_is_said_and_the_rest_is_packed() -> None:
    text = f"{TREE} tar cf - nope d/a > t; echo $?; tar xf - -C /tmp/o < t; cat /tmp/o/d/a"
    assert script(text) == (0, "1\n1\n", "tar: nope: No such file or directory\n")
    code, out, _ = script(f"{TREE} tar cf - nope")
    assert (code, out) == (1, ""), "no archive at all: an empty one would be a success"


def test_what_is_no_archive_is_refused() -> None:
    code, _, err = script("echo no archive | tar xf - -C /tmp")
    assert code == 1
    assert err.startswith("tar: ")


@pytest.mark.parametrize(
    "words", ["tf - d", "czf - d", "cf file d", "xf - d", "cf -", "cxf - d", "c d", "--help", "xf file"]
)
def test_other_ways_to_call_it_are_not_played(words: str) -> None:
    code, _, err = script(f"{TREE} tar {words}")
    assert code != 0
    assert "not run" in err


class Files:
    """A container's files; only those that were opened and made."""

    def __init__(self) -> None:
        self.kinds = {"/": "directory", "/o": "directory"}
        self.written: dict[str, bytes] = {}

    async def kind(self, path: str) -> str:
        return self.kinds.get(path, "")

    async def make_directory(self, path: str) -> None:
        self.kinds[path] = "directory"

    async def open(self, path: str, append: bool = False):
        self.kinds[path] = "file"
        return lambda data: self.written.__setitem__(path, data)


class Process:
    """As much of a process as `tar` asks for."""

    def __init__(self, archive: bytes, *argv: str) -> None:
        self.argv, self.cwd, self.files = ("tar", *argv), "/o", Files()
        self.complaints: list[str] = []
        self._archive = archive

    @property
    def stdin(self):
        return self

    async def read_all(self) -> bytes:
        return self._archive

    def complain(self, text: str) -> None:
        self.complaints.append(text)


def archive(*members: tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as written:
        for member in members:
            written.addfile(member, io.BytesIO(b"x" * member.size))
    return buffer.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, size: int = 1) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, size if kind == tarfile.REGTYPE else 0
    return info


@pytest.mark.parametrize("name", ["../x", "a/../../x", "../oo/x"])
def test_nothing_is_unpacked_outside_of_the_directory(name: str) -> None:
    process = Process(archive(member("in"), member(name)), "xf", "-")
    assert run_virtual(tar(process)) == 1  # type: ignore[arg-type]
    assert process.complaints == [f"tar: {name} leads out of the directory"]
    assert process.files.written == {"/o/in": b"x"}


def test_a_link_is_refused_and_directories_are_made_on_the_way() -> None:
    process = Process(
        archive(member(".", tarfile.DIRTYPE), member("a/b/c"), member("link", tarfile.SYMTYPE)), "xf", "-"
    )
    assert run_virtual(tar(process)) == 1  # type: ignore[arg-type]
    assert process.complaints == ["tar: link: links are not kept here"]
    assert process.files.kinds["/o/a/b"] == "directory"
    assert process.files.written["/o/a/b/c"] == b"x"
    run_virtual(make_directories(process, "/p/q", parents=True))  # type: ignore[arg-type]
    assert {"/p", "/p/q"} <= process.files.kinds.keys()


def test_a_resolver_file_has_only_the_lines_that_say_something() -> None:
    assert resolv_conf({}) == ""
    assert resolv_conf({"searches": ["a", "b"], "servers": ["1", "2"], "options": ["x", "y"]}) == (
        "search a b\nnameserver 1\nnameserver 2\noptions x y\n"
    )
    assert resolv_conf({"searches": [], "servers": None, "options": []}) == ""
