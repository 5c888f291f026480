"""Requests as dots on a line of time: one stack for each moment, one row for each way it went.

Dots that stand above each other were sent at once. Filled ones were granted, crosses refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from lifecycle.trace.picture import BAD, GOOD, INK, Picture, empty_axes


def draw_moments(
    rows: Mapping[str, Sequence[tuple[float, bool]]], *, unit: str = "ms", width: float = 8.0, row_height: float = 1.8
) -> Picture:
    """Each row is named and lists (moment, granted?) pairs; moments are in `unit` already."""
    grid = empty_axes(width, row_height * len(rows) + 0.4, len(rows))
    for axes, (name, moments) in zip(grid, rows.items(), strict=True):
        stacked: Counter[float] = Counter()
        for granted, marker, colour in ((True, "o", GOOD), (False, "x", BAD)):
            points = []
            for moment, was_granted in moments:
                if was_granted is granted:
                    points.append((moment, stacked[moment]))
                    stacked[moment] += 1
            if points:
                xs, ys = zip(*points)
                axes.scatter(xs, ys, s=26, marker=marker, color=colour, linewidths=1.6, clip_on=False)
        for moment, height in stacked.items():
            if len(stacked) <= 12:
                axes.annotate(
                    str(height), (moment, height), (0, 2), textcoords="offset points", ha="center", color=INK, size=9
                )
        axes.set_title(name, loc="left", color=INK, size=10)
        axes.set_ylim(-1, max(stacked.values(), default=1) * 1.15 + 1)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
    grid[-1].set_xlabel(unit, color=INK, size=9)
    return Picture(grid[0].figure)  # type: ignore[arg-type]
