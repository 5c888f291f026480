"""Who says what to whom, in order: a column for each party, time runs downwards, and
every message is an arrow with its words above it.

A message to oneself is a remark in one's own column. What is refused, or does not
arrive, is drawn in the colour of refusals and dashed, so that it is told apart without
colour, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lifecycle.figures.picture import BAD, INK, empty_axes, figure_of

PARTY, ARROW, REMARK = "#3d6fa8", "#5b8cc4", "#5c6470"
ROW = 0.46
"""Inches for a message."""


class Message(NamedTuple):
    """`text` goes from `sender` to `receiver` (the same: a remark)."""

    sender: str
    receiver: str
    text: str
    refused: bool = False


def draw_exchanges(
    parties: Sequence[str], messages: Sequence[Message], *, width: float = 6.4
) -> Figure:
    """`parties` from left to right, `messages` from top to bottom. Raises KeyError for
    a message of a party that is not among them.
    """
    [axes] = empty_axes(width, ROW * len(messages) + 0.75)
    axes.set_axis_off()
    places = {party: float(x) for x, party in enumerate(parties)}
    bottom = float(len(messages)) + 0.2
    for party, x in places.items():
        axes.plot([x, x], [0.1, bottom], color=INK, linewidth=1, alpha=0.5)
        style = {"boxstyle": "round,pad=0.35", "facecolor": PARTY, "edgecolor": "none"}
        axes.text(
            x,
            -0.35,
            party,
            ha="center",
            va="center",
            color="white",
            size=10,
            bbox=style,
        )
    for row, message in enumerate(messages):
        _draw(axes, message, places, row + 0.85)
    axes.set_xlim(-0.52, len(parties) - 0.48)
    axes.set_ylim(bottom, -0.9)
    return figure_of(axes)


def _draw(axes: Axes, message: Message, places: dict[str, float], y: float) -> None:
    begin, end = places[message.sender], places[message.receiver]
    colour = BAD if message.refused else ARROW
    line = "--" if message.refused else "-"
    if begin == end:
        ground = BAD if message.refused else REMARK
        style = {"boxstyle": "round,pad=0.3", "facecolor": ground, "edgecolor": "none"}
        axes.text(
            begin,
            y - 0.2,
            message.text,
            ha="center",
            va="center",
            color="white",
            size=9,
            bbox=style,
        )
        return
    axes.annotate(
        "",
        (end, y),
        (begin, y),
        arrowprops={
            "arrowstyle": "-|>",
            "color": colour,
            "linestyle": line,
            "lw": 1.5,
            "shrinkA": 0,
            "shrinkB": 0,
        },
    )
    middle = (begin + end) / 2
    if middle in places.values():  # another party's line would cross the words
        middle -= 0.5 if begin < end else -0.5
    axes.text(
        middle,
        y - 0.1,
        message.text,
        ha="center",
        va="bottom",
        color=INK,
        size=9,
    )
