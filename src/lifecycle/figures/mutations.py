"""What becomes of an object on its way through those that may change it: one box for
each of them, in the order in which they were called, with the object as they left it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.figure import Figure

from lifecycle.figures.columns import PLAIN, Box, draw_columns

CHANGED = "#c9722c"


class Step(NamedTuple):
    """One call: in which round, who was called, and the object afterwards in lines."""

    round: str
    who: str
    lines: tuple[str, ...]


def draw_mutations(steps: Sequence[Step], *, width: float = 7.0) -> Figure:
    """The steps from left to right. A step that changed something has another colour;
    the first one is what came in.
    """
    boxes = []
    before: tuple[str, ...] | None = None
    for number, step in enumerate(steps):
        changed = before is not None and step.lines != before
        colour = CHANGED if changed else PLAIN
        boxes.append(Box(step.who, step.lines, colour, key=str(number)))
        before = step.lines
    return draw_columns(
        [step.round for step in steps],
        [[box] for box in boxes],
        list(itertools.pairwise(boxes)),
        width=width,
    )
