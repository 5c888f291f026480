"""An agreement table as it is read: in a terminal, on a page, by a machine."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from lifecycle.compare import AgreementTable, Comparison, Difference, agreement, compare
from lifecycle.compare.known import Known
from tests.compare.kept_texts import is_kept

KNOWN = Known(
    "caught-between",
    re.compile("s"),
    re.compile("GET /k"),
    re.compile(""),
    re.compile("1 ↔ 2|3 ↔ 4"),
    1,
    "It was `caught`.",
)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lifecycle.compare.known.known_disagreements", lambda: (KNOWN,))


def full() -> AgreementTable:
    table = AgreementTable("a <title>", "us", "them", telling="GET /b")
    table.add("s: first", "GET /a", "200, 1 fields", "200, 1 fields", compare({"a": 1}, {"a": 1}))
    table.add("s:", "GET /b", "200", "200", compare([1, {"b": "<x>"}, "z" * 120], [1, {"b": "y"}, ""]))
    table.add("s: k", "GET /k", "200", "200", compare({"n": 1}, {"n": 2}))
    table.add("s: k", "GET /k/again", "200", "200", compare({"n": 3}, {"n": 4}))
    free = Comparison(3, 3, [], __import__("collections").Counter(uids=2, times=1234))
    table.add("s: free", "GET /f", "200", "200", free)
    table.add("s: given", "GET /g", "200", "200", compare(1, 1), "planted by `--like`")
    table.add("s: given", "GET /h", "200", "200", compare(1, 2), "planted by `--like`")
    table.add("s: given", "GET /i", "200", "200", compare(1, 1), "another way")
    return table


def test_a_table_is_shown_in_full(known: None) -> None:
    table = full()
    texts = [str(table), table._repr_html_(), table.to_json(), repr(table), "\n".join(table.notes()), table.summary,
             table.headline, table.provenance]  # fmt: skip
    assert is_kept("table.txt", "\n----\n".join(texts) + "\n")


@pytest.mark.parametrize(
    ("pairs", "headline"),
    [
        ([(1, 1)], "1 questions, put to ours and to the cluster: all answers are the same."),
        ([(1, 2)], "1 questions, put to ours and to the cluster: 0 of 1 answers are the same, 1 differs and nobody has explained why."),
        (
            [(1, 1)] * 1000 + [(1, 7), (2, 8)],
            "1,002 questions, put to ours and to the cluster: 1,000 of 1,002 answers are the same, 2 differ and nobody has"
            " explained why.",
        ),
        ([], "0 questions, put to ours and to the cluster: all answers are the same."),
    ],
)  # fmt: skip
def test_the_first_sentence_counts(pairs: list[Any], headline: str) -> None:
    table = AgreementTable("t", "us", "them")
    for number, (ours, theirs) in enumerate(pairs):
        table.add("x", f"GET /{number}", "", "", compare(ours, theirs))
    assert table.headline == headline


def test_a_known_difference_is_told_as_one_up_to_its_bound(known: None) -> None:
    table = AgreementTable("t", "us", "them")
    for _ in range(2):
        table.add("s: k", "GET /k", "", "", compare({"n": 1}, {"n": 2}))
    assert [[each.id for each in row.known.values()] for row in table.rows] == [["caught-between"], []]
    assert table.known == {KNOWN: 1}
    assert [question for question, _ in table.unexplained] == ["s: k: GET /k"]
    one = AgreementTable("t", "us", "them")
    one.add("s: k", "GET /k", "", "", compare({"n": 1}, {"n": 2}))
    assert one.headline.endswith("0 of 1 answers are the same, 1 differ for a reason that is known.")
    assert [row.input for row in one.opening_rows()] == ["GET /k"]


def test_an_empty_table_is_all_equal() -> None:
    table = AgreementTable("t", "us", "them")
    assert table.summary == "0 of 0 answers equal; 0 of 0 fields (100.0 %); 0 differences unexplained, 0 known"
    assert (table.equal, table.opening_rows(), table.listed_rows(), table.notes()) == (True, [], ([], 0), [])


def test_as_many_differences_are_listed_as_a_reader_can_take() -> None:
    table = AgreementTable("t", "us", "them")
    table.add("s:", "GET /a", "", "", compare(list(range(12)), list(range(1, 13))))
    assert len(table.notes()) == 12
    assert table.notes()[0] == "unexplained: s:: GET /a/0: 0 ≠ 1"
    table.add("s:", "GET /b", "", "", compare(1, 2))
    assert table.notes()[12:] == ["… and 1 more unexplained differences"]
    assert agreement.MAX_ROWS == 60


@pytest.mark.parametrize(
    ("equal", "different", "shown", "left_out"), [(70, 0, 60, 10), (70, 55, 63, 62), (70, 70, 68, 72), (3, 3, 6, 0)]
)
def test_equal_rows_give_way_to_those_that_differ(equal: int, different: int, shown: int, left_out: int) -> None:
    table = AgreementTable("t", "us", "them")
    for number in range(max(equal, different)):
        if number < equal:
            table.add("s:", f"GET /e{number}", "", "", compare(1, 1))
        if number < different:
            table.add("s:", f"GET /d{number}", "", "", compare(1, 2))
    table.add("s:", "GET /g", "", "", compare(1, 1), "given")
    rows, out = table.listed_rows()
    assert (len(rows), out) == (shown, left_out)
    assert [row for row in table.rows if row in rows] == rows
    assert len(table.opening_rows()) == (min(different, 12) or 1)


def test_tables_can_be_put_together() -> None:
    one, two = full(), AgreementTable("t", "us", "them")
    two.extend(one)
    assert two.rows == one.rows
    assert two.rows is not one.rows


@pytest.mark.parametrize(
    ("value", "cell"), [("x" * 100, "x" * 100), ("x" * 101, "x" * 99 + "…"), ({"a": [1]}, '{"a": [1]}'), (None, "null")]
)
def test_a_cell_is_short(value: Any, cell: str) -> None:
    assert agreement._cell(value) == cell


def test_a_difference_is_told_in_a_line() -> None:
    assert str(Difference("/a/b", "x", {"c": 1})) == "/a/b: x ≠ {'c': 1}"
    assert len(str(Difference("/a", "x" * 500, "y" * 500))) < 400
    assert json.loads(full().to_json())["title"] == "a <title>"


def test_fields_can_be_compared_one_by_one() -> None:
    result = Comparison()
    result.field("a", 1, 1)
    result.field("b", 1, 2)
    result.mapping("m", {"x": 1, "y": 2}, {"y": 3, "z": None})
    assert (result.total, result.equal) == (5, 2)
    assert [str(each) for each in result.differences] == ["/b: 1 ≠ 2", "/m/x: 1 ≠ None", "/m/y: 2 ≠ 3"]
