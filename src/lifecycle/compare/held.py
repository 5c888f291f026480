"""Two clusters that may differ, as long as each keeps to a rule.

What they did is not compared with each other: each side is held to the rule by itself,
and a breach on one side is a difference whatever the other did.

Ours.
"""

from __future__ import annotations

from typing import Protocol

from lifecycle.compare.compare import Comparison, Difference
from lifecycle.compare.masked import ABSENT


class Held(Protocol):
    """One side: how often the rule was asked for, and each time that it was broken."""

    checks: int
    complaints: list[str]


def compare_held(ours: Held, theirs: Held) -> Comparison:
    """Every check of either side is a field, every complaint a difference."""
    comparison = Comparison(total=ours.checks + theirs.checks)
    comparison.differences = [
        Difference(f"/{complaint}", "seen", ABSENT) for complaint in ours.complaints
    ] + [Difference(f"/{complaint}", ABSENT, "seen") for complaint in theirs.complaints]
    comparison.equal = comparison.total - len(comparison.differences)
    return comparison
