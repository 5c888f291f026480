"""Hands of cards, drawn: every card of a deck is a field, and each hand has a colour.

A card that several hands hold is divided among them. Below the deck each hand is named
with its cards, so the colours are not needed to read the picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lifecycle.figures.picture import BAD, GOOD, INK, empty_axes, figure_of

COLOURS = (BAD, GOOD, "#3a5f95")
COLUMNS = 32


def draw_hands(
    deck: int, hands: Mapping[str, Sequence[int]], *, width: float = 6.4
) -> Figure:
    """`deck` cards, numbered from 0; `hands` are at most three, by their names.

    Raises ValueError for more hands, and for a card that the deck does not have.
    """
    if len(hands) > len(COLOURS):
        raise ValueError(f"{len(hands)} hands, and {len(COLOURS)} colours")
    missing = sorted({c for hand in hands.values() for c in hand if not 0 <= c < deck})
    if missing:
        raise ValueError(f"no card {missing[0]} in a deck of {deck}")
    rows = -(-deck // COLUMNS)
    lines = rows + 0.4 + 1.5 * len(hands)
    [axes] = empty_axes(width, lines * width / COLUMNS + 0.1)
    axes.set_axis_off()
    axes.set_xlim(-0.1, COLUMNS + 0.1)
    axes.set_ylim(lines, -0.1)
    coloured = list(zip(COLOURS, hands.values(), strict=False))
    for card in range(deck):
        y, x = divmod(card, COLUMNS)
        holders = [c for c, hand in coloured if card in hand]
        share = 0.84 / max(len(holders), 1)
        for number, colour in enumerate(holders):
            corner = x + 0.08 + number * share, y + 0.08
            axes.add_patch(Rectangle(corner, share, 0.84, facecolor=colour))
        corner = x + 0.08, y + 0.08
        axes.add_patch(Rectangle(corner, 0.84, 0.84, fill=False, edgecolor=INK, lw=0.6))
    for row, (colour, (name, hand)) in enumerate(
        zip(COLOURS, hands.items(), strict=False)
    ):
        top = rows + 0.7 + 1.5 * row
        axes.add_patch(Rectangle((0.08, top), 0.84, 0.84, facecolor=colour))
        text = f"{name}: {', '.join(map(str, sorted(hand)))}"
        axes.text(1.5, top + 0.45, text, va="center", color=INK, size=9.5)
    return figure_of(axes)
