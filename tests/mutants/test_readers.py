"""What runs on import has run before any test: whoever reads what it left behind is asked about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutants.candidates import candidates
from mutants.coverage_map import CoverageMap, measure
from mutants.readers import Readers
from mutants.trial import asked, trial
from mutants.workshop import Workshop

from mutants import readers

LIMITS = '''"""Numbers only: no function of this module is ever run."""

LIMIT = 3
TWICE = 2 * LIMIT
NOBODYS = 7


class Level:
    seats = 5
    queues: int = 4
'''
SURGE = """from lifecycle import limits
from lifecycle.limits import Level, TWICE as MOST


def surge(replicas, most=9):
    return min(replicas, MOST)


def seats():
    return Level.seats


def lower():
    return limits.LIMIT


def annotated(level: Level):
    return level
"""
TESTS = """
from lifecycle.surge import seats, surge

def test_surge():
    assert surge(8) == 6

def test_seats():
    assert seats() == 5
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    package = tmp_path / "src" / "lifecycle"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "limits.py").write_text(LIMITS)
    (package / "surge.py").write_text(SURGE)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_surge.py").write_text(TESTS)
    return tmp_path


def functions(checkout: Path, line: int) -> set[str]:
    """Which of `surge.py` read what a line of `limits.py` leaves behind."""
    package = checkout / "src/lifecycle"
    found = Readers(checkout / "src").of_line(package / "limits.py", line)
    text = SURGE.splitlines()
    return {
        text[number - 2].removeprefix("def ").partition("(")[0]
        for number in found.get(package / "surge.py", ())
        if text[number - 2].startswith("def ")
    }


def test_a_constant_is_followed_to_whoever_reads_it(checkout):
    """By its name, by what it is called elsewhere, by what is made from it, and by its module."""
    assert functions(checkout, 3) == {"surge", "lower"}
    assert functions(checkout, 4) == {"surge"}
    assert functions(checkout, 5) == set()


def test_a_class_attribute_is_read_by_whoever_names_the_class(checkout):
    """An annotation reads nothing."""
    assert functions(checkout, 9) == functions(checkout, 10) == {"seats"}


def test_names_are_followed_within_a_module(tmp_path):
    module = tmp_path / "toy.py"
    module.write_text(
        "STEP = 1\n"
        "TABLE = {}\n"
        "TABLE.update(step=STEP)\n"
        "if STEP:\n"
        "    OTHER = 2\n"
        "@register(3)\n"
        "class Base:\n"
        "    kind = 'base'\n"
        "class Derived(Base):\n"
        "    def f(self, n=4):\n"
        "        return TABLE\n"
        "def g():\n"
        "    return Derived()\n"
        "def h(which):\n"
        "    return which.kind + OTHER\n"
    )
    readers = Readers(tmp_path)
    found = {line: set(readers.of_line(module, line).get(module, ())) for line in range(1, 11)}
    assert found[1] == {11}, "a call for its own sake changes what it mentions"
    assert found[5] == {15}
    assert found[6] == found[7] == {13}, "a derived class"
    assert found[8] == {13, 15}, "the attribute of an object, too"
    assert found[10] == {13}, "a default"


def test_a_mutant_of_a_constant_is_noticed_by_the_tests_that_read_it(checkout):
    limits = checkout / "src/lifecycle/limits.py"
    coverage = measure(checkout / "src", ["tests"], checkout / "kept", cwd=checkout)
    assert coverage.of_module(limits) == []
    by_line = {c.line: c for some in candidates(limits).values() for c in some if c.operator == "NumberReplacer"}
    with Workshop(checkout) as workshop:
        outcomes = {line: trial(by_line[line], workshop, coverage) for line in (3, 4, 5, 9, 10)}
    assert {line for line, outcome in outcomes.items() if outcome.noticed} == {3, 4, 9}


def test_readers_are_asked_first_and_then_whoever_runs_the_module(tmp_path):
    module = tmp_path / "toy.py"
    module.write_text(text := "LIMIT = 3\ndef f():\n    return LIMIT\ndef g():\n    return 1\n")
    coverage = CoverageMap({str(module): {3: ["t::f"], 5: ["t::g"]}}, {"t::f": 9.0, "t::g": 1.0})
    assert asked(module, text, 1, coverage, Readers(tmp_path)) == ["t::f", "t::g"]
    assert asked(module, text, 5, coverage, Readers(tmp_path)) == ["t::g"]
    changed = CoverageMap({str(module): {3: ["t::f"], 0: ["t::g"]}}, {})
    assert set(asked(module, text, 1, changed, Readers(tmp_path))) == {"t::f", "t::g"}, "its lines are not believed"


def test_a_test_that_looks_at_a_constant_itself_is_asked(checkout):
    """It runs nothing of any module."""
    limits = checkout / "src/lifecycle/limits.py"
    looks = "from lifecycle.limits import NOBODYS\n\ndef test_looks():\n    assert NOBODYS == 7\n"
    (checkout / "tests" / "test_limits.py").write_text(looks)
    coverage = measure(checkout / "src", ["tests"], checkout / "kept", cwd=checkout)
    (candidate,) = [c for c in candidates(limits)[5, 10] if c.operator == "NumberReplacer"][:1]
    with Workshop(checkout) as workshop:
        outcome = trial(candidate, workshop, coverage)
    assert "test_looks" in outcome.by


def test_what_was_read_is_kept_until_a_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, kept = tmp_path / "src", tmp_path / "kept" / "modules"
    source.mkdir()
    (source / "a.py").write_text("LIMIT = 1\n")
    (source / "b.py").write_text("from a import LIMIT\n\n\ndef f():\n    return LIMIT\n")
    read: list[str] = []
    really = readers._read
    monkeypatch.setattr(readers, "_read", lambda file: read.append(file.name) or really(file))
    found = Readers(source, kept=kept).of_line(source / "a.py", 1)
    assert found == {source / "b.py": frozenset({5})}
    assert Readers(source, kept=kept).of_line(source / "a.py", 1) == found
    assert read == ["a.py", "b.py"]
    (source / "b.py").write_text("from a import LIMIT\n")
    assert Readers(source, kept=kept).of_line(source / "a.py", 1) == {}
    assert read == ["a.py", "b.py", "b.py"]
