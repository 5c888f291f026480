"""What an object says is shown, and commands nobody's terminal; the expected texts are what kubectl 1.36 printed of the same objects."""

from __future__ import annotations

from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.kubectl.printers import render_table
from lifecycle.kubectl.printing.columns import align
from lifecycle.kubectl.printing.custom_columns import parse_spec, render_columns
from lifecycle.kubectl.printing.tab_writer import tabulated
from lifecycle.kubectl.printing.terminal import escaped, on_one_line


def table(*rows: tuple[Any, ...]) -> Object:
    names = ("Reason", "Object", "Message")
    return {
        "columnDefinitions": [{"name": name} for name in names],
        "rows": [{"cells": list(row)} for row in rows],
    }


def test_escapes_and_carriage_returns_are_shown() -> None:
    assert escaped("\x1b[31mred\rover") == "^[[31mred\\rover"


def test_of_a_cell_with_several_lines_the_first_is_shown_and_dots() -> None:
    assert on_one_line("one") == "one"
    assert [on_one_line(f"one{end}two") for end in "\f\n\r"] == ["one..."] * 3


def test_a_table_of_the_server_clears_no_screen() -> None:
    events = table(
        ("Bad\x1b[2J", "pod/p", "a\x1b[31mred\rover\ttab end"),
        ("Bad", "pod/p", "one\x1b]0;title\x07\ntwo\f\vthree"),
        (None, True, {"a": "\x1b"}),
    )
    text = render_table([events], wide=False)
    assert text.splitlines()[:3] == [
        "REASON     OBJECT   MESSAGE",
        "Bad^[[2J   pod/p    a^[[31mred...",
        "Bad        pod/p    one^[]0;title\x07...",
    ]
    assert "\x1b" not in text


def test_a_tab_in_a_cell_makes_two_of_it() -> None:
    rows = [("REASON", "OBJECT", "MESSAGE"), ("R\vS", "pod/p\tq", "tab\there^[ and")]
    assert align(rows) == (
        "REASON   OBJECT   MESSAGE\n"
        "R        S        pod/p   q     tab   here^[ and\n"
    )  # fmt: skip


def test_custom_columns_show_them_too_and_keep_lines_apart() -> None:
    objects = [
        {"x": "\x1b[31mred\rover", "k": "\x1b[2Jclear\rover\n"},
        {"x": "one\ttwo\vthree\ffour", "k": "a\x1bb\rc\td\ve\ff", "l": "2"},
    ]
    assert render_columns(objects, parse_spec("A:.x,B:.k,C:.l")) == (
        "A                 B     C\n"
        "^[[31mred\\rover   ^[[2Jclear\\rover\n"
        "                  <none>\n"
        "one               two   three\n"
        "four              a^[b\\rc   d     e\n"
        "f                 2\n"
    )  # fmt: skip


def test_a_form_feed_ends_a_line_up_and_what_is_remembered_goes_on() -> None:
    assert tabulated("a\tb\nlong\tc\fd\te\n") == "a     b\nlong  c\nd  e\n"
    assert tabulated("a\tb\nlong\tc") == "a     b\nlong  c", "the last line need not be ended"
    remembered: list[int] = []
    assert tabulated("a\tb\nlong\tc\fd\te\n", remembered=remembered) == "a     b\nlong  c\nd     e\n"
    assert remembered == [6]
