"""A path taken apart: each part in a solid box, and above or below it what it means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from lifecycle.figures.picture import INK, empty_axes, figure_of

COLOURS = ("#7a4fb5", "#3d6fa8", "#b5541c", "#2a7f62", "#3d6fa8")
STYLE: dict[str, Any] = {"size": 10, "ha": "center", "va": "center"}
LETTER, GAP = 0.092, 0.16
"""The width of a letter and the room between two parts, in inches."""


def draw_path_parts(
    rows: Sequence[Sequence[tuple[str, str]]], *, width: float = 6.4
) -> Figure:
    """Each row is one path, as pairs of a part and its meaning. The same place has the
    same colour in each row. Raises ValueError for a row with more parts than colours.
    """
    [axes] = empty_axes(width, 0.85 * len(rows))
    axes.set_xlim(0, width)
    axes.set_ylim(len(rows) - 0.45, -0.6)
    axes.axis("off")
    for row, parts in enumerate(rows):
        if len(parts) > len(COLOURS):
            raise ValueError(f"{len(parts)} parts, and {len(COLOURS)} colours")
        left = GAP
        for (part, meaning), colour in zip(parts, COLOURS, strict=False):
            right = left + LETTER * max(len(part), len(meaning))
            x = (left + right) / 2
            box = {"boxstyle": "round,pad=0.2", "fc": colour, "ec": "none"}
            axes.text(
                x, row, part, color="white", family="monospace", bbox=box, **STYLE
            )
            axes.text(x, row + 0.38, meaning, color=INK, **STYLE)
            left = right + GAP
    return figure_of(axes)
