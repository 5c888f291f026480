"""Which of all places are tried: seeded, and a module's share is its size."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

from mutants.candidates import Candidate, candidates

Lines = Mapping[Path, frozenset[int] | None]
"""Per module the lines that may be broken; None: all."""


def sample(modules: Lines, count: int, seed: int) -> list[Candidate]:
    """`count` mutants of different places, or fewer where there are no more.

    A place has one mutant, whichever way of breaking it the dice choose: comparisons can be broken in seven ways and
    would otherwise be most of what is tried. They come in no order, so that a run cut short is a sample, too.
    """
    dice = random.Random(seed)
    sizes = {module: len(lines) if lines is not None else _size(module) for module, lines in sorted(modules.items())}
    left = {module: None for module, size in sizes.items() if size}
    places: dict[Path, dict[tuple[int, int], list[Candidate]]] = {}
    chosen: list[Candidate] = []
    while left and len(chosen) < count:
        module = dice.choices(list(left), [sizes[module] for module in left])[0]
        if module not in places:
            places[module] = candidates(module, modules[module])
        if not places[module]:
            del left[module]
            continue
        ways = places[module].pop(dice.choice(sorted(places[module])))
        candidate = dice.choice(sorted(ways))
        if candidate.mutated() is not None:
            chosen.append(candidate)
    return chosen


def _size(module: Path) -> int:
    return sum(1 for line in module.read_text().splitlines() if line.strip())
