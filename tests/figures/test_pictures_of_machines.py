"""Steps with what they leave behind, a machine's CPUs with their owners, a disk between its marks."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from lifecycle.figures.cpus import COLOURS, draw_cpus
from lifecycle.figures.picture import BAD, GOOD, INK, Picture
from lifecycle.figures.steps import Step, draw_steps
from lifecycle.figures.watermarks import draw_watermarks
from lifecycle.kubelet.cm.cpumanager.topology import CPUTopology

STEPS = [Step("pull", "Pulling\nPulled", "ErrImagePull"), Step("create"), Step("start", "Started", "RunContainerError")]


def words(figure: Figure) -> list[Any]:
    return [text for text in figure.axes[0].texts if text.get_text()]


def test_each_step_is_a_box_with_what_it_leaves_and_how_it_stops_below_it() -> None:
    figure = draw_steps(STEPS)
    boxes = [patch for patch in figure.axes[0].patches if patch.get_width() > 0.5]
    assert len(boxes) == len(STEPS)
    placed = {text.get_text(): text for text in words(figure)}
    assert {name: to_hex(text.get_color()) for name, text in placed.items()} == {
        "pull": "#ffffff", "create": "#ffffff", "start": "#ffffff",
        "Pulling\nPulled": INK, "Started": INK,
        "ErrImagePull": BAD, "RunContainerError": BAD,
    }  # fmt: skip
    for step in (STEPS[0], STEPS[2]):
        column = [placed[word].get_position() for word in (step.name, step.leaves, step.stops)]
        assert len({x for x, _ in column}) == 1
        assert column[0][1] > column[1][1] > column[2][1]


def test_steps_go_from_left_to_right_with_an_arrow_between_each_two() -> None:
    figure = draw_steps(STEPS)
    places = [t.get_position()[0] for t in words(figure) if t.get_text() in ("pull", "create", "start")]
    assert places == sorted(places)
    arrows = [t for t in figure.axes[0].texts if getattr(t, "arrow_patch", None) is not None]
    assert len(arrows) == len(STEPS) - 1


def test_a_cpu_carries_its_number_and_its_owner() -> None:
    machine = CPUTopology.regular(2, 2)
    figure = draw_cpus(machine, {"system": frozenset({0}), "pair": frozenset({1, 5})})
    said = {text.get_text() for text in words(figure)}
    assert said == {"socket 0", "socket 1", "0\nsystem", "1\npair", "5\npair", "2", "3", "4", "6", "7"}
    filled = [to_hex(patch.get_facecolor()) for patch in figure.axes[0].patches if patch.get_facecolor()[3]]
    assert sorted(filled) == sorted([COLOURS[0], COLOURS[1], COLOURS[1]])


def test_more_owners_than_colours_are_refused() -> None:
    with pytest.raises(ValueError, match=r"6 owners, and 5 colours$"):
        draw_cpus(CPUTopology.regular(1, 8), {str(n): frozenset({n}) for n in range(6)})


def test_a_disk_fills_in_steps_between_two_marks() -> None:
    [axes] = draw_watermarks([(0, 10), (1, 90), (2, 80)], 80, 85, unit="days").axes
    usage, high, low = axes.get_lines()
    assert list(zip(*usage.get_data(), strict=True)) == [(0, 10), (1, 90), (2, 80)]
    assert usage.get_drawstyle() == "steps-post"
    assert [(line.get_ydata()[0], line.get_color()) for line in (high, low)] == [(85, BAD), (80, GOOD)]
    assert {text.get_text() for text in axes.texts} == {"high: 85 %", "low: 80 %"}
    assert (axes.get_xlabel(), axes.get_ylim()) == ("days", (0, 100))


def test_each_is_the_same_each_time_and_draw_on_nothing() -> None:
    drawings = (
        lambda: draw_steps(STEPS),
        lambda: draw_cpus(CPUTopology.regular(1, 2), {"a": frozenset({0})}),
        lambda: draw_watermarks([(0, 10), (1, 90)], 80, 85),
    )
    for draw in drawings:
        svg = Picture(draw()).svg
        assert svg == Picture(draw()).svg
        assert "fill: #ffffff" not in svg.replace('style="fill: #ffffff" transform', "")
