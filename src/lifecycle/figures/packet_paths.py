"""All ways that a packet may take through the rules, drawn from left to right: chains,
and where each ends, with its share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.proxy.iptables.walk import Walk

CHAIN, END, REFUSED, INK = "#3b7dd8", "#3a9d5d", "#c8442c", "#888888"
LONGEST = 17


def short(name: str) -> str:
    """A chain's name on two lines, its hash cut after four letters."""
    if len(name) > LONGEST and name.startswith("KUBE-"):
        kind, _, letters = name.rpartition("-")
        return f"{kind}\n{letters[:4]}…"
    return name.replace("KUBE-", "KUBE-\n") if name.startswith("KUBE-") else name


def draw_ways(rows: Sequence[tuple[str, Sequence[Walk]]]) -> Any:
    """A matplotlib figure without background; a row for each packet: its title and its
    outcomes.
    """
    import matplotlib.pyplot as plt

    heights = [
        max(1.1, 0.6 * len({way.destination for way in ways}) + 0.5) for _, ways in rows
    ]
    figure, grid = plt.subplots(
        len(rows),
        1,
        figsize=(7, sum(heights)),
        squeeze=False,
        gridspec_kw={"height_ratios": heights},
    )
    figure.patch.set_alpha(0)
    widest = max(len(path_of(way)) for _, ways in rows for way in ways)
    for axes, (title, ways) in zip(grid[:, 0], rows, strict=True):
        axes.patch.set_alpha(0)
        _draw(axes, ways, widest)
        axes.set_title(title, loc="left", fontsize=11, color=INK)
    figure.tight_layout()
    plt.close(figure)
    return figure


def path_of(way: Walk) -> tuple[str, ...]:
    """The chains that decide: those of the first table with the destination in it, or
    of the one that refused.
    """
    last = next(
        (s for s in way.steps if s.rule.target in ("DNAT", "REJECT", "DROP")), None
    )
    if last is None:
        return (way.steps[0].hook if way.steps else "", way.destination)
    chains = [
        s.rule.chain
        for s in way.steps
        if (s.table, s.hook) == (last.table, last.hook) and s.depth <= last.depth
    ]
    inner: list[str] = []
    for chain in reversed(
        list(dict.fromkeys(chains))
    ):  # only those that lead to the last one
        if not inner or any(
            s.rule.chain == chain and s.rule.target == inner[0] for s in way.steps
        ):
            inner.insert(0, chain)
    return (*inner, way.destination)


def _draw(axes: Any, ways: Sequence[Walk], widest: int) -> None:
    paths: dict[tuple[str, ...], float] = {}
    for way in ways:
        paths[path_of(way)] = paths.get(path_of(way), 0.0) + float(way.probability)
    depth = max(map(len, paths))
    places: dict[tuple[str, ...], list[float]] = {}
    for row, path in enumerate(sorted(paths)):
        for length in range(1, len(path) + 1):
            places.setdefault(path[:length], []).append(-float(row))
    for prefix, rows in places.items():
        end = prefix in paths
        x, y = (depth if end else len(prefix)) * 1.0, sum(rows) / len(rows)
        if len(prefix) > 1:
            above = places[prefix[:-1]]
            axes.plot(
                [len(prefix) - 0.56, x - (0.52 if end else 0.45)],
                [sum(above) / len(above), y],
                color=INK,
                linewidth=1,
            )
        refused = prefix[-1] in ("REJECT", "DROP")
        colour = REFUSED if refused else END if end else CHAIN
        share = f"\n{paths[prefix]:.1%}" if end and not refused else ""
        box = {
            "boxstyle": "round,pad=0.3",
            "facecolor": "none",
            "edgecolor": colour,
            "linewidth": 1.5,
        }
        axes.text(
            x,
            y,
            short(prefix[-1]) + share,
            ha="center",
            va="center",
            fontsize=8,
            color=INK,
            bbox=box,
        )
    axes.set_xlim(0.5, widest + 0.6)
    axes.set_ylim(-len(paths) + 0.3, 0.7)
    axes.axis("off")
