"""Who gets something from whom: boxes in columns, and an arrow for each pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from lifecycle.figures.picture import INK, empty_axes, figure_of

COLOURS = ("#7a4fb5", "#3d6fa8", "#2a7f62", "#b5541c")
ROW = 0.62
"""The height of a box and the room below it, in inches."""
STYLE: dict[str, Any] = {"size": 9.5, "color": "white", "ha": "center", "va": "center"}
WIDE = 0.72
"""The width of a box, as a part of its column."""


def draw_roles(
    columns: Sequence[Sequence[str]],
    arrows: Sequence[tuple[str, str]],
    *,
    width: float = 6.4,
) -> Figure:
    """`columns` of names, from left to right, each with a colour of its own; a name
    may have two lines. Arrows lead from name to name. Raises KeyError for an arrow at
    a name that stands nowhere, ValueError for more columns than colours.
    """
    if len(columns) > len(COLOURS):
        raise ValueError(f"{len(columns)} columns, and {len(COLOURS)} colours")
    tallest = max(len(column) for column in columns)
    [axes] = empty_axes(width, ROW * tallest + 0.1)
    axes.set_xlim(0, len(columns))
    axes.set_ylim(tallest - 0.5, -0.5)
    axes.axis("off")
    places: dict[str, tuple[float, float]] = {}
    for number, column in enumerate(columns):
        for row, name in enumerate(column):
            y = row + (tallest - len(column)) / 2
            places[name] = number + 0.5, y
            left = number + 0.5 - WIDE / 2
            axes.barh(y, WIDE, left=left, height=0.7, color=COLOURS[number])
            axes.text(number + 0.5, y, name, **STYLE)
    for giver, taker in arrows:
        axes.annotate(
            "",
            (places[taker][0] - WIDE / 2, places[taker][1]),
            (places[giver][0] + WIDE / 2, places[giver][1]),
            arrowprops={"arrowstyle": "-|>", "color": INK, "shrinkA": 0, "shrinkB": 0},
        )
    return figure_of(axes)
