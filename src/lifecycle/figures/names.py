"""Names and what they lead to, drawn: a line from each name to each address, other
name, or refusal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.dns.records import Answer

NAME, ADDRESS, ALIAS, NO, INK = "#3b7dd8", "#3a9d5d", "#e0902f", "#c8442c", "#888888"
COLOURS = {"A": ADDRESS, "AAAA": ADDRESS, "CNAME": ALIAS}


def draw_names(asked: Sequence[tuple[str, Answer]]) -> Any:
    """A matplotlib figure without background; a row for each name."""
    import matplotlib.pyplot as plt

    rows = [
        (name, [(r.type, r.data) for r in answer.answer] or [("", answer.rcode)])
        for name, answer in asked
    ]
    height = sum(len(records) for _, records in rows)
    figure, axes = plt.subplots(figsize=(7, 0.42 * height + 0.3))
    for patch in (figure.patch, axes.patch):
        patch.set_alpha(0)
    y = 0.0
    for name, records in rows:
        middle = y - (len(records) - 1) / 2
        _box(axes, 0.0, middle, name, NAME, "left")
        for kind, data in records:
            _box(axes, 4.6, y, f"{kind} {data}".strip(), COLOURS.get(kind, NO), "left")
            axes.annotate(
                "",
                (4.5, y),
                (3.0, middle),
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": INK,
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
            )
            y -= 1
    axes.set_xlim(-0.2, 7.0)
    axes.set_ylim(y + 0.4, 0.7)
    axes.axis("off")
    figure.tight_layout()
    plt.close(figure)
    return figure


def _box(axes: Any, x: float, y: float, text: str, colour: str, side: str) -> None:
    style = {
        "boxstyle": "round,pad=0.3",
        "facecolor": "none",
        "edgecolor": colour,
        "linewidth": 1.5,
    }
    axes.text(x, y, text, ha=side, va="center", fontsize=9.5, color=INK, bbox=style)
