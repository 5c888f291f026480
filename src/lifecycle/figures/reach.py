"""What may be asked of a store's history: a line of revisions, what was forgotten on
the left, what has not happened on the right; below it a row for each question, with the
revision that was asked for and the one that was answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.figure import Figure

from lifecycle.figures.picture import BAD, GOOD, INK, empty_axes, figure_of

KEPT, OUTSIDE = "#3d6fa8", "#8a8a8a"
ROW = 0.42
"""Inches for a question."""


class Question(NamedTuple):
    """`asked`: the revision that was named, if any; `answered`: the revision of the
    answer, or None where it was refused with `refusal`.
    """

    text: str
    asked: int | None
    answered: int | None
    refusal: str = ""


def draw_reach(
    oldest: int, newest: int, questions: Sequence[Question], *, width: float = 6.4
) -> Figure:
    """`oldest` and `newest` are the ends of what is kept."""
    [axes] = empty_axes(width, ROW * len(questions) + 0.75)
    margin = max((newest - oldest) / 3, 1)
    left, right = oldest - margin, newest + margin
    for begin, end, colour, word in (
        (left, oldest, OUTSIDE, "compacted"),
        (oldest, newest, KEPT, f"revisions {oldest} to {newest}"),
        (newest, right, OUTSIDE, "not yet"),
    ):
        axes.barh(-1, end - begin, left=begin, height=0.7, color=colour)
        axes.text(
            (begin + end) / 2, -1, word, ha="center", va="center", color="white", size=9
        )
    for x in (oldest, newest):
        axes.plot([x, x], [-0.6, len(questions) - 0.5], color=INK, lw=0.8, alpha=0.6)
    for row, question in enumerate(questions):
        asked, answered = question.asked, question.answered
        if asked is not None:
            axes.scatter(asked, row, s=70, facecolors="none", edgecolors=INK, lw=1.5)
        if answered is not None:
            axes.scatter(answered, row, s=55, color=GOOD, marker="D")
        else:
            assert asked is not None
            axes.annotate(
                question.refusal,
                (asked, row),
                (8, 0),
                textcoords="offset points",
                va="center",
                color=BAD,
                size=10,
                weight="bold",
            )
    axes.set_yticks(
        range(len(questions)), [question.text for question in questions], color=INK
    )
    axes.set_xticks([])
    axes.set_xlim(left, right)
    axes.set_ylim(len(questions) - 0.4, -1.6)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    return figure_of(axes)
