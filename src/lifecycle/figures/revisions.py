"""A store's history, drawn: each change is a dot, a lane is a key, left is earlier.

What a watch was told of is coloured, what came before it is grey.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from matplotlib.figure import Figure

from lifecycle.figures.picture import INK, empty_axes, figure_of

REPORTED = "#3d6fa8"


class Change(NamedTuple):
    """What happened (`put`, `delete`) to a key, and the store's revision after it."""

    revision: int
    key: str
    what: str


def draw_revisions(
    changes: Sequence[Change], reported: Collection[int], *, width: float = 6.4
) -> Figure:
    """`reported` are the revisions that a watch reported. The first key is on top."""
    keys = list(dict.fromkeys(change.key for change in changes))
    [axes] = empty_axes(width, 0.8 * len(keys) + 0.6)
    for revision, key, what in changes:
        lane = keys.index(key)
        colour = REPORTED if revision in reported else INK
        axes.scatter(revision, lane, s=160, color=colour)
        axes.annotate(
            f"{what} {key}\nrevision {revision}",
            (revision, lane),
            (0, 12),
            textcoords="offset points",
            ha="center",
            color=INK,
            fontsize=10,
        )
    axes.set_yticks(range(len(keys)), [f"key {key}" for key in keys], color=INK)
    axes.set_ylim(len(keys) - 0.5, -1)
    axes.set_xticks([])
    axes.margins(x=0.15)
    for side in axes.spines.values():
        side.set_visible(False)
    return figure_of(axes)
