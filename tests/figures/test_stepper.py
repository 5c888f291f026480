"""The journey to step through is plain HTML that works without a script."""

from __future__ import annotations

from bs4 import BeautifulSoup

from lifecycle.figures.stepper import Stepper
from lifecycle.trace.writes import Line, Write

LINES = (
    Line(0, "kind: Pod", "", ""),
    Line(0, "metadata:", "", ""),
    Line(1, "name: a", "", ""),
    Line(0, "spec:", "", ""),
    Line(1, "one: 1", "", ""),
    Line(1, "two: 2", "", ""),
    Line(1, "nodeName: <worker>", "kube-scheduler", "+"),
    Line(0, "status:", "", ""),
)


def soup() -> BeautifulSoup:
    writes = [Write("scheduler", "bind", "pods/a", 0.131, 0.012, LINES)]
    return BeautifulSoup(Stepper("Ours & theirs", writes)._repr_html_(), "html.parser")


def test_each_write_unfolds_by_itself():
    details = soup().select("section[aria-label='Ours & theirs'] ol > li > details")
    assert len(details) == 1
    assert details[0].summary.get_text() == "131 ms scheduler bind pods/a 12.0 ms"


def test_the_change_is_shown_with_what_it_stands_in_and_the_rest_is_counted():
    shown = soup().pre.get_text().splitlines()
    assert shown == [
        "  ⋯ 3 lines as before",
        "  spec:",
        "  ⋯ 1 line as before",
        "    two: 2",
        "+   nodeName: <worker> kube-scheduler",
        "  status:",
    ]


def test_the_owner_stands_behind_a_changed_field():
    assert [owner.get_text() for owner in soup().select(".owner")] == ["kube-scheduler"]


def test_the_word_about_opening_can_be_left_out_on_paper():
    assert soup().select_one("p .to-open").get_text() == "Open one to see what it wrote."
