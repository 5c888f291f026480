"""Pictures of what was measured: lengths are shares and sums, and nothing that was measured is left out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from lifecycle.figures.cost_curves import draw_cost_curves, exponent
from lifecycle.figures.costs import APART, COLOURS, draw_costs
from lifecycle.figures.lanes import draw_lanes
from lifecycle.figures.picture import BAD, GOOD
from lifecycle.figures.sameness import FREE, draw_sameness
from lifecycle.figures.scores import draw_scores


@dataclass
class Table:
    total: int
    fields_equal: int
    freedoms: dict[str, int] = field(default_factory=dict)


def bars(figure: Figure, row: int = 0) -> list[tuple[str, float, float, float]]:
    """Colour, where it begins, how long it is, and its line; only what can be seen."""
    return [
        (
            to_hex(bar.get_facecolor()),
            pytest.approx(bar.get_x()),
            pytest.approx(bar.get_width()),
            round(bar.get_y() + bar.get_height() / 2),
        )
        for bar in figure.axes[row].patches
        if bar.get_width()
    ]


def words(figure: Figure, row: int = 0) -> list[str]:
    return [text.get_text() for text in figure.axes[row].texts]


def written(svg: str) -> list[str]:
    return re.findall(r"<!-- (.*?) -->", svg)


def test_a_bar_of_sameness_is_what_is_equal_then_what_is_free_then_what_differs() -> None:
    tables = {"one": Table(200, 150, {"uid": 30, "time": 20}), "two": Table(10, 10)}
    figure = draw_sameness({"ours and kind": tables, "kind twice": {"one": Table(4, 2)}})
    assert bars(figure) == [(GOOD, 0, 50, 0), (FREE, 50, 25, 0), (BAD, 75, 25, 0), (GOOD, 0, 100, 1)]
    assert words(figure) == ["75.0 %", "100.0 %"]
    assert [text.get_position()[1] for text in figure.axes[0].texts] == [0, 1]
    assert bars(figure, 1) == [(GOOD, 0, 50, 0), (BAD, 50, 50, 0)]
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["ours and kind", "kind twice"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["one", "two"]
    assert all(axes.yaxis_inverted() for axes in figure.axes), "the first scenario stands on top"
    assert figure.axes[-1].get_xlabel() == "fields: equal · equal but for a freedom · different"
    assert figure.axes[0].get_xlabel() == ""


def test_more_freedoms_than_equal_fields_fill_no_more_than_those_and_an_empty_table_is_no_error() -> None:
    figure = draw_sameness({"pair": {"free": Table(4, 3, {"uid": 9}), "empty": Table(0, 0)}})
    assert bars(figure) == [(FREE, 0, 75, 0), (BAD, 75, 25, 0), (BAD, 0, 100, 1)]
    figure.canvas.draw()
    [first, _] = figure.axes[0].texts
    inside = figure.axes[0].get_window_extent()
    assert inside.x0 < first.get_window_extent().x0
    assert first.get_window_extent().x1 < figure.get_window_extent().x1


def test_each_component_is_a_line_through_its_writes_and_the_dearest_is_named_first() -> None:
    figure = draw_costs({1: {"kubelet": 5, "scheduler": 1}, 10: {"kubelet": 40, "scheduler": 10, "gc": 0}, 100: {
        "kubelet": 400, "scheduler": 100, "gc": 3}})  # fmt: skip
    [axes] = figure.axes
    lines = [[tuple(point) for point in line.get_xydata()] for line in axes.lines]
    assert lines == [[(1, 5), (10, 40), (100, 400)], [(1, 1), (10, 10), (100, 100)], [(100, 3)]]
    assert words(figure) == [" kubelet", " scheduler", " gc"]
    assert [line.get_color() for line in axes.lines] == list(COLOURS[:3])
    assert [text.get_color() for text in axes.texts] == list(COLOURS[:3])
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.get_xlim()[1] > 1000, "names stand right of the last point"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("pods of one Deployment", "writes until all is still")
    seen = {side: spine.get_visible() for side, spine in axes.spines.items()}
    assert seen == {"left": True, "bottom": True, "right": False, "top": False}


def test_names_of_lines_that_end_close_together_keep_their_distance() -> None:
    [axes] = draw_costs({10: {"a": 100, "b": 99, "c": 20}}).axes
    heights = [note.xy[1] for note in axes.texts]  # type: ignore[attr-defined]
    assert heights == [100, pytest.approx(100 / APART), 20]


def test_no_component_is_left_out_because_colours_have_run_out() -> None:
    many = {f"c{number}": 1000 - number for number in range(len(COLOURS) + 2)}
    figure = draw_costs({1: many})
    assert words(figure) == [f" {name}" for name in many]
    assert figure.axes[0].texts[len(COLOURS)].get_color() == COLOURS[0]


def test_a_curve_is_named_with_its_steepness_where_it_is_largest_and_the_other_sides_is_broken() -> None:
    nodes, watchers = ((1, 1.0), (10, 1.0), (100, 100.0)), ((10, 0.5), (1000, 0.5))
    figure = draw_cost_curves({"watchers": watchers, "nodes": nodes}, {"watchers": ((10, 0.1), (1000, 9.0))})
    [axes] = figure.axes
    lines = [[tuple(point) for point in line.get_xydata()] for line in axes.lines]
    assert lines == [list(nodes), list(watchers), [(10, 0.1), (1000, 9.0)]]
    assert [line.get_linestyle() for line in axes.lines] == ["-", "-", "--"]
    assert axes.lines[1].get_color() == axes.lines[2].get_color() == COLOURS[1]
    assert words(figure) == ["  nodes: 2.0", "  watchers: 0.0"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.get_xlim()[1] > 1000, "names stand right of the last point"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("how many", "seconds")


@given(st.floats(0.5, 3), st.floats(1e-6, 1e3), st.floats(2, 1e6))
def test_the_exponent_of_a_power_is_that_power(power: float, price: float, size: float) -> None:
    assert exponent([(1, 5.0), (size, price * size**power), (3 * size, price * (3 * size) ** power)]) == pytest.approx(
        power
    )


def test_a_nodes_bar_is_the_sum_of_all_plugins_and_only_large_pieces_are_numbered() -> None:
    scores = {"Fit": {"a": 90, "b": 29}, "Balanced": {"a": 30, "b": 0}, "Nothing": {"a": 0, "b": 0}}
    texts = written(draw_scores(scores).svg)
    assert texts[texts.index("b") + 1 :] == ["90", "30", "120", "29", "Fit", "Balanced"]


def test_no_plugin_is_left_out_because_colours_have_run_out() -> None:
    many = {f"p{number}": {"n": 10} for number in range(9)}
    texts = written(draw_scores(many).svg)
    assert "90" in texts
    assert [text for text in texts if text.startswith("p")] == list(many)


def test_without_any_score_there_is_an_empty_picture() -> None:
    assert [text for text in written(draw_scores({}).svg) if text.isalpha()] == []


LANES: dict[str, Any] = {
    "init": [(0, "waiting"), (10, "running"), (40, "terminated:Completed")],
    "main": [(0, ""), (50, "running"), (120, "running")],
}


def test_a_state_lasts_until_the_next_and_is_named_by_what_stands_behind_its_colon() -> None:
    svg = draw_lanes(LANES, 100, width=10).svg
    names = [text for text in written(svg) if text[0].isalpha()]
    assert names == ["seconds", "init", "main", "running", "Completed", "running"], "waiting has no room for its name"
    assert svg.count(f"fill: {GOOD}") == 2
    assert svg.count(f"fill: {BAD}") == 1
    assert svg.count("fill: #8a6d1f") == 1


@pytest.mark.parametrize(
    ("state", "colour"),
    [("Pending", "#8a6d1f"), ("Failed", BAD), ("Succeeded", "#3a5f95"), ("Running", GOOD), ("ready", GOOD),
     ("not ready", "#8a6d1f"), ("terminating", BAD), ("something", "#808080")],
)  # fmt: skip
def test_states_of_pods_and_endpoints_have_their_colours(state: str, colour: str) -> None:
    assert f"fill: {colour}" in draw_lanes({"a": [(0, state)]}, 10).svg.split("axes_1")[1].split("matplotlib.axis")[0]
