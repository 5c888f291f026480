"""Ideas drawn as boxes and arrows: what stands where, and what goes from one to the
other.

A box has a place on a grid, a name, and a line or two about it. An arrow leads from one
box to another and may carry a word. Colours say who is who: the API server is grey
everywhere in the book, programs are blue, what is stored is green, work is purple,
trouble is red.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from lifecycle.figures.picture import (
    BAD,
    GOOD,
    INK,
    Picture,
    empty_axes,
    figure_of,
    fitting,
)

SERVER, PROGRAM, STORED, WORK, TROUBLE = "#5c6470", "#2f63c4", GOOD, "#7a4fb5", BAD
NAME_SIZE, TEXT_SIZE, LABEL_SIZE, LINE = 10.5, 8.5, 9.0, 0.16


class Box(NamedTuple):
    """`x` and `y` count columns from the left and rows from the top; halves are fine.
    Lines of `text` are broken by the caller.
    """

    x: float
    y: float
    text: str = ""
    colour: str = PROGRAM


class Arrow(NamedTuple):
    """From one box's name to another's. `bend` curves it; `at` is where on it the word
    stands, 0 is its tail.
    """

    tail: str
    head: str
    word: str = ""
    bend: float = 0.0
    at: float = 0.5
    dashed: bool = False


def draw_boxes(
    boxes: Mapping[str, Box],
    arrows: Sequence[Arrow] = (),
    *,
    width: float = 6.4,
    column: float = 2.2,
    row: float = 1.15,
    box: tuple[float, float] = (1.65, 0.68),
) -> Picture:
    """`column` and `row` are the distances of the grid in inches, `box` the size of
    each.
    """
    right = max(b.x for b in boxes.values()) * column + box[0]
    bottom = max(b.y for b in boxes.values()) * row + box[1]
    scale = width / (right + 0.1)
    [axes] = empty_axes(width, (bottom + 0.1) * scale)
    axes.set_axis_off()
    axes.set_xlim(-0.05, right + 0.05)
    axes.set_ylim(bottom + 0.05, -0.05)
    patches = {}
    for name, one in boxes.items():
        corner = one.x * column, one.y * row
        patches[name] = FancyBboxPatch(
            corner,
            *box,
            boxstyle="round,pad=0,rounding_size=0.09",
            facecolor=one.colour,
            edgecolor="none",
        )
        axes.add_patch(patches[name])
        middle = corner[0] + box[0] / 2, corner[1] + box[1] / 2
        _write(axes, *middle, name, one.text, box[0] * scale)
    for arrow in arrows:
        tail, head = (_middle(boxes[n], column, row, box) for n in arrow[:2])
        axes.annotate(
            "",
            head,
            tail,
            arrowprops={
                "arrowstyle": "-|>",
                "color": INK,
                "lw": 1.4,
                "linestyle": (0, (4, 3)) if arrow.dashed else "-",
                "connectionstyle": f"arc3,rad={arrow.bend}",
                "patchA": patches[arrow.tail],
                "patchB": patches[arrow.head],
                "shrinkA": 1,
                "shrinkB": 1,
            },
        )
        if arrow.word:
            _word(axes, tail, head, arrow)
    return Picture(figure_of(axes))


def _middle(
    one: Box, column: float, row: float, box: tuple[float, float]
) -> tuple[float, float]:
    return one.x * column + box[0] / 2, one.y * row + box[1] / 2


def _write(axes: Axes, x: float, y: float, name: str, text: str, width: float) -> None:
    lines = text.split("\n") if text else []
    top = y - LINE * len(lines) / 2
    axes.text(
        x,
        top,
        name,
        ha="center",
        va="center",
        color="white",
        weight="bold",
        size=fitting(name, NAME_SIZE, "bold", width),
    )
    for number, line in enumerate(lines, 1):
        place = top + LINE * (number + 0.15)
        size = fitting(line, TEXT_SIZE, "normal", width)
        axes.text(x, place, line, ha="center", va="center", color="white", size=size)


def _word(
    axes: Axes, tail: tuple[float, float], head: tuple[float, float], arrow: Arrow
) -> None:
    """On the arrow's line, which an `arc3` bends by half of `rad` in its middle."""
    dx, dy = head[0] - tail[0], head[1] - tail[1]
    swing = arrow.bend * 2 * arrow.at * (1 - arrow.at)
    x = tail[0] + dx * arrow.at - dy * swing
    y = tail[1] + dy * arrow.at + dx * swing
    flat = abs(dy) < 0.25 * abs(dx)
    back = dx < 0 and arrow.bend != 0  # a way back runs below the way there
    if flat:
        offset, beside = ((0, -5), "top") if back else ((0, 4), "bottom")
    elif abs(dy) < abs(dx):  # a slope: on that side of it where it leaves room
        offset, beside = (2, 0), "bottom" if dx * dy > 0 else "top"
    else:
        offset, beside = (5, 0), "center"
    axes.annotate(
        arrow.word,
        (x, y),
        offset,
        textcoords="offset points",
        ha="center" if flat else "left",
        va=beside,
        color=INK,
        size=LABEL_SIZE,
    )


def draw_links(
    links: Mapping[str, Sequence[str]],
    titles: tuple[str, str],
    *,
    width: float = 6.4,
    row: float = 0.42,
    boxes: tuple[float, float] = (2.5, 2.5),
) -> Picture:
    """Two columns, and a line from each name on the left to all that it leads to on the
    right, in the order in which they are first named. `boxes`: how wide, in inches.
    """
    left = list(links)
    right = list(dict.fromkeys(each for targets in links.values() for each in targets))
    rows = max(len(left), len(right), 1)
    [axes] = empty_axes(width, row * (rows + 1))
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(rows * row, -row)
    places: list[dict[str, float]] = []
    for names, x, wide, colour, title in (
        (left, 0.0, boxes[0], PROGRAM, titles[0]),
        (right, width - boxes[1], boxes[1], STORED, titles[1]),
    ):
        step = rows / max(len(names), 1)
        column = {n: (i + 0.5) * step * row - row / 2 for i, n in enumerate(names)}
        places.append(column)
        middle = x + wide / 2
        axes.text(
            middle, -row * 0.55, title, ha="center", va="center", color=INK, size=10
        )
        for name, y in column.items():
            axes.add_patch(
                FancyBboxPatch(
                    (x, y + 0.05),
                    wide,
                    row - 0.1,
                    boxstyle="round,pad=0,rounding_size=0.07",
                    facecolor=colour,
                    edgecolor="none",
                )
            )
            axes.text(
                middle,
                y + row / 2,
                name,
                ha="center",
                va="center",
                color="white",
                size=9.5,
            )
    for name, targets in links.items():
        for target in targets:
            axes.plot(
                [boxes[0] + 0.04, width - boxes[1] - 0.04],
                [places[0][name] + row / 2, places[1][target] + row / 2],
                color=INK,
                linewidth=1.1,
            )
    return Picture(figure_of(axes))
