"""The namespaces of a pod, drawn: a row for each process, a column for each kind, and
in each field whether it is made, joined, or found.

Fields of one colour are one namespace for all; those of the other colour are each
process's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lifecycle.figures.picture import INK, empty_axes, figure_of

KINDS = ("network", "ipc", "uts", "pid", "mount")
SHARED, MAKES_SHARED, OWN = "#8fcdc5", "#2a9d8f", "#e9a23b"
Namespaces = Sequence[Mapping[str, Any]]
"""`linux.namespaces` of an OCI spec: `type`, and a `path` if it is joined."""


def draw_namespaces(
    pause: Namespaces, containers: Mapping[str, Namespaces], *, width: float = 7.0
) -> Figure:
    """The pause process is on top, the containers by name below it."""
    rows = {"pause": pause, **containers}
    kept = {kind for spaces in containers.values() for kind in _paths(spaces)}
    [axes] = empty_axes(width, 0.85 * len(rows) + 0.65)
    axes.set_axis_off()
    for x, kind in enumerate(KINDS):
        axes.text(x, -0.55, kind, ha="center", color=INK, fontsize=11)
    for y, (name, spaces) in enumerate(rows.items()):
        axes.text(-0.55, y, name, va="center", ha="right", color=INK, fontsize=11)
        first = name == "pause"
        paths, kinds = _paths(spaces), {space["type"] for space in spaces}
        for x, kind in enumerate(KINDS):
            if kind in paths:
                word, colour = (
                    ("made before", MAKES_SHARED) if first else ("joins", SHARED)
                )
            elif kind not in kinds:
                word, colour = "the node's", INK
            elif first and kind in kept:
                word, colour = "makes", MAKES_SHARED
            else:
                word, colour = ("makes" if first else "its own"), OWN
            axes.add_patch(Rectangle((x - 0.42, y - 0.3), 0.84, 0.6, color=colour))
            axes.text(x, y, word, ha="center", va="center", color="black", fontsize=9)
    axes.set_xlim(-1.6, len(KINDS) - 0.4)
    axes.set_ylim(len(rows) - 0.5, -0.9)
    return figure_of(axes)


def _paths(spaces: Namespaces) -> dict[str, str]:
    return {space["type"]: space["path"] for space in spaces if space.get("path")}
