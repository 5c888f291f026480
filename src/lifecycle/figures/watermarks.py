"""How full a disk is over time, between two marks: at the upper one somebody begins to
clear up, at the lower one they stop.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from lifecycle.figures.picture import BAD, GOOD, INK, empty_axes, figure_of


def draw_watermarks(
    usage: Sequence[tuple[float, float]],
    low: float,
    high: float,
    *,
    unit: str = "hours",
    width: float = 7.0,
) -> Figure:
    """`usage`: (moment, percent) in order; a percentage stays until the next."""
    [axes] = empty_axes(width, 2.6)
    moments, percents = zip(*usage, strict=True)
    axes.step(moments, percents, where="post", color="#3d6fa8", linewidth=2)
    for percent, name, colour, side in (
        (high, "high", BAD, "bottom"),
        (low, "low", GOOD, "top"),
    ):
        axes.axhline(percent, color=colour, linewidth=1.2, linestyle="--")
        place = (moments[-1], percent)
        axes.annotate(
            f"{name}: {percent:g} %",
            place,
            (4, 0),
            textcoords="offset points",
            va=side,
            color=colour,
            size=10,
            annotation_clip=False,
        )
    axes.set_xlim(moments[0], moments[-1])
    axes.set_ylim(0, 100)
    axes.set_ylabel("percent of the disk", color=INK, size=10)
    axes.set_xlabel(unit, color=INK, size=10)
    return figure_of(axes)
