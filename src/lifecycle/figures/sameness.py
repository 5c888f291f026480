"""How alike two clusters are, one bar a scenario: what a reader looks at before any
single field.

Each bar is all fields that either side has: equal outright, equal but for a freedom
that Kubernetes takes itself, and different.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from matplotlib.figure import Figure

from lifecycle.figures.picture import BAD, GOOD, INK, empty_axes, figure_of

FREE = "#8fb8a8"


class Sums(Protocol):
    """What is drawn of an agreement table."""

    total: int
    fields_equal: int
    freedoms: Mapping[str, int]


def draw_sameness(
    pairs: Mapping[str, Mapping[str, Sums]], width: float = 7.0
) -> Figure:
    """One group of bars for each pair of clusters: pair → scenario → its table."""
    figure_axes = empty_axes(
        width,
        0.26 * sum(map(len, pairs.values())) + 0.5 * len(pairs) + 0.6,
        rows=len(pairs),
    )
    for axes, (pair, tables) in zip(figure_axes, pairs.items(), strict=True):
        for place, table in enumerate(tables.values()):
            whole = max(table.total, 1)
            free = min(sum(table.freedoms.values()), table.fields_equal) / whole
            equal, different = (
                table.fields_equal / whole - free,
                1 - table.fields_equal / whole,
            )
            left = 0.0
            for share, colour in ((equal, GOOD), (free, FREE), (different, BAD)):
                axes.barh(place, 100 * share, left=left, color=colour, height=0.7)
                left += 100 * share
            axes.text(
                101,
                place,
                f"{100 * table.fields_equal / whole:.1f} %",
                va="center",
                color=INK,
                fontsize=8,
            )
        axes.set_yticks(range(len(tables)), list(tables), color=INK, fontsize=8)
        axes.invert_yaxis()
        axes.set_xlim(0, 112)
        axes.set_title(pair, loc="left", color=INK, fontsize=9)
        axes.tick_params(colors=INK, labelsize=8)
        for spine in axes.spines.values():
            spine.set_visible(False)
    figure_axes[-1].set_xlabel(
        "fields: equal · equal but for a freedom · different", color=INK, fontsize=8
    )
    return figure_of(figure_axes[0])
