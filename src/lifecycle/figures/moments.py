"""What happened when: requests as dots on a line of time, and numbers as lines over it.

In `draw_moments` dots that stand above each other were sent at once; filled ones were
granted, crosses refused. All rows share one scale, so that their heights can be
compared. `draw_counts` shows how a number went up and down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import cycle

from matplotlib.axes import Axes

from lifecycle.figures.picture import BAD, GOOD, INK, Picture, empty_axes, figure_of

MANY = 12
"""So many moments can carry a number each; more would write over one another."""


def draw_moments(
    rows: Mapping[str, Sequence[tuple[float, bool]]],
    *,
    unit: str = "ms",
    width: float = 6.4,
    row_height: float = 1.7,
) -> Picture:
    """Each row is named and lists (moment, granted?) pairs; moments are in `unit`
    already.
    """
    grid = empty_axes(width, row_height * len(rows) + 0.4, len(rows))
    tallest = max(
        (
            max(Counter(t for t, _ in moments).values(), default=1)
            for moments in rows.values()
        ),
        default=1,
    )
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
                axes.scatter(
                    xs,
                    ys,
                    s=26,
                    marker=marker,
                    color=colour,
                    linewidths=1.6,
                    clip_on=False,
                )
        for moment, height in stacked.items():
            if len(stacked) <= MANY:
                place = (moment, height - 1)
                axes.annotate(
                    str(height),
                    place,
                    (0, 7),
                    textcoords="offset points",
                    ha="center",
                    color=INK,
                    size=11,
                )
        _name(axes, name)
        axes.set_ylim(-0.08 * tallest - 0.5, tallest * 1.2)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
    grid[-1].set_xlabel(unit, color=INK, size=11)
    return Picture(figure_of(grid[0]))


def draw_counts(
    rows: Mapping[str, Sequence[tuple[float, int]]],
    *,
    unit: str = "seconds",
    width: float = 6.4,
    row_height: float = 1.7,
) -> Picture:
    """Each row is named and lists (moment, number) pairs in order; the number stays
    until the next pair.
    """
    grid = empty_axes(width, row_height * len(rows) + 0.4, len(rows))
    highest = max(
        (number for counts in rows.values() for _, number in counts), default=1
    )
    for axes, (name, counts), colour in zip(grid, rows.items(), cycle((BAD, GOOD))):
        axes.step(
            [t for t, _ in counts],
            [number for _, number in counts],
            where="post",
            color=colour,
            linewidth=2,
        )
        _name(axes, name)
        axes.set_ylim(0, highest * 1.08)
        axes.grid(axis="y", color=INK, alpha=0.25, linewidth=0.6)
    grid[-1].set_xlabel(unit, color=INK, size=11)
    return Picture(figure_of(grid[0]))


def _name(axes: Axes, name: str) -> None:
    axes.set_title(name, loc="left", color=INK, size=11)
