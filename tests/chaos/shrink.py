"""The smallest part of a scenario that still fails."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from tests.chaos.scenario import Scenario

Fails = Callable[[Scenario], Iterable[str]]
ATTEMPTS = 60


def kinds(problems: Iterable[str]) -> set[str]:
    """What sort of problems these are: without names, numbers and times."""
    return {re.sub(r"[0-9a-f]*\d\S*", "#", problem.partition(": ")[0])[:60] for problem in problems}


def shrink(scenario: Scenario, fails: Fails, problems: Iterable[str], attempts: int = ATTEMPTS) -> Scenario:
    """Leave out halves, then quarters, … then single parts, for as long as a problem of a kind that there was is still there.

    Asks at most `attempts` times. Upstream: none; this is Zeller's ddmin without its first half.
    """
    seen = kinds(problems)
    size = max(1, len(scenario.parts) // 2)
    while True:
        smaller = False
        parts = scenario.parts
        for start in range(0, len(parts), size):
            if not attempts:
                return scenario
            attempts -= 1
            candidate = scenario.keeping(set(scenario.parts) - set(parts[start : start + size]))
            if candidate.parts and candidate != scenario and kinds(fails(candidate)) & seen:
                scenario, smaller = candidate, True
        if size == 1 and not smaller:
            return scenario
        size = max(1, size // 2)
