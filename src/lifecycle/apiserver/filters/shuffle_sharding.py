"""Shuffle sharding: each flow gets a hand of queues, always the same.

Two flows may share a queue or two, but hardly a whole hand, so a flood that fills its
own hand leaves nearly everybody else a queue.

Upstream: `apiserver/pkg/util/shufflesharding/dealer.go` (`Dealer.Deal`),
`pkg/util/flowcontrol/apf_controller.go` (`hashFlowID`), v1.36.
"""

from __future__ import annotations

import hashlib
from bisect import insort


def hash_flow_id(schema: str, distinguisher: str) -> int:
    """A number for a flow, the same on every server."""
    return int.from_bytes(
        hashlib.sha256(f"{schema}\0{distinguisher}".encode()).digest()[:8], "little"
    )


def deal(value: int, deck: int, hand: int) -> tuple[int, ...]:
    """`hand` different numbers below `deck`: the value says which, as if cards were
    drawn from a deck one by one. The deck itself is never laid out: a level may have
    ten million queues, and this is asked for every request.
    """
    cards: list[int] = []
    drawn: list[int] = []
    for left in range(deck, deck - min(hand, deck), -1):
        value, card = divmod(value, left)
        for gone in drawn:
            if gone > card:
                break
            card += 1
        cards.append(card)
        insort(drawn, card)
    return tuple(cards)
