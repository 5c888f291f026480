"""Lines that run in processes which a test starts are seen, and a mutant of theirs is asked about in such a process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from mutants.candidates import candidates
from mutants.children import Children
from mutants.coverage_map import measure
from mutants.trial import trial
from mutants.workshop import Workshop

MODULE = """import os
import sys


def forked():
    if os.fork() == 0:
        print(sum([1, 2]), flush=True)
        os._exit(0)
    os.wait()


def replaced():
    os.execv("/bin/sh", ["sh", "-c", "echo gone"])


def main():
    forked()
    if "-v" in sys.argv:
        print("never")
    replaced()


if __name__ == "__main__":
    main()
"""
TEST = """import subprocess
import sys

from lifecycle import toy


def test_a_child():
    ran = subprocess.run([sys.executable, "-S", "-s", "-m", "lifecycle.toy"], capture_output=True, text=True)
    assert ran.stdout == "3\\ngone\\n", ran.stderr
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    package = tmp_path / "src/lifecycle"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "toy.py").write_text(MODULE)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_toy.py").write_text(TEST)
    return tmp_path


def test_what_a_child_runs_is_known_even_if_it_forks_and_becomes_another_program(checkout: Path) -> None:
    module = checkout / "src/lifecycle/toy.py"
    coverage = measure(
        checkout / "src", ["tests"], checkout / "kept", cwd=checkout, modules=[module], loaded="lifecycle.toy"
    )
    ran = {line for line in range(1, 30) if coverage.of_line(module, line)}
    assert ran == {6, 7, 8, 9, 13, 17, 18, 20}, "not 19, and nothing that is run by whoever imports the module"
    assert coverage.in_children == {str(module)}
    number = next(c for some in candidates(module).values() for c in some if (c.line, c.column) == (7, 19))
    with Workshop(checkout, loaded=["lifecycle.toy"], sure=True) as workshop:
        assert trial(number, workshop, coverage).noticed, "a graft in our own process would not have been"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-X", "utf8", "-c", "import sys; print(sys.argv)", "a"], "['-c', 'a']"),
        (["-m", "platform", "terse"], ""),
        (["-I", "-mplatform", "terse"], ""),
        (["-cimport sys; print(sys.argv)", "-v"], "['-c', '-v']"),
        (["FILE", "b"], "['FILE', 'b']"),
        (["-", "c"], "['-', 'c']"),
    ],
)
def test_a_watched_child_does_what_it_would_have_done(tmp_path: Path, words: list[str], says: str) -> None:
    file = tmp_path / "file.py"
    file.write_text("import sys; print(sys.argv)")
    words = [str(file) if word == "FILE" else word for word in words]
    real = sys.executable
    children = Children(tmp_path / "children", [])
    with children.watched():
        assert sys.executable != real
        watched = [sys.executable, *words]
    assert sys.executable == real
    outputs = [
        subprocess.run(command, input="import sys; print(sys.argv)", capture_output=True, text=True, check=True).stdout
        for command in (watched, [real, *words])
    ]
    assert outputs[0] == outputs[1] != ""
    assert not says or outputs[0].strip() == says.replace("FILE", str(file))


def test_lines_are_those_of_the_test_that_was_running(tmp_path: Path) -> None:
    file = tmp_path / "file.py"
    file.write_text("def f():\n    return 1\n\n\nf()\n")
    children = Children(tmp_path / "children", [str(tmp_path / "*")])
    for nodeid in ("first", "second"):
        children.switch_context(nodeid)
        with children.watched():
            subprocess.run([sys.executable, str(file)], check=True)
    assert children.lines() == {str(file): {2: ["first", "second"]}}
