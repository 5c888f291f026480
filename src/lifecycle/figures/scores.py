"""A decision drawn: one bar per node, one piece per plugin that told the nodes apart or
gave them anything at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle

from lifecycle.figures.picture import INK, Picture, empty_axes, figure_of

_COLOURS = ("#2a7f62", "#3d6fa8", "#b5441c", "#8a5fa8", "#a8812a", "#5f7f8a", "#a84f6f")


def draw_scores(
    scores: Mapping[str, Mapping[str, int]], *, width: float = 6.4
) -> Picture:
    """`scores`: plugin → node → weighted score, as a decision has them. Plugins that
    gave nobody anything are left out.
    """
    plugins = {name: nodes for name, nodes in scores.items() if any(nodes.values())}
    nodes = sorted({node for of_plugin in plugins.values() for node in of_plugin})
    [axes] = empty_axes(width, 0.55 * len(nodes) + 1.7)
    left = dict.fromkeys(nodes, 0)
    for colour, (plugin, of_plugin) in zip(cycle(_COLOURS), plugins.items()):
        for position, node in enumerate(nodes):
            score = of_plugin.get(node, 0)
            label = plugin if position == 0 else None
            axes.barh(
                position,
                score,
                left=left[node],
                height=0.62,
                color=colour,
                edgecolor="white",
                label=label,
            )
            if score >= 30:
                middle = left[node] + score / 2
                axes.text(
                    middle,
                    position,
                    str(score),
                    ha="center",
                    va="center",
                    color="white",
                    size=9,
                )
            left[node] += score
    for position, node in enumerate(nodes):
        axes.text(
            left[node] + 4, position, str(left[node]), va="center", color=INK, size=10
        )
    axes.set_yticks(range(len(nodes)), nodes)
    axes.set_xlim(0, max(left.values(), default=1) * 1.1)
    if plugins:
        axes.legend(
            loc="upper center",
            bbox_to_anchor=(0.45, -0.28),
            ncols=2,
            frameon=False,
            labelcolor=INK,
            fontsize=9,
        )
    return Picture(figure_of(axes))
