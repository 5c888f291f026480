"""A way in steps, drawn from left to right: what is done at each, what it leaves
behind, and how it is called when it goes no further.

The words for a failure are in another colour, but stand apart as well, so the colours
are not needed to read the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from lifecycle.figures.picture import BAD, INK, empty_axes, figure_of

STEP = "#3a5f95"
GAP = 0.22
"""Between two boxes, where one box and a gap are 1 wide."""


@dataclass(slots=True, frozen=True)
class Step:
    """`name` stands in the box, `leaves` below it, `stops` at the very bottom. Each
    may have several lines.
    """

    name: str
    leaves: str = ""
    stops: str = ""


def draw_steps(
    steps: Sequence[Step], *, width: float = 7.0, colour: str = STEP
) -> Figure:
    """A box for each step, with arrows between them."""
    lines = max(step.leaves.count("\n") + bool(step.leaves) for step in steps)
    stopped = max(step.stops.count("\n") + bool(step.stops) for step in steps)
    below = 0.2 * (lines + stopped) + 0.15 * bool(stopped)
    [axes] = empty_axes(width, 0.75 + below)
    axes.set_axis_off()
    for x, step in enumerate(steps):
        axes.add_patch(
            FancyBboxPatch(
                (x, 0),
                1 - GAP,
                0.6,
                boxstyle="round,pad=0,rounding_size=0.05",
                facecolor=colour,
                edgecolor="none",
            )
        )
        middle = x + (1 - GAP) / 2
        style: dict[str, Any] = {"ha": "center", "size": 9.5}
        axes.text(middle, 0.3, step.name, va="center", color="white", **style)
        axes.text(middle, -0.08, step.leaves, va="top", color=INK, **style)
        under = -0.23 - 0.2 * lines if lines else -0.08
        axes.text(middle, under, step.stops, va="top", color=BAD, **style)
        if x:
            axes.annotate(
                "",
                (x - 0.02, 0.3),
                (x - GAP + 0.02, 0.3),
                arrowprops={"arrowstyle": "-|>", "color": INK},
            )
    axes.set_xlim(-0.05, len(steps) - GAP + 0.05)
    axes.set_ylim(-0.1 - below, 0.65)
    return figure_of(axes)
