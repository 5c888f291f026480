"""What a CPU request weighs against others, drawn: request against `cpu.weight`, one
line for each way to compute it. Both axes are logarithmic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from lifecycle.figures.picture import INK, empty_axes, figure_of

COLOURS = ("#3d6fa8", "#c9722c", "#2a7f62")
LABEL_AT = 0.2
"""Where on its line a label stands: at this share of the points."""


def draw_weights(
    lines: Mapping[str, Sequence[tuple[float, int]]], *, width: float = 7.0
) -> Figure:
    """Name → (CPUs requested, weight), by request. Raises ValueError for more lines
    than there are colours.
    """
    if len(lines) > len(COLOURS):
        raise ValueError(f"{len(lines)} lines, and {len(COLOURS)} colours")
    [axes] = empty_axes(width, 3)
    for colour, (name, points) in zip(COLOURS, lines.items(), strict=False):
        axes.loglog(*zip(*points, strict=True), color=colour)
        axes.annotate(
            name,
            points[int(LABEL_AT * len(points))],
            (0, 6),
            textcoords="offset points",
            ha="right",
            color=colour,
        )
    axes.set_xlabel("CPUs requested", color=INK)
    axes.set_ylabel("cpu.weight", color=INK)
    axes.minorticks_off()
    return figure_of(axes)
