"""How long pods took to start, drawn: what counts for the promise, and what pulling
images and init containers took, which does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lifecycle.figures.picture import BAD, GOOD, INK, Picture, empty_axes, figure_of

PULL = "#c9912c"


class Startup(NamedTuple):
    """A pod's start in seconds: the part that counts, and all of it."""

    pod: str
    counted: float
    whole: float


def draw_startups(pods: Sequence[Startup], promised: float) -> Picture:
    """A bar for each pod, the slowest at the top; `promised` seconds are a line."""
    rows = sorted(pods, key=lambda start: -start.whole)
    [axes] = empty_axes(6.8, 0.27 * len(rows) + 0.9)
    for row, start in enumerate(rows):
        axes.barh(row, start.counted, height=0.7, color=GOOD)
        axes.barh(
            row,
            start.whole - start.counted,
            left=start.counted,
            height=0.7,
            color=PULL,
        )
    axes.axvline(promised, color=BAD, lw=1.2, linestyle="--")
    axes.text(
        promised, -1.1, f"{promised:g} s", color=BAD, size=10, ha="center", va="bottom"
    )
    axes.set_yticks(range(len(rows)), [start.pod for start in rows], size=9)
    axes.set_ylim(len(rows) - 0.4, -1.0)
    axes.set_xlabel("seconds from creation to all containers running", color=INK)
    axes.spines["left"].set_visible(False)
    return Picture(figure_of(axes))
