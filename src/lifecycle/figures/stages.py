"""The stages of one request, drawn in the order in which they begin: a stair of bars.
What is done inside another stage stands below it and is shorter.

The picture shows the order and what is inside what, not how long anything took.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from lifecycle.api.tracing import Span
from lifecycle.figures.picture import INK, empty_axes, figure_of

COLOUR = "#3d6fa8"
LENGTH, INDENT = 0.9, 0.1
"""Of a bar, in stages; and how much an inner one is cut at both ends."""


def draw_stages(spans: Sequence[Span], *, width: float = 6.4) -> Figure:
    """`spans` by their beginning. One that lies within an earlier one is inside it."""
    [axes] = empty_axes(width, 0.35 * len(spans) + 0.3)
    places: dict[int, tuple[float, float]] = {}
    free = 0.0
    for row, span in enumerate(spans):
        outer = next(
            (
                places[each.id]
                for each in reversed(spans[:row])
                if each.start <= span.start and span.end <= each.end
            ),
            None,
        )
        if outer is None:
            left, length, free = free, LENGTH, free + 1
        else:
            left, length = outer[0] + INDENT, max(outer[1] - 2 * INDENT, INDENT)
        places[span.id] = left, length
        axes.barh(row, length, left=left, color=COLOUR)
    axes.set_yticks(range(len(spans)), [span.name for span in spans], color=INK)
    axes.set_xticks([])
    axes.invert_yaxis()
    for side in axes.spines.values():
        side.set_visible(False)
    return figure_of(axes)
