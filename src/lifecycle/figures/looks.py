"""Looks at things that change: a lane for each container, a thin line for each look,
and at each look a mark on those lanes of which it brought news.

What happens and is over between two lines was seen by nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lifecycle.figures.picture import BAD, GOOD, INK, Picture, empty_axes, figure_of

COLOURS = {"running": GOOD, "exited": BAD}


def draw_looks(
    lanes: Mapping[str, Sequence[tuple[float, str]]],
    looks: Sequence[float],
    news: Mapping[str, Sequence[tuple[float, str]]],
    *,
    width: float = 6.4,
) -> Picture:
    """Lanes list (moment, state) in order, `news` (look, word). A state lasts until the
    next, the last one until the last look; states without a colour are not drawn.
    """
    end = max(looks) + 0.5
    [axes] = empty_axes(width, 0.75 * len(lanes) + 0.8)
    for look in looks:
        axes.axvline(look, color=INK, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    for row, (name, changes) in enumerate(lanes.items()):
        ends = [moment for moment, _ in changes[1:]] + [end]
        for (begin, state), until in zip(changes, ends, strict=True):
            if state in COLOURS:
                stretch = [(begin, until - begin)]
                axes.broken_barh(stretch, (row - 0.05, 0.35), facecolors=COLOURS[state])
                if until - begin > 0.014 * len(state) * end:
                    axes.text(
                        (begin + until) / 2,
                        row + 0.125,
                        state,
                        color="white",
                        size=9,
                        ha="center",
                        va="center",
                    )
        for look, word in news.get(name, ()):
            axes.plot([look], [row - 0.17], marker="v", color=INK, markersize=5)
            axes.text(look + 0.012 * end, row - 0.14, word, color=INK, size=8.5)
    axes.set_yticks([row + 0.1 for row in range(len(lanes))], list(lanes))
    axes.set_ylim(len(lanes) - 0.45, -0.6)
    axes.set_xlim(0, end)
    axes.set_xlabel("seconds", color=INK, size=11)
    axes.spines["left"].set_visible(False)
    return Picture(figure_of(axes))
