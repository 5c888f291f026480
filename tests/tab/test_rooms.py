"""The tests on virtual time, run by Python in WebAssembly: the same code, no fork.

Of each room that has tests on virtual time those files are asked; of one that has none,
and needs no machine, all files. What a test needs and a tab lacks is told by the test
itself, when it comes to use it (`inside.py`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tab.bundle import package_files, run_in_node, write_archive
from tab.libraries import TESTING, files_of

from tests.conftest import ROOT
from tests.tab import hypothesis_wheel, inside

PARTS = {
    "the API server": ("apiserver",),
    "what acts on its objects": ("controllers", "scheduler", "trace", "inspector", "claims", "exercises", "faults"),
    "the node": ("kubelet", "cri", "cni", "proxy", "dns", "etcd", "kubectl", "cli"),
    "the whole": (
        "agreements",
        "api",
        "chaos",
        "client",
        "cluster",
        "compare",
        "differential",
        "historical",
        "linearizability",
        "playground",
        "pytest_plugin",
    ),
}
"""Each is a process of its own: a part of the rooms."""

ON_A_MACHINE = {
    "book": "the built site, Sphinx and a browser",
    "clients": "other people's programs",
    "conformance": "Kubernetes' own test program",
    "figures": "pictures, which matplotlib draws",
    "fuzz_http": "an attacker at a socket",
    "generators": "the checkout's sources of data",
    "live": "a cluster with sockets, or a real one",
    "mutants": "processes that run the tests of a broken copy",
    "notebooks": "Jupyter's kernels",
    "tab": "Node, to run these",
}
"""Rooms of which nothing is asked in a tab, and what they are about."""

FILES_ON_A_MACHINE = {
    "cli/run/": "programs that listen, each in a process",
    "cli/test_up.py": "a program that is sent signals",
    "cli/test_help.py": "a terminal",
    "cli/test_iptables_save.py": "a loop on real time",
    "cli/test_refusals.py": "a program that is interrupted",
    "cli/test_what_components_are_told.py": "programs that are sent signals",
    "cli/test_words_in_full.py": "a terminal",
    "faults/test_command_line.py": "programs, each forked from one that is loaded",
}
"""The same of single files, or of folders of them."""

ON_VIRTUAL_TIME = ("run_virtual", "rehearse", "on_virtual_time", "VirtualTimeLoop")
FEWEST = {"the API server": 280, "what acts on its objects": 420, "the node": 560, "the whole": 250}
"""Tests that pass there; fewer means that something is no longer asked."""
MOST_MISSING = 0.25
"""Of all that are asked, those that need what is missing."""


def plays_on_virtual_time(file: Path) -> bool:
    return any(word in file.read_text() for word in ON_VIRTUAL_TIME)


def chosen(room: str) -> list[Path]:
    """The files of a room that are asked."""
    top = ROOT / "tests"
    files = [
        file
        for file in sorted((top / room).rglob("test_*.py"))
        if not str(file.relative_to(top)).startswith(tuple(FILES_ON_A_MACHINE))
    ]
    return [file for file in files if plays_on_virtual_time(file)] or files


def rooms_of_tests() -> set[str]:
    return {file.relative_to(ROOT / "tests").parts[0] for file in (ROOT / "tests").glob("*/**/test_*.py")}


def ask(part: str, folder: Path) -> dict[str, Any]:
    """What happened in the tab."""
    names = [str(file.relative_to(ROOT)) for room in PARTS[part] for file in chosen(room)]
    (folder / "files.txt").write_text("\n".join(names))
    testing = [found for library in TESTING for found in files_of(library)]
    in_page = [(f"tab/{name}", ROOT / "tab" / name) for name in ("__init__.py", "in_page.py")]
    package = [
        (name, file) for name, file in package_files() if not name.startswith("book/")
    ]  # all of it is seen below
    files = [*package, *testing, *hypothesis_wheel.files(folder / "wheel"), *in_page]
    archive = folder / "rooms.tar"
    write_archive(archive, [*files, ("files.txt", folder / "files.txt"), ("_toc.yml", ROOT / "_toc.yml")])
    code = "from tests.tab import inside\ninside.main()"
    seen = {f"/book/{name}": ROOT / name for name in ("book", "recordings", "tests")}
    out = run_in_node(code, [archive], seen=seen, timeout=880)
    told = [line for line in out.splitlines() if line.startswith('{"untrue"')]
    assert told, out[-6000:]
    result: dict[str, Any] = json.loads(told[-1])
    assert result["code"] == 0, out.partition('{"untrue"')[0][-6000:]
    return result


@pytest.mark.real
@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", PARTS)
def test_a_part_works_in_a_tab(part: str, tmp_path: Path) -> None:
    result = ask(part, tmp_path)
    assert result["untrue"] == [], "what is said to be missing is missing"
    assert {path.split("/")[1] for path in result["passed"]} == set(PARTS[part])
    passed, missing = sum(result["passed"].values()), sum(map(len, result["missing"].values()))
    assert passed >= FEWEST[part], result
    assert missing <= MOST_MISSING * (passed + missing), result["missing"]
    assert set(result["missing"]) <= inside.REASONS
    needless = {path for path in inside.LISTED if path.split("/")[1] in PARTS[part]}
    for path in (path for paths in result["missing"].values() for path in paths):
        needless.discard(path)
    assert needless == set(), "listed, and runs in a tab all the same"


def test_no_room_is_forgotten() -> None:
    asked = [room for rooms in PARTS.values() for room in rooms]
    assert len(asked) == len(set(asked))
    assert set(asked) | set(ON_A_MACHINE) == rooms_of_tests()
    assert not set(asked) & set(ON_A_MACHINE)


@pytest.mark.parametrize("path", FILES_ON_A_MACHINE)
def test_a_file_that_stays_on_a_machine_is_there_and_does_not_play_on_virtual_time(path: str) -> None:
    place = ROOT / "tests" / path
    files = list(place.rglob("test_*.py")) if place.is_dir() else [place]
    assert files
    assert [file.name for file in files if plays_on_virtual_time(file)] == []


@pytest.mark.parametrize("room", ON_A_MACHINE)
def test_what_stays_on_a_machine_does_not_play_on_virtual_time(room: str) -> None:
    files = [file for file in chosen(room) if plays_on_virtual_time(file)]
    assert [file.name for file in files if file.name not in NAMED_ONLY] == []


NAMED_ONLY = {"test_rooms.py", "test_prose_of_the_control_loops.py"}
"""They look for these words, or quote them."""
