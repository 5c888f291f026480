"""The queues that a flow may wait in: a hand of cards, dealt by its hash."""

from __future__ import annotations

import pytest

from lifecycle.apiserver.filters.shuffle_sharding import deal

HASHES = [0, 1, 7, 63, 64, 64 * 63 + 5, 0x123456789ABCDEF, 2**60 - 1, 14695981039346656037 % 2**60]


def _dealt(value: int, deck: int, hand: int) -> tuple[int, ...]:
    """From a deck that lies on the table."""
    cards, drawn = list(range(deck)), list[int]()
    for _ in range(min(hand, deck)):
        value, place = value // len(cards), value % len(cards)
        drawn.append(cards.pop(place))
    return tuple(drawn)


@pytest.mark.parametrize(("deck", "hand"), [(64, 6), (64, 8), (128, 6), (8, 8), (3, 5), (1, 1), (512, 4)])
@pytest.mark.parametrize("value", HASHES)
def test_a_hand_is_what_is_drawn_from_a_deck_card_by_card(value: int, deck: int, hand: int) -> None:
    """Upstream: `Dealer.DealIntoHand`."""
    assert deal(value, deck, hand) == _dealt(value, deck, hand)


def test_ten_million_queues_are_not_laid_out() -> None:
    hand = deal(HASHES[-1], 10_000_000, 6)
    assert len(set(hand)) == 6
    assert all(0 <= card < 10_000_000 for card in hand)
