"""The table shows disagreement openly, in every rendering."""

import json

from lifecycle.compare import AgreementTable, compare, compare_recordings
from lifecycle.inspector import open_recording


def _table():
    table = AgreementTable("agreement: demo", "us", "recording kind (v1.36.2)")
    table.add("demo: first", "GET /a", "200", "200", compare({"a": 1}, {"a": 1}))
    table.add("demo: second", "GET /b", "200", "200", compare({"b": "<x>", "c": 2}, {"b": "y", "c": 2}))
    return table


def test_unexplained_differences_are_listed_with_their_question():
    table = _table()
    assert not table.equal
    assert [(question, difference.path) for question, difference in table.unexplained] == [
        ("demo: second: GET /b", "/b")
    ]
    assert table.summary == "1 of 2 answers equal; 2 of 3 fields (66.7 %); 1 differences unexplained, 0 known"


def test_a_differing_row_shows_the_values():
    row = _table().rows[1]
    assert (row.ours, row.cluster) == ("<x>", "y")


def test_html_takes_the_pages_colours_and_scrolls_on_a_phone():
    page = _table()._repr_html_()
    assert "overflow-x:auto" in page
    assert "background:transparent" in page
    assert "color:inherit" in page
    assert "&lt;x&gt;" in page
    assert "recording kind (v1.36.2)" in page


def test_text_for_terminals():
    text = str(_table())
    assert "✓ 1/1" in text
    assert "✗ 1/2" in text
    assert "ours: us · cluster: recording kind (v1.36.2)" in text


def test_json_for_machines():
    document = json.loads(_table().to_json())
    assert document["unexplained"] == 1
    assert [row["equal"] for row in document["rows"]] == [True, False]
    assert document["rows"][1]["differences"][0]["path"] == "/b"


def test_freedoms_and_known_disagreements_stand_under_the_table():
    table = compare_recordings(open_recording("kind-1.36.2"), open_recording("kind-1.36.2-again"), "scheduling")
    notes = "\n".join(table.notes())
    assert "freedom granted" in notes
    assert "known disagreement 3×: preemption-victim" in notes
    assert "≈" in str(table)
    assert "2026-11-21" in table.provenance


def test_long_tables_keep_every_disagreement():
    table = AgreementTable("t", "a", "b")
    for number in range(200):
        table.add("s:", f"GET /{number}", "", "", compare(number, 7))
        table.add("s:", f"GET /{number}", "", "", compare(1, 1))
    rows, left_out = table.shown_rows()
    assert len(rows) + left_out == 400
    assert sum(not row.equal for row in rows) == 60
