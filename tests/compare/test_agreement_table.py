"""The table shows disagreement openly, in every rendering."""

import json
import re

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
    rows, left_out = table.listed_rows()
    assert len(rows) + left_out == 400
    assert sum(not row.equal for row in rows) == 60


def test_it_opens_with_a_sentence_and_what_differs_and_folds_the_rest():
    table = _table()
    table.opening = lambda finished: f"Two letters, read by both: {finished.outcome('letters')}."
    page = table._repr_html_()
    assert table.headline == (
        "Two letters, read by both: 1 of 2 letters are the same, 1 differs and nobody has explained why."
    )
    opening, folded, rest = page.partition("<details>")
    assert opening.index("Two letters, read by both") < opening.index("GET /b")
    assert "GET /a" not in opening
    assert "GET /a" in folded + rest
    assert str(table).startswith("Two letters, read by both")


def test_where_nothing_differs_the_most_telling_row_is_shown():
    table = AgreementTable("t", "a", "b", telling="GET /telling")
    table.add("s", "GET /long", "", "", compare([1, 2, 3], [1, 2, 3]))
    assert [row.input for row in table.opening_rows()] == ["GET /long"]
    table.add("s", "GET /telling", "", "", compare(1, 1))
    assert [row.input for row in table.opening_rows()] == ["GET /telling"]
    assert table.headline == "2 questions, put to ours and to the cluster: all answers are the same."


def test_a_given_answer_stands_apart_and_is_in_no_sum():
    table = _table()
    before = table.summary
    table.add("demo: third", "GET /c", "200", "200", compare(1, 1), given="planted by `--like`")
    assert table.summary == f"{before}; 1 given and not counted"
    assert (table.total, table.fields_equal) == (3, 2)
    assert json.loads(table.to_json())["rows"][2]["given"] == "planted by `--like`"
    page, text = table._repr_html_(), str(table)
    assert page.index("given, not counted") > page.index("GET /b")
    assert "GET /c" not in page.partition("given, not counted")[0]
    assert text.index("given, not counted: planted by `--like`") < text.index("GET /c")


def test_a_difference_in_a_given_answer_is_one_all_the_same():
    table = AgreementTable("t", "a", "b")
    table.add("s", "GET /a", "", "", compare(1, 1))
    table.add("s", "GET /c", "", "", compare(1, 2), given="planted")
    assert [question for question, _ in table.unexplained] == ["s: GET /c"]
    assert not table.equal
    assert [row.input for row in table.opening_rows()] == ["GET /c"]


def test_words_stay_whole_in_columns_for_which_there_is_room():
    def may_break(*inputs: str) -> list[bool]:
        table = AgreementTable("t", "a", "b")
        for question in inputs:
            table.add("kubelet", question, "UnexpectedAdmissionError", "UnexpectedAdmissionError", compare(1, 1))
        cells = re.findall(r'<td style="([^"]*)">[^<]', table._repr_html_())
        return ["overflow-wrap:normal" not in style for style in cells[-4:]]

    assert may_break("a short name") == [False, False, False, False]
    path = "/apis/apps/v1/namespaces/default/deployments/nginx"
    assert may_break("a short name", path) == [False, True, False, False]
    assert may_break(path[:30]) == [False, True, False, False]


def test_the_two_answers_are_broken_alike():
    table = AgreementTable("t", "a", "b")
    path = "/apis/apps/v1/namespaces/default/deployments"
    table.add("kubectl", "a body", path, path, compare(1, 1))
    cells = re.findall(r'<td style="([^"]*)">[^<]', table._repr_html_())
    assert ["overflow-wrap:normal" in style for style in cells[-4:]] == [True, True, False, False]


def test_a_path_gives_way_to_short_answers_whose_columns_are_wider_than_they():
    table = AgreementTable("t", "a", "b")
    table.add("a node", "PATCH /api/v1/namespaces/resize/pods/burst/status", "200", "200", compare(1, 1))
    cells = re.findall(r'<td style="([^"]*)">[^<]', table._repr_html_())
    assert ["overflow-wrap:normal" in style for style in cells[-4:]] == [True, False, True, True]


def test_code_in_a_headline_is_code_on_a_page_and_plain_in_a_terminal():
    table = AgreementTable("t", "a", "b", opening=lambda table: "`dig <name>` was asked; a lone ` stays")
    table.add("s", "GET /a", "", "", compare(1, 1))
    assert "<code>dig &lt;name&gt;</code> was asked; a lone ` stays" in table._repr_html_()
    assert table.headline == "`dig <name>` was asked; a lone ` stays"
