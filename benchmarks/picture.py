"""The figures against their goals, one bar each: left of the line is better than asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

INK = "#7f858f"  # reads on light and on dark


def draw(results: list[dict[str, Any]], path: Path) -> None:
    """Write a PNG with transparent ground. Only figures that have a goal can be drawn against it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    rows = [r for r in results if r["goal"]]
    if not rows:
        return
    parts = [r["value"] / r["goal"] if r["better"] == "lower" else r["goal"] / r["value"] for r in rows]
    figure, axes = plt.subplots(figsize=(8, 0.45 * len(rows) + 1))
    colours = ["#2a7f62" if part <= 1 else "#b5541c" for part in parts]
    axes.barh(range(len(rows)), parts, color=colours)
    axes.axvline(1, color=INK, linewidth=1.5)
    for place, (row, part) in enumerate(zip(rows, parts, strict=True)):
        axes.text(
            part, place, f" {row['value']:.4g} {row['unit']} (goal {row['goal']:g})", va="center", color=INK, fontsize=8
        )
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows], color=INK, fontsize=8)
    axes.set_xscale("log")
    axes.invert_yaxis()
    axes.set_xlabel("part of the goal (less is better)", color=INK)
    axes.tick_params(colors=INK)
    for spine in axes.spines.values():
        spine.set_visible(False)
    figure.savefig(path, transparent=True, bbox_inches="tight", dpi=110)
    plt.close(figure)
