"""States over time: a lane for each container, a coloured stretch for each state it was
in.

Stretches carry their name where there is room, so the colours are not needed to read
the picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lifecycle.figures.picture import BAD, GOOD, INK, Picture, empty_axes, figure_of

COLOURS = {"waiting": "#8a6d1f", "running": GOOD, "terminated": BAD}
PHASES = {"Pending": "#8a6d1f", "Running": GOOD, "Succeeded": "#3a5f95", "Failed": BAD}
ENDPOINTS = {"ready": GOOD, "not ready": "#8a6d1f", "terminating": BAD}


def draw_lanes(
    lanes: Mapping[str, Sequence[tuple[float, str]]],
    end: float,
    *,
    width: float = 6.4,
    lane_height: float = 0.55,
) -> Picture:
    """Each lane lists (moment, state) in order; a state lasts until the next, the last
    one until `end`. Unnamed states are drawn thin.
    """
    [axes] = empty_axes(width, lane_height * len(lanes) + 0.7)
    for row, changes in enumerate(lanes.values()):
        ends = [min(moment, end) for moment, _ in changes[1:]] + [end]
        for (begin, state), until in zip(changes, ends, strict=True):
            if not state or until <= begin:
                continue
            word = state.split(":")[0]
            colour = COLOURS.get(word) or PHASES.get(word) or ENDPOINTS.get(word, INK)
            axes.broken_barh(
                [(begin, until - begin)],
                (row - 0.36, 0.72),
                facecolors=colour,
                edgecolor="none",
            )
            label = state.partition(":")[2] or state
            if (until - begin) / end > 0.017 * len(label):
                axes.text(
                    (begin + until) / 2,
                    row,
                    label,
                    color="white",
                    size=9,
                    ha="center",
                    va="center",
                )
    axes.set_yticks(range(len(lanes)), list(lanes))
    axes.set_ylim(len(lanes) - 0.45, -0.55)
    axes.set_xlim(0, end)
    axes.set_xlabel("seconds", color=INK, size=11)
    axes.spines["left"].set_visible(False)
    return Picture(figure_of(axes))
