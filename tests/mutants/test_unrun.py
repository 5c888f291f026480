"""Places that no test runs are listed, line by line."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from mutants.coverage_map import CoverageMap
from mutants.readers import Readers
from mutants.unrun import unrun

from mutants import __main__ as program

SOURCE = """LIMIT = 3


def f(n):
    if n > LIMIT:
        return n + 1
    return n - 1
"""


def test_lines_that_no_test_runs_are_listed_by_their_places(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(SOURCE)
    coverage = CoverageMap({str(module): {5: ["t"], 7: ["t"]}}, {"t": 0.1})
    found = unrun({module: None}, coverage, Readers(tmp_path))
    assert set(found.lines[module]) == {6}
    assert 0 < found.share < 0.5
    assert "return n + 1" in found.text(tmp_path)
    assert unrun({module: frozenset({5, 7})}, coverage, Readers(tmp_path)).lines == {}


def test_what_has_changed_since_is_not_known_to_be_bare(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(SOURCE)
    assert unrun({module: None}, CoverageMap({str(module): {0: ["t"]}}, {"t": 0.1}), Readers(tmp_path)).lines == {}


def test_a_constant_that_no_test_has_to_do_with_is_listed(tmp_path: Path) -> None:
    """Whether a function that reads it is run is what counts; it stands in another module here."""
    limits, module = tmp_path / "limits.py", tmp_path / "module.py"
    limits.write_text("LIMIT = 3\nOTHER = 4\n")
    module.write_text("from limits import LIMIT\n\n\ndef f():\n    return LIMIT\n")
    coverage = CoverageMap({str(module): {5: ["t"]}}, {"t": 0.1})
    assert set(unrun({limits: None}, coverage, Readers(tmp_path)).lines[limits]) == {2}


def test_what_no_test_runs_is_listed_for_whoever_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "module.py"
    module.write_text(SOURCE)
    coverage = CoverageMap({str(module): {5: ["t"], 7: ["t"]}}, {"t": 0.1})
    monkeypatch.setattr(program, "PACKAGE", tmp_path / "lifecycle")
    monkeypatch.setattr(program, "rooms", lambda: ["controllers"])
    monkeypatch.setattr(program, "CHECKOUT", tmp_path)
    monkeypatch.setattr(program, "modules_and_tests", lambda _: ({module: None}, []))
    monkeypatch.setattr(program, "measured", lambda *_: coverage)
    result = CliRunner().invoke(program.main, ["controllers", "--unrun"], catch_exceptions=False)
    assert result.exit_code == 0
    assert "6 return n + 1" in result.output
