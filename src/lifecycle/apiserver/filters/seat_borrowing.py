"""Lending seats: a priority level that is busy gets what others do not need.

Each level owns seats and says how many of them it would lend (`lendablePercent`) and
how many it would borrow (`borrowingLimitPercent`). Every ten seconds all are dealt out
anew. What a level asks for is what it used of late: at least its high-water mark of the
last ten seconds, otherwise a smoothed average, so that a burst is not forgotten at
once. The seats go where they are asked for, in proportion, within each level's bounds.

Upstream: `apiserver/pkg/util/flowcontrol/apf_controller.go` (`updateBorrowingLocked`,
`seatDemandStats`), `conc_alloc.go` (`computeConcurrencyAllocation`), v1.36.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

ADJUSTMENT_PERIOD = 10.0
SMOOTHING = 0.977


class Claim(NamedTuple):
    """What a level must have, may have at most, and would like."""

    lower: float
    upper: float
    target: float


class SeatDemand:
    """How many seats a level wanted over the last period: highest, and average with
    deviation. Times are in seconds.
    """

    def __init__(self, now: float) -> None:
        self.current = 0
        self.smoothed = 0.0
        self.high_watermark = 0
        self._since = self._last = now
        self._integral = self._square = 0.0

    def set(self, seats: int, now: float) -> None:
        """From now on so many are wanted, executing and waiting together."""
        self._advance(now)
        self.current = seats
        if seats > self.high_watermark:
            self.high_watermark = seats

    def _advance(self, now: float) -> None:
        passed = now - self._last
        area = self.current * passed
        self._integral += area
        self._square += self.current * area
        self._last = now

    def close_period(self, now: float) -> int:
        """The high-water mark of the period that ends now; the smoothed demand takes it
        in.
        """
        self._advance(now)
        length = max(now - self._since, 1e-9)
        average = self._integral / length
        deviation = math.sqrt(max(self._square / length - average**2, 0.0))
        envelope = average + deviation
        self.smoothed = max(
            envelope, SMOOTHING * self.smoothed + (1 - SMOOTHING) * envelope
        )
        highest, self.high_watermark = self.high_watermark, self.current
        self._since, self._integral, self._square = now, 0.0, 0.0
        return highest


def compute_concurrency_allocation(seats: int, claims: Sequence[Claim]) -> list[float]:
    """So many seats for each claim that they sum up to `seats`: the target times one
    common factor, within the bounds.

    Raises ValueError if the bounds leave no such choice.
    """
    if not claims:
        return []
    if (
        sum(claim.lower for claim in claims) > seats
        or sum(claim.upper for claim in claims) < seats
    ):
        raise ValueError(f"the bounds leave no way to deal {seats} seats")

    def dealt(factor: float) -> list[float]:
        return [
            min(max(claim.target * factor, claim.lower), claim.upper)
            for claim in claims
        ]

    low, high = 0.0, 1.0
    while sum(dealt(high)) < seats and high < 2.0**60:
        high *= 2
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if sum(dealt(middle)) < seats else (low, middle)
    return dealt(high)
