"""What descriptions are made of: columns, indents, titles, lists that are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.kubectl.describe.containers import describe_status
from lifecycle.kubectl.describe.environment import container_resource_value
from lifecycle.kubectl.describe.jobs import cap_indexes_list_or_none
from lifecycle.kubectl.describe.multiline import print_annotations_multiline, shorten
from lifecycle.kubectl.describe.rbac import compact_rules
from lifecycle.kubectl.describe.services import format_endpoint_slices
from lifecycle.kubectl.describe.smart_label import smart_label_for
from lifecycle.kubectl.describe.writer import PrefixWriter
from lifecycle.kubectl.printing.tab_writer import tabulated


def test_columns_end_where_a_line_has_no_cell_for_them() -> None:
    assert tabulated("a\tb\nlong\tc\nno tab\nd\te\n") == "a     b\nlong  c\nno tab\nd  e\n"
    assert tabulated("x\t\ty\n") == "x    y\n", "an empty column is two spaces wide"
    assert tabulated("Medium:\t\n") == "Medium:  \n", "what ends with a tab is filled up, too"


CELLS = st.text(st.characters(blacklist_characters="\t\n\v\f", blacklist_categories=["Cs"]), max_size=6)


def width_at(rows: list[list[str]], row: int, column: int) -> int:
    """The same rule, said of one cell: its neighbours above and below are those up to the next line without a cell there."""
    begin, end = row, row
    while begin > 0 and len(rows[begin - 1]) > column + 1:
        begin -= 1
    while end < len(rows) and len(rows[end]) > column + 1:
        end += 1
    return 2 + max(len(each[column]) for each in rows[begin:end])


@given(st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=8))
def test_a_column_is_as_wide_as_its_neighbours_need(rows: list[list[str]]) -> None:
    lines = [
        "".join(cell.ljust(width_at(rows, i, j)) for j, cell in enumerate(row[:-1])) + row[-1]
        for i, row in enumerate(rows)
    ]
    assert tabulated("\n".join("\t".join(row) for row in rows)) == "\n".join(lines)


def test_a_writer_indents_by_levels_and_a_nested_one_by_more() -> None:
    w = PrefixWriter()
    w.field(1, "A", True)
    w.nested(2).write_line("deep")
    w.write_line("flat")
    assert w.plain == "  A:\ttrue\n    deep\nflat\n"


def test_an_object_cannot_command_the_terminal() -> None:
    w = PrefixWriter()
    w.field(0, "Note", "\x1b[31mred\r")
    assert w.tabbed == "Note:  ^[[31mred\\r\n"


@pytest.mark.parametrize(
    ("field", "title"),
    [
        ("observedGeneration", "Observed Generation"),
        ("podIPs", "Pod I Ps"),
        ("apiVersion", "API Version"),
        ("uid", "UID"),
        ("f:metadata", "f:metadata"),
        ("x509", "x509"),
        ("kebab-case", "Kebab - Case"),
    ],
)
def test_a_fields_name_becomes_a_title(field: str, title: str) -> None:
    assert smart_label_for(field) == title


def slices(*ready: bool | None, port: int = 80) -> list[dict[str, object]]:
    endpoints = [{"addresses": [f"10.0.0.{i}"], "conditions": {"ready": each}} for i, each in enumerate(ready)]
    return [{"ports": [{"name": "", "port": port}], "endpoints": endpoints}]


def test_three_addresses_are_listed_and_the_rest_counted() -> None:
    assert format_endpoint_slices([], "") == "<none>"
    assert format_endpoint_slices(slices(True, None), "") == "10.0.0.0:80,10.0.0.1:80"
    assert format_endpoint_slices(slices(True, True, True, True), "").endswith("2:80 + 1 more...")
    assert format_endpoint_slices(slices(True, True, True, False), "").endswith("2:80 + 0 more...")
    assert format_endpoint_slices(slices(False), "") == ""


def test_rules_for_one_resource_are_put_together_and_those_for_urls_are_not() -> None:
    rules = [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["watch", "get"]},
        {"nonResourceURLs": ["/a"], "verbs": ["get", "post"]},
    ]
    assert [(each.combined, each.url, verbs) for each, verbs in compact_rules(rules)] == [
        ("pods", "", ["get", "watch"]),
        ("", "/a", ["get"]),
        ("", "/a", ["post"]),
    ]


def test_long_annotations_are_cut_below_their_key() -> None:
    w = PrefixWriter()
    print_annotations_multiline(w, "Annotations", {"long": "x" * 200, "lines": "a\nb\n", "short": "y"})
    assert w.tabbed.splitlines() == [
        "Annotations:  lines:",
        "                a",
        "                b",
        "              long:",
        "                " + "x" * 138 + "...",
        "              short: y",
    ]
    assert shorten("ä" * 80, 140) == "ä" * 70 + "..."


def test_completed_indexes_are_cut_at_a_comma() -> None:
    assert cap_indexes_list_or_none("") == "<none>"
    assert cap_indexes_list_or_none("0-9") == "0-9"
    long = ",".join(str(i) for i in range(0, 100, 2))
    assert cap_indexes_list_or_none(long).endswith(",...")
    assert len(cap_indexes_list_or_none(long)) < 60


def test_what_a_container_asks_for_is_counted_in_the_divisors_units_rounded_up() -> None:
    container = {"resources": {"limits": {"cpu": "1500m", "memory": "1Gi"}}}
    assert container_resource_value({"resource": "limits.cpu"}, container) == "2"
    assert container_resource_value({"resource": "limits.cpu", "divisor": "1m"}, container) == "1500"
    assert container_resource_value({"resource": "limits.memory", "divisor": "1Mi"}, container) == "1024"
    assert container_resource_value({"resource": "requests.memory"}, container) == "0"
    assert container_resource_value({"resource": "limits.pods"}, container) == ""


def test_a_container_that_ended_by_a_signal_says_which() -> None:
    w = PrefixWriter()
    ended = {"exitCode": 137, "signal": 9, "reason": "OOMKilled", "message": "too much", "startedAt": None}
    describe_status("Last State", {"terminated": ended}, w)
    lines = [line.split(":", 1) for line in w.tabbed.splitlines()]
    assert {key.strip(): value.strip() for key, value in lines} == {
        "Last State": "Terminated",
        "Reason": "OOMKilled",
        "Message": "too much",
        "Exit Code": "137",
        "Signal": "9",
        "Started": "Mon, 01 Jan 0001 00:00:00 +0000",
        "Finished": "Mon, 01 Jan 0001 00:00:00 +0000",
    }
