"""A name on its way to an answer, drawn: the labels that it is read by, from behind,
and the questions that a pod's resolver makes of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.figures.picture import BAD, GOOD, INK, Picture, empty_axes, figure_of

BLUE, MAYBE = "#3b7dd8", "#8a6d1f"
ANSWERS = {"NXDOMAIN": BAD, "SERVFAIL": MAYBE, "NODATA": MAYBE}


def draw_labels(parts: Sequence[tuple[str, str]]) -> Picture:
    """A name's labels as boxes, each with what it says below it, and a number: in which
    order a server reads them. `parts` as the name is written.
    """
    [axes] = empty_axes(6.6, 1.5)
    gap = 0.25
    widths = [max(len(label), len(role)) * 0.13 + 0.3 for label, role in parts]
    left = 0.0
    for place, ((label, role), width) in enumerate(zip(parts, widths, strict=True)):
        middle = left + width / 2
        axes.broken_barh([(left, width)], (0, 0.6), facecolors="none", edgecolor=BLUE)
        axes.text(middle, 0.3, label, color=INK, size=11, ha="center", va="center")
        axes.text(middle, -0.28, role, color=INK, size=10, ha="center", va="center")
        order = str(len(parts) - place)
        axes.text(middle, 0.85, order, color=BLUE, size=10, ha="center", va="center")
        left += width + gap
        if place < len(parts) - 1:
            axes.text(left - gap / 2, 0.1, ".", color=INK, size=12, ha="center")
    axes.set_xlim(-0.05, left - gap + 0.05)
    axes.set_ylim(-0.5, 1.05)
    axes.axis("off")
    return Picture(figure_of(axes))


def draw_questions(
    names: Sequence[tuple[str, Sequence[tuple[str, str]]]],
) -> Picture:
    """For each name that somebody typed the questions that are asked, with their
    answers: an address, or one of the ways to say no.
    """
    rows = sum(len(questions) for _, questions in names)
    [axes] = empty_axes(6.8, 0.34 * rows + 0.2 * len(names) + 0.2)
    y = 0.0
    for name, questions in names:
        axes.text(0, y, name, color=BLUE, size=11, va="center", weight="bold")
        for question, answer in questions:
            axes.text(2.0, y, question, color=INK, size=10, va="center")
            colour = ANSWERS.get(answer, GOOD)
            axes.text(6.6, y, answer, color=colour, size=10, va="center")
            y -= 0.34
        y -= 0.2
    axes.set_xlim(-0.05, 8.1)
    axes.set_ylim(y + 0.35, 0.25)
    axes.axis("off")
    return Picture(figure_of(axes))
