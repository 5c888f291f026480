"""The ownership graph as a picture: who owns whom, read from `ownerReferences` alone.

Owners stand on the left, what they own to the right of them. Arrows point the way the
references do: from the dependent to its owner.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matplotlib.patches import FancyBboxPatch

from lifecycle.api.http.wire import Object
from lifecycle.figures.picture import INK, Picture, empty_axes, figure_of

COLOURS = {
    "Deployment": "#7a4fb5",
    "ReplicaSet": "#b5541c",
    "Pod": "#a83264",
    "Service": "#2a7f62",
    "EndpointSlice": "#3b6e8f",
}
OTHER = "#5c6470"
COLUMN, BOX, HEIGHT = 3.1, 2.5, 0.62


def draw_ownership(objects: Iterable[Object], *, width: float = 6.4) -> Picture:
    """The objects as boxes with arrows to their owners. Objects without an owner among
    them begin a tree.
    """
    everything = list(objects)
    known = {obj["metadata"]["uid"]: obj for obj in everything}
    children: dict[str, list[Object]] = {uid: [] for uid in known}
    roots = []
    for obj in everything:
        owners = [
            ref["uid"]
            for ref in obj["metadata"].get("ownerReferences") or ()
            if ref["uid"] in known
        ]
        for uid in owners:
            children[uid].append(obj)
        if not owners:
            roots.append(obj)
    places: dict[str, tuple[float, float]] = {}
    below = 0.0
    for obj in (
        *roots,
        *everything,
    ):  # after the roots, those that own each other in a circle
        if obj["metadata"]["uid"] not in places:
            below = _place(obj, children, 0, below, places)
    columns = 1 + max((x for x, _ in places.values()), default=0.0) / COLUMN
    [axes] = empty_axes(width, max(below, 1.0) * width / (columns * COLUMN) * 1.02)
    axes.set_axis_off()
    axes.set_xlim(-0.05, (columns - 1) * COLUMN + BOX + 0.05)
    axes.set_ylim(max(below, 1.0) - 0.15, -0.15)
    for uid, obj in known.items():
        x, y = places[uid]
        axes.add_patch(_box(x, y, COLOURS.get(obj["kind"], OTHER)))
        axes.text(
            x + BOX / 2,
            y + HEIGHT * 0.3,
            obj["kind"],
            ha="center",
            va="center",
            color="white",
            weight="bold",
            size=11,
        )
        axes.text(
            x + BOX / 2,
            y + HEIGHT * 0.72,
            obj["metadata"]["name"],
            ha="center",
            va="center",
            color="white",
            size=8.5,
        )
        for child in children[uid]:
            cx, cy = places[child["metadata"]["uid"]]
            axes.annotate(
                "",
                (x + BOX, y + HEIGHT / 2),
                (cx, cy + HEIGHT / 2),
                arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.4},
            )
    return Picture(figure_of(axes))


def _place(
    obj: Object,
    children: dict[str, list[Object]],
    depth: int,
    top: float,
    places: dict[str, tuple[float, float]],
) -> float:
    """Put an object and all below it; returns where the next may begin."""
    places[obj["metadata"]["uid"]] = (depth * COLUMN, top)
    mine: Sequence[Object] = [
        child
        for child in children[obj["metadata"]["uid"]]
        if child["metadata"]["uid"] not in places
    ]
    bottom = top
    for child in mine:
        bottom = _place(child, children, depth + 1, bottom, places)
    bottom = max(bottom, top + HEIGHT + 0.2)
    rows = [places[child["metadata"]["uid"]][1] for child in mine]
    places[obj["metadata"]["uid"]] = (
        depth * COLUMN,
        (rows[0] + rows[-1]) / 2 if rows else top,
    )
    return bottom


def _box(x: float, y: float, colour: str) -> FancyBboxPatch:
    style = "round,pad=0,rounding_size=0.1"
    return FancyBboxPatch(
        (x, y), BOX, HEIGHT, boxstyle=style, facecolor=colour, edgecolor="none"
    )
