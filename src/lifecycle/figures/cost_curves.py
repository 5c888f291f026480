"""How costs grow, drawn: seconds against size, one line for each kind of cost.

Both axes are logarithmic, so the steepness of a line says how it grows: one means twice
the cost for twice the size, nothing means that size does not matter, two that a
cluster of ten times the size waits a hundred times as long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from math import log

from matplotlib.figure import Figure

from lifecycle.figures.costs import APART, COLOURS
from lifecycle.figures.picture import INK, empty_axes, figure_of

Points = Sequence[tuple[float, float]]
"""Sizes and seconds, the smallest first; at least two."""


def exponent(points: Points) -> float:
    """How steep a curve is where it is largest: what everything begins with, however
    small it is, does not count there.
    """
    (small, cheap), (large, dear) = points[-2:]
    return log(dear / cheap) / log(large / small)


def draw_cost_curves(
    ours: Mapping[str, Points], theirs: Mapping[str, Points], width: float = 6.6
) -> Figure:
    """A line for each of ours, with its name and how steep it is. Whoever else was
    measured stands beside it in the same colour, broken.
    """
    [axes] = empty_axes(width, 4.4)
    place = float("inf")
    largest = max(points[-1][0] for points in ours.values())
    dearest_first = sorted(ours.items(), key=lambda curve: -curve[1][-1][1])
    for colour, (name, points) in zip(cycle(COLOURS), dearest_first):
        axes.plot(*zip(*points), color=colour, marker="o", markersize=3, linewidth=1.6)
        if name in theirs:
            axes.plot(*zip(*theirs[name]), color=colour, linewidth=1.2, linestyle="--")
        place = min(points[-1][1], place / APART)
        axes.annotate(
            f"  {name}: {exponent(points):.1f}",
            (largest, place),
            color=colour,
            fontsize=9,
            va="center",
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(right=largest * 60)
    axes.set_xlabel("how many", color=INK, fontsize=9)
    axes.set_ylabel("seconds", color=INK, fontsize=9)
    axes.tick_params(colors=INK, labelsize=9, which="both")
    return figure_of(axes)
