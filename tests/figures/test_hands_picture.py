"""A deck has all its cards, and each hand its own colour."""

from __future__ import annotations

from collections import Counter

import pytest
from matplotlib.colors import to_hex

from lifecycle.figures.hands import COLOURS, draw_hands


def test_each_card_of_a_hand_has_its_colour_and_a_shared_one_has_both() -> None:
    axes = draw_hands(40, {"loop": [3, 7], "you": [7, 39]}).axes[0]
    filled = [p for p in axes.patches if p.get_fill()]
    assert Counter(to_hex(p.get_facecolor()) for p in filled) == {
        COLOURS[0]: 3,
        COLOURS[1]: 3,
    }  # 2 cards and its name's
    shared = sorted(p.get_width() for p in filled)[:2]  # type: ignore[attr-defined]
    assert shared == pytest.approx([0.42, 0.42])
    assert len([p for p in axes.patches if not p.get_fill()]) == 40
    assert [text.get_text() for text in axes.texts] == ["loop: 3, 7", "you: 7, 39"]


def test_cards_that_are_not_there_and_hands_without_a_colour_are_refused() -> None:
    with pytest.raises(ValueError, match=r"no card 40 in a deck of 40$"):
        draw_hands(40, {"loop": [40]})
    with pytest.raises(ValueError, match=r"4 hands, and 3 colours$"):
        draw_hands(40, {name: [0] for name in "abcd"})
