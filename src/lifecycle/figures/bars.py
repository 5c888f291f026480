"""How many of something, drawn: one bar for each name, with its number at the end."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lifecycle.figures.picture import INK, empty_axes, figure_of

PLAIN, MARKED = "#3d6fa8", "#c9722c"


def draw_bars(
    counts: Mapping[str, int],
    unit: str,
    *,
    marked: Collection[str] = (),
    width: float = 7.0,
) -> Figure:
    """Names from top to bottom; `unit` says below what is counted. Those that are
    `marked` have another colour.
    """
    [axes] = empty_axes(width, 0.32 * len(counts) + 0.7)
    colours = [MARKED if name in marked else PLAIN for name in counts]
    bars = axes.barh(list(counts), list(counts.values()), color=colours, height=0.7)
    axes.bar_label(bars, color=INK, padding=3)
    axes.invert_yaxis()
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(unit, color=INK)
    return figure_of(axes)
