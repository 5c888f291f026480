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
    monkeypatch.setattr(in_page, "lost", set())


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
    assert run("class T:\n    def _repr_svg_(self): return '<' * 3_000_000\nT()")[1] == {
        "error": "TooMuchOutputError: 3,000,000 characters of SVG are more than a page can show"
    }
    text = run("'y' * 300_000")[1]["text"]
    assert len(text) < in_page.MOST + 40
    assert text.endswith("(300,002 characters)")


def test_a_library_without_a_build_may_be_named_and_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_page, "NO_BUILD", ("drawing_library",))
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, in_page._AbsentFinder()])
    absent: dict[str, Any] = run("from drawing_library.figure import Figure\ndef draw(f: Figure): return Figure()")[1]
    assert absent == {}
    assert run("picture = draw(1)\nprint('drawn')") == ("", {"absent": "library", "about": "drawing_library"})
    assert run("picture.save()") == ("", {"absent": "before", "about": "picture"})
    assert "NameError" in run("pictures.save()")[1]["error"], "nobody was going to make that"
    assert run("picture = 3\npicture") == ("", {"text": "3"})
    for name in [name for name in sys.modules if name.startswith("drawing_library")]:
        del sys.modules[name]


def test_what_only_a_compiled_library_does_is_missing_however_deep_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(in_page, "COMPILED", ("no_such_library",))
    late = "from lifecycle.api.late_import import late_import\nlibrary = late_import('no_such_library.part')"
    assert run(late) == ("", {})
    assert run("library.something") == ("", {"absent": "library", "about": "no_such_library"})
    grouped = "import asyncio\nasync def ask():\n    library.something\nasync with asyncio.TaskGroup() as g:\n    g.create_task(ask())"
    assert run(grouped) == ("", {"absent": "library", "about": "no_such_library"})
    assert run("import no_such_library") == ("", {"absent": "library", "about": "no_such_library"})
    assert "ModuleNotFoundError" in run("import a_word_with_a_slip")[1]["error"]


def test_a_thread_is_what_no_tab_has() -> None:
    start = 'def refuse(*args): raise RuntimeError("can\'t start new thread")\nrefuse()'
    assert run(start) == ("", {"absent": "thread", "about": ""})
    assert (
        run("raise ValueError('spec.validations: cel-expr-python is not installed')")[1]["about"] == "cel_expr_python"
    )
    assert "RuntimeError: other" in run("raise RuntimeError('other')")[1]["error"]


def test_a_socket_is_what_no_tab_has() -> None:
    loop = "import asyncio\nclass Loop(asyncio.AbstractEventLoop): pass\n"
    assert run(loop + "await Loop().create_server(None)") == ("", {"absent": "socket", "about": ""})
    assert run("import errno\nraise OSError(errno.EOPNOTSUPP, 'Not supported')") == (
        "",
        {"absent": "socket", "about": ""},
    )
    assert "NotImplementedError" in run("def your_answer(): raise NotImplementedError\nyour_answer()")[1]["error"]


def test_what_a_cell_did_not_come_to_make_is_missing_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_page, "COMPILED", ("no_such_library",))
    run("told, other, kept = 1, 2, [3]\nimport json")
    cell = "other = 5\nimport no_such_library\nimport json\ntold = [local for local in kept]\ndef f():\n    inner = 1"
    assert run(cell)[1]["absent"] == "library"
    assert run("told")[1] == {"absent": "before", "about": "told"}
    assert run("f()")[1] == {"absent": "before", "about": "f"}
    assert run("other, kept, json.dumps(1)")[1] == {"text": "(5, [3], '1')"}
    assert "NameError" in run("inner")[1]["error"]
    assert "NameError" in run("local")[1]["error"]


def test_who_asks_a_kernel_is_told_that_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("open('/proc/net/no-such-table')")[1] == {"absent": "linux", "about": "/proc/net/no-such-table"}
    assert "FileNotFoundError" in run("open('/home/no-such-file')")[1]["error"]
