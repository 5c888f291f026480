"""What became of the articles' claims, drawn: one bar a stage, one colour a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lifecycle.figures.picture import INK, empty_axes, figure_of

COLOURS = {
    "holds": "#2a7f62",
    "partly": "#8fb8a8",
    "changed": "#c9912c",
    "removed": "#b5441c",
    "wrong-from-the-start": "#9a5580",
}


def draw_verdicts(stages: Mapping[str, Counter[str]], width: float = 5.2) -> Figure:
    """Stage → how many of its claims have which verdict."""
    [axes] = empty_axes(width, 0.21 * len(stages) + 1.1)
    for place, counts in enumerate(stages.values()):
        left = 0
        for verdict, colour in COLOURS.items():
            axes.barh(
                place,
                counts[verdict],
                left=left,
                color=colour,
                height=0.75,
                label=verdict if place == 0 else None,
            )
            left += counts[verdict]
    axes.set_yticks(range(len(stages)), list(stages), color=INK, fontsize=8)
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("claims", color=INK, fontsize=9)
    axes.tick_params(colors=INK, labelsize=8)
    for spine in axes.spines.values():
        spine.set_visible(False)
    figure_of(axes).legend(
        handles=[
            axes.barh(0, 0, color=colour, label=verdict)
            for verdict, colour in COLOURS.items()
        ],
        loc="outside upper center",
        ncols=len(COLOURS),
        frameon=False,
        labelcolor=INK,
        fontsize=8,
        handlelength=1,
        columnspacing=1.2,
    )
    return figure_of(axes)
