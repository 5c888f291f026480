"""Ideas as boxes: every box and word is there, arrows lead between boxes that exist, and nothing is painted behind."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from lifecycle.figures import control_loops
from lifecycle.figures.boxes import Arrow, Box, draw_boxes, draw_links
from lifecycle.figures.picture import Picture, fitting

BOXES = {"left": Box(0, 0, "one line\nand another"), "right": Box(1, 0)}


def test_each_box_each_line_and_each_word_is_written_once() -> None:
    svg = draw_boxes(
        BOXES, [Arrow("left", "right", "there"), Arrow("right", "left", "and back", bend=-0.2)]
    )._repr_svg_()
    for text in ("left", "right", "one line", "and another", "there", "and back"):
        assert svg.count(f"<!-- {text} -->") == 1


@pytest.mark.parametrize("name", ["short", "pod kindnet-nz2cw", "a name that is longer than any box"])
def test_words_stay_between_the_edges_of_their_box(name: str) -> None:
    line = f"{name}, and a line in small letters"
    svg = draw_boxes({name: Box(0, 0, line), "other": Box(1, 0)})._repr_svg_()
    [edges] = re.findall(r'<g id="patch_2">\s*<path d="([^"]+)"', svg)
    across = [float(x) for x in re.findall(r"[MLQ] ([\d.]+)", edges)]
    for words in (name, line):
        [left] = re.findall(rf"<!-- {words} -->\s*<g [^>]*translate\(([\d.]+)", svg)
        assert min(across) + 2 < float(left) < (min(across) + max(across)) / 2


def test_an_arrow_needs_both_its_boxes() -> None:
    with pytest.raises(KeyError, match="nowhere"):
        draw_boxes(BOXES, [Arrow("left", "nowhere")])


def test_a_link_leads_to_one_box_however_many_lead_there() -> None:
    svg = draw_links({"a": ["x", "y"], "b": ["y"]}, ("from", "to"))._repr_svg_()
    for text in ("a", "b", "x", "y", "from", "to"):
        assert svg.count(f"<!-- {text} -->") == 1
    assert svg.count('id="line2d_') == 3
    assert draw_links({}, ("from", "to"))._repr_svg_().startswith("<svg")


@pytest.mark.parametrize(
    ("draw", "texts"),
    [
        (control_loops.draw_scheduling_queue, ["active", "back-off", "unschedulable", "gated"]),
        (control_loops.draw_claim, ["adopt it", "release it", "leave it alone", "count it"]),
        (control_loops.draw_scheduling_cycle, ["filter", "score", "assume", "bind"]),
        (control_loops.draw_binding, ["scheduler", "API server", "kubelet"]),
    ],
)
def test_the_ideas_of_the_control_loops(draw: Callable[[], Picture], texts: list[str]) -> None:
    svg = draw()._repr_svg_()
    for text in texts:
        assert svg.count(f"<!-- {text} -->") == 1
    assert "fill: #ffffff" not in svg.replace('style="fill: #ffffff" transform', "")  # only letters are white
    assert svg == draw()._repr_svg_()


def test_a_line_that_is_longer_than_its_box_is_set_smaller() -> None:
    assert fitting("a", 10, "bold", 1.0) == 10
    assert fitting("a name much longer", 10, "bold", 1.0) < 10
    assert fitting("a name much longer", 10, "bold", 0.7) < fitting("a name much longer", 10, "bold", 1.0)
