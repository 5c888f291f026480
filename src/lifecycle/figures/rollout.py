"""A rolling update as a picture: how many pods the old and the new template may have,
and how many pods serve.

The coloured areas are wishes, stacked: the sizes that the Deployment controller has
given to the ReplicaSets. The line is what is really available. Dashed lines are the
limits that the controller promises to keep.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib.ticker import MaxNLocator

from lifecycle.figures.picture import BAD, GOOD, INK, Picture, empty_axes, figure_of

SERVING = "#4a7bd0"


class Look(NamedTuple):
    """One look at a rollout: when, the sizes of all old ReplicaSets together and of the
    new one, and the pods available in all.
    """

    at: float
    old: int
    new: int
    available: int


def draw_rollout(
    looks: Sequence[Look],
    low: int,
    high: int,
    *,
    unit: str = "seconds",
    width: float = 6.4,
    height: float = 3.2,
) -> Picture:
    """The looks in order of time; each holds until the next. `low` and `high` are the
    pods promised and the pods allowed.
    """
    [axes] = empty_axes(width, height)
    times = [look.at for look in looks]
    new = [float(look.new) for look in looks]
    both = [float(look.new + look.old) for look in looks]
    axes.fill_between(
        times, new, step="post", color=GOOD, linewidth=0, label="new template"
    )
    axes.fill_between(
        times, both, new, step="post", color=BAD, linewidth=0, label="old template"
    )
    available = [look.available for look in looks]
    axes.step(
        times,
        available,
        where="post",
        color=SERVING,
        linewidth=2.2,
        label="pods available",
    )
    # The lower limit lies within the coloured areas and is written on them; the upper
    # one lies above them.
    for limit, name, ink, place in (
        (
            low,
            f"never fewer available: {low}",
            "white",
            {"xytext": (-4, -4), "va": "top"},
        ),
        (high, f"never more in all: {high}", INK, {"xytext": (-4, 3), "va": "bottom"}),
    ):
        axes.axhline(limit, color=ink, linewidth=1.1, linestyle=(0, (4, 3)))
        where: dict[str, Any] = {
            "xycoords": ("axes fraction", "data"),
            "textcoords": "offset points",
            **place,
        }
        axes.annotate(name, (1, limit), ha="right", color=ink, size=10, **where)
    axes.set_ylim(0, high * 1.16)
    axes.set_xlim(times[0], times[-1])
    axes.set_xlabel(unit, color=INK, size=11)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=3,
        frameon=False,
        labelcolor=INK,
        fontsize=10,
        borderaxespad=0.2,
    )
    return Picture(figure_of(axes))
