"""All ways that a packet may take through the rules, drawn from left to right: chains,
and where each ends, with its share.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from matplotlib.textpath import TextPath

from lifecycle.proxy.iptables.walk import Walk

CHAIN, END, REFUSED, INK = "#3b7dd8", "#3a9d5d", "#c8442c", "#888888"
LONGEST = 17
WIDTH, LETTERS = 7.2, 11.5
"""Of the picture in inches, and of its letters in points: on a phone a picture is 500
pixels wide and scrolls, so they are as large as the notes there.
"""
PADDING = 0.3
"""Around the words of a box, in heights of a letter."""
ROW = 0.68
"""How much of the picture's height a destination takes, in inches."""


Path = tuple[str, ...]
"""The names of chains, and at its end where they lead."""


def short(name: str) -> str:
    """A chain's name on two lines, or three if it has a hash, which is cut after four
    letters. The chains of endpoints, of which many stand below each other, take two.
    """
    if len(name) > LONGEST and name.startswith("KUBE-"):
        kind, _, letters = name.rpartition("-")
        if kind != "KUBE-SEP":
            kind = kind.replace("-", "-\n") + "-"
        return f"{kind}\n{letters[:4]}…"
    return name.replace("KUBE-", "KUBE-\n") if name.startswith("KUBE-") else name


def draw_ways(rows: Sequence[tuple[str, Sequence[Walk]]]) -> Any:
    """A matplotlib figure without background; a row for each packet: its title and its
    outcomes.
    """
    import matplotlib.pyplot as plt

    heights = [ROW * len({path_of(way) for way in ways}) + 0.45 for _, ways in rows]
    figure, grid = plt.subplots(
        len(rows),
        1,
        figsize=(WIDTH, sum(heights)),
        squeeze=False,
        gridspec_kw={"height_ratios": heights},
    )
    figure.patch.set_alpha(0)
    gap = min(0.4, *(_room_between(_shares(ways)) for _, ways in rows))
    for axes, (title, ways) in zip(grid[:, 0], rows, strict=True):
        axes.patch.set_alpha(0)
        _draw(axes, _shares(ways), gap)
        axes.set_title(title, loc="left", fontsize=12.5, color=INK)
    figure.subplots_adjust(0, 0.02, 1, 1 - 0.35 / sum(heights), hspace=0.35)
    plt.close(figure)
    return figure


def path_of(way: Walk) -> Path:
    """The chains that decide: those of the first table with the destination in it, or
    of the one that refused.
    """
    last = next(
        (s for s in way.steps if s.rule.target in ("DNAT", "REJECT", "DROP")), None
    )
    if last is None:
        return (*(step.hook for step in way.steps[:1]), way.destination)
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


def _shares(ways: Sequence[Walk]) -> dict[Path, float]:
    shares: dict[Path, float] = defaultdict(float)
    for way in ways:
        shares[path_of(way)] += float(way.probability)
    return shares


def _label(prefix: Path, shares: dict[Path, float]) -> str:
    share = shares.get(prefix)
    if share is None or prefix[-1] in ("REJECT", "DROP"):
        return short(prefix[-1])
    address, colon, port = prefix[-1].rpartition(":")
    return f"{address}\n:{port} – {share:.1%}" if colon else f"{port}\n{share:.1%}"


def _columns(shares: dict[Path, float]) -> list[set[Path]]:
    """The boxes of each column: chains by their depth, and all ends in the last one."""
    columns = [set[Path]() for _ in range(max(map(len, shares)))]
    for path in shares:
        for length in range(1, len(path)):
            columns[length - 1].add(path[:length])
        columns[-1].add(path)
    return columns


def _width(column: set[Path], shares: dict[Path, float]) -> float:
    """Of a column's widest box, in inches."""
    lines = [line for prefix in column for line in _label(prefix, shares).split("\n")]
    widest = max(
        TextPath((0, 0), line, size=LETTERS).get_extents().x1 for line in lines
    )
    return float(widest + 2 * PADDING * LETTERS) / 72


def _room_between(shares: dict[Path, float]) -> float:
    """What the boxes of a row leave free between each two, in inches."""
    widths = [_width(column, shares) for column in _columns(shares)]
    return (WIDTH - 0.1 - sum(widths)) / max(1, len(widths) - 1)


def _draw(axes: Any, shares: dict[Path, float], gap: float) -> None:
    columns = _columns(shares)
    widths = [_width(column, shares) for column in columns]
    starts = [0.05 + sum(widths[:n]) + gap * n for n in range(len(widths))]
    heights = defaultdict[Path, list[float]](list)
    for row, path in enumerate(sorted(shares)):
        for length in range(1, len(path) + 1):
            heights[path[:length]].append(-float(row))
    level = {prefix: sum(rows) / len(rows) for prefix, rows in heights.items()}
    for column, start, width in zip(columns, starts, widths, strict=True):
        for prefix in sorted(column):  # a set: it is drawn in the same order each time
            if len(prefix) > 1:
                above = prefix[:-1]
                left = starts[len(above) - 1] + widths[len(above) - 1]
                axes.plot(
                    [left, start], [level[above], level[prefix]], color=INK, linewidth=1
                )
            refused = prefix[-1] in ("REJECT", "DROP")
            colour = REFUSED if refused else END if prefix in shares else CHAIN
            axes.text(
                start + width / 2,
                level[prefix],
                _label(prefix, shares),
                ha="center",
                va="center",
                fontsize=LETTERS,
                color=INK,
                bbox={
                    "boxstyle": f"round,pad={PADDING}",
                    "facecolor": "none",
                    "edgecolor": colour,
                    "linewidth": 1.5,
                },
            )
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(-len(shares) + 0.45, 0.55)
    axes.axis("off")
