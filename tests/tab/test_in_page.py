"""What a cell in a page says: values, prints, errors, too much."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from tab import in_page


@pytest.fixture(autouse=True)
def _afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_page, "namespace", {"__name__": "__main__"})


def run(source: str) -> tuple[str, dict[str, str]]:
    """What was printed, and the result."""
    printed: list[str] = []
    result = asyncio.run(in_page.run(source, printed.append))
    return "".join(printed), result


def test_cells_share_a_namespace_and_the_last_expression_is_shown() -> None:
    assert run("x = 20\nprint('made', x)") == ("made 20\n", {})
    assert run("x + 1") == ("", {"text": "21"})
    assert run("x + 1;") == ("", {})
    assert run("None") == ("", {})


def test_a_cell_may_await() -> None:
    assert run("import asyncio\nasync def three():\n    return 3\nawait three()") == ("", {"text": "3"})


def test_pictures_and_tables_show_themselves() -> None:
    made = "class T:\n    def _repr_{0}_(self): return '<{0}>'\nT()"
    assert run(made.format("svg"))[1] == {"svg": "<svg>"}
    assert run(made.format("html"))[1] == {"html": "<html>"}


def test_an_error_is_told_from_the_cell_on() -> None:
    error = run("def f():\n    return 1 / 0\nf()")[1]["error"]
    assert error.startswith('Traceback (most recent call last):\n  File "<cell>", line 3')
    assert error.endswith("ZeroDivisionError: division by zero")
    assert "in_page" not in error
    assert "SyntaxError" in run("def f(:")[1]["error"]
    assert run("raise SystemExit(3)")[1] == {"error": "SystemExit: 3"}


def test_who_prints_without_end_is_stopped() -> None:
    printed, result = run("while True:\n    print('x' * 1000)")
    assert len(printed) == in_page.MOST
    assert result == {"error": "TooMuchOutputError: stopped after 200,000 characters of output"}
    text = run("'y' * 300_000")[1]["text"]
    assert len(text) < in_page.MOST + 40
    assert text.endswith("(300,002 characters)")


def test_a_library_without_a_build_may_be_named_and_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_page, "NO_BUILD", ("drawing_library",))
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, in_page._AbsentFinder()])
    absent: dict[str, Any] = run("from drawing_library.figure import Figure\ndef draw(f: Figure): return Figure()")[1]
    assert absent == {}
    assert run("draw(1)")[1] == {
        "error": "drawing_library has no build for a browser tab: the recorded picture stays",
        "absent": "yes",
    }
    for name in [name for name in sys.modules if name.startswith("drawing_library")]:
        del sys.modules[name]
