"""What growing costs, drawn: requests against pods, one line for each component."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle

from matplotlib.figure import Figure

from lifecycle.figures.picture import INK, empty_axes, figure_of

APART = 1.5
"""Factor between two labels, so that they do not cover each other."""

COLOURS = ("#2a7f62", "#c9912c", "#a65c88", "#3f6fb5", "#b5441c", "#6f7d2a")


def draw_costs(costs: Mapping[int, Mapping[str, int]], width: float = 5.4) -> Figure:
    """Number of pods → component → writes. Both axes are logarithmic: a line that rises
    by one per one is a price per pod.
    """
    [axes] = empty_axes(width, 3.4)
    components = sorted(
        {name for counts in costs.values() for name in counts},
        key=lambda n: -max(costs.values(), key=sum_of).get(n, 0),
    )
    place = float("inf")
    for colour, component in zip(cycle(COLOURS), components):
        points = [
            (pods, counts[component])
            for pods, counts in costs.items()
            if counts.get(component)
        ]
        axes.plot(
            *zip(*points, strict=True),
            color=colour,
            marker="o",
            markersize=3,
            linewidth=1.6,
        )
        pods, writes = points[-1]
        place = min(writes, place / APART)
        axes.annotate(
            f" {component}", (pods, place), color=colour, fontsize=9, va="center"
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(right=max(costs) * 15)
    axes.set_xlabel("pods of one Deployment", color=INK, fontsize=9)
    axes.set_ylabel("writes until all is still", color=INK, fontsize=9)
    axes.tick_params(colors=INK, labelsize=9, which="both")
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(INK)
    return figure_of(axes)


def sum_of(counts: Mapping[str, int]) -> int:
    """All of them."""
    return sum(counts.values())
