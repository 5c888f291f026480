"""Between so much and so much: what a size or a cost is known of before anything runs.

Upstream: cel-go's `checker/cost.go` (`SizeEstimate`, `CostEstimate`), v0.26.
"""

from __future__ import annotations

import math
from typing import NamedTuple

MOST = 2**64 - 1
"""More than this is this."""


class Estimate(NamedTuple):
    """At least and at most: elements, characters, or steps of a program."""

    min: int
    max: int

    def plus(self, other: Estimate) -> Estimate:
        """One after the other."""
        return Estimate(
            min(self.min + other.min, MOST), min(self.max + other.max, MOST)
        )

    def times(self, other: Estimate) -> Estimate:
        """One for each of the other."""
        return Estimate(
            min(self.min * other.min, MOST), min(self.max * other.max, MOST)
        )

    def per_unit(self, factor: float) -> Estimate:
        """So much for each, rounded up."""
        return Estimate(_scaled(self.min, factor), _scaled(self.max, factor))

    def union(self, other: Estimate) -> Estimate:
        """One or the other."""
        return Estimate(min(self.min, other.min), max(self.max, other.max))


def _scaled(count: int, factor: float) -> int:
    scaled = float(count) * factor
    return MOST if scaled >= 2.0**64 else math.ceil(scaled)


def fixed(count: int) -> Estimate:
    """Exactly so much."""
    return Estimate(count, count)


ZERO, ONE, UNKNOWN = fixed(0), fixed(1), Estimate(0, MOST)


class CallEstimate(NamedTuple):
    """What a call costs beside its arguments, and how large its result is, where that
    is known.
    """

    cost: Estimate
    result_size: Estimate | None = None
