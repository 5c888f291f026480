"""Probes over time: a lane for what is true of a container, and below it a row for each
probe, with a dot for each yes and a cross for each no.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lifecycle.figures.picture import BAD, GOOD, INK, Picture, empty_axes, figure_of

LANE = "#3d6fa8"


def draw_knocks(
    lanes: Mapping[str, Sequence[tuple[float, float]]],
    probes: Mapping[str, Sequence[tuple[float, bool]]],
    end: float,
    *,
    width: float = 6.4,
) -> Picture:
    """`lanes`: stretches (begin, end) in which something is so; `probes`: (moment,
    answer) pairs. What is after `end` is left out.
    """
    names = [*lanes, *probes]
    [axes] = empty_axes(width, 0.42 * len(names) + 0.75)
    for row, stretches in enumerate(lanes.values()):
        shown = [(b, min(e, end) - b) for b, e in stretches if b < end]
        axes.broken_barh(shown, (row - 0.2, 0.4), facecolors=LANE)
    for row, answers in enumerate(probes.values(), len(lanes)):
        for passed, marker, colour in ((True, "o", GOOD), (False, "x", BAD)):
            moments = [t for t, answer in answers if answer is passed and t <= end]
            if moments:
                axes.scatter(
                    moments,
                    [row] * len(moments),
                    s=30,
                    marker=marker,
                    color=colour,
                    linewidths=1.8,
                )
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.6)
    axes.set_xlim(-0.6, end + 0.6)
    axes.set_xlabel("seconds", color=INK, size=11)
    axes.spines["left"].set_visible(False)
    return Picture(figure_of(axes))
