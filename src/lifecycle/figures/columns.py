"""Columns of boxes with arrows from left to right: who leads to what, in some steps.

A box has a bold title and, below it, plain lines. Boxes are as high as their text, and
a column's boxes are spread evenly over the height of the highest column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from lifecycle.figures.picture import INK, empty_axes, figure_of, fitting

PLAIN = "#5c6470"
LINE, GAP = 0.24, 0.22
"""A line of text, and the least room between two boxes, in inches."""
SHARE = 0.78
"""How much of a column's width a box takes; the rest belongs to the arrows."""


@dataclass(slots=True, frozen=True)
class Box:
    """One box. Boxes are told apart by what stands in them, and by `key` if two say the
    same.
    """

    title: str
    lines: tuple[str, ...] = ()
    colour: str = PLAIN
    key: str = ""

    @property
    def height(self) -> float:
        """In inches."""
        return LINE * (1 + len(self.lines)) + 0.14


def draw_columns(
    headings: Sequence[str],
    columns: Sequence[Sequence[Box]],
    arrows: Sequence[tuple[Box, Box]],
    *,
    width: float = 7.0,
) -> Figure:
    """`columns` below their `headings`; each arrow leads from a box to one in a column
    to the right.

    Raises ValueError for an arrow at a box that stands in no column.
    """
    highest = max(sum(box.height + GAP for box in column) for column in columns)
    top = LINE + GAP
    [axes] = empty_axes(width, highest + top)
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(highest + top, 0)
    wide = SHARE * width / len(columns)
    step = (width - wide) / max(len(columns) - 1, 1)
    places: dict[Box, tuple[float, float]] = {}
    for column, (heading, boxes) in enumerate(zip(headings, columns, strict=True)):
        left = column * step
        axes.text(left + wide / 2, LINE / 2, heading, ha="center", color=INK, size=10)
        room = (highest - sum(box.height for box in boxes)) / len(boxes)
        y = top + room / 2
        for box in boxes:
            places[box] = left, y
            _draw(axes, box, left, y, wide)
            y += box.height + room
    for begin, end in arrows:
        if begin not in places or end not in places:
            raise ValueError(f"no box for the arrow {begin.title} → {end.title}")
        (x, y), (to_x, to_y) = places[begin], places[end]
        axes.annotate(
            "",
            (to_x, to_y + end.height / 2),
            (x + wide, y + begin.height / 2),
            arrowprops={
                "arrowstyle": "-|>",
                "color": INK,
                "lw": 1.3,
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )
    return figure_of(axes)


def _draw(axes: Axes, box: Box, x: float, y: float, width: float) -> None:
    axes.add_patch(
        FancyBboxPatch(
            (x, y),
            width,
            box.height,
            boxstyle="round,pad=0,rounding_size=0.08",
            facecolor=box.colour,
            edgecolor="none",
        )
    )
    for row, text in enumerate((box.title, *box.lines)):
        size, weight = (8.5, "normal") if row else (9.5, "bold")
        axes.text(
            x + width / 2,
            y + 0.07 + LINE * (row + 0.5),
            text,
            ha="center",
            va="center",
            color="white",
            size=fitting(text, size, weight, width),
            weight=weight,
        )
