"""One watch in, many out: a source, the one that follows it, and everybody who follows
that one.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from lifecycle.figures.picture import INK, empty_axes, figure_of

SOURCE, MIDDLE, READER = "#7a4fb5", "#3d6fa8", "#2a7f62"
ROW = 0.42
"""Inches for a reader."""


def draw_fan(
    source: str,
    middle: Sequence[str],
    readers: Sequence[str],
    incoming: str,
    outgoing: str,
    *,
    width: float = 6.4,
) -> Figure:
    """`middle`: a name, and what it holds, line by line. `incoming` and `outgoing`
    stand at the arrow into the middle and above those out of it.
    """
    rows = max(len(readers), len(middle) + 1)
    [axes] = empty_axes(width, ROW * rows + 0.5)
    axes.set_axis_off()
    centre = (rows - 1) / 2
    _box(axes, 0.0, 1.2, centre, [source], SOURCE)
    _box(axes, 2.6, 2.1, centre, middle, MIDDLE)
    axes.text(1.9, centre - 0.25, incoming, ha="center", va="bottom", color=INK, size=9)
    _arrow(axes, (1.25, centre), (2.55, centre))
    axes.text(5.4, -0.75, outgoing, ha="center", va="center", color=INK, size=9)
    first = centre - (len(readers) - 1) / 2
    for number, reader in enumerate(readers):
        _box(axes, 6.0, 2.1, first + number, [reader], READER)
        _arrow(axes, (4.75, centre), (5.95, first + number))
    axes.set_xlim(-0.05, 8.15)
    axes.set_ylim(rows - 0.4, -1.1)
    return figure_of(axes)


def _box(
    axes: Axes, left: float, width: float, y: float, words: Sequence[str], colour: str
) -> None:
    height = 0.78 * len(words)
    axes.add_patch(
        FancyBboxPatch(
            (left, y - height / 2),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.12",
            facecolor=colour,
            edgecolor="none",
        )
    )
    for line, word in enumerate(words):
        axes.text(
            left + width / 2,
            y - height / 2 + 0.39 + 0.78 * line,
            word,
            ha="center",
            va="center",
            color="white",
            size=9.5,
            weight="bold" if line == 0 else "normal",
        )


def _arrow(axes: Axes, begin: tuple[float, float], end: tuple[float, float]) -> None:
    axes.annotate(
        "",
        end,
        begin,
        arrowprops={
            "arrowstyle": "-|>",
            "color": INK,
            "lw": 1.3,
            "shrinkA": 0,
            "shrinkB": 0,
        },
    )
