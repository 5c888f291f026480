"""EndpointSlices, drawn: who follows which hint, and how full the slices of a Service
are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from matplotlib.axes import Axes

from lifecycle.api.http.wire import Object
from lifecycle.figures.picture import GOOD, INK, Picture, empty_axes, figure_of

ZONES = ("#3b7dd8", "#e0902f", "#9a5580", "#2a7f62")
"""One colour a zone, in the order in which they come."""
SLICE = "#3d6fa8"
LEFT, MIDDLE, RIGHT = 0.0, 4.1, 6.1
"""Where an endpoint's box begins and ends, and a node's begins."""


def hint_of(endpoint: Object) -> str:
    """For whom an endpoint is meant: nodes and zones, as the slice says."""
    hints = endpoint.get("hints") or {}
    names = [
        f"{kind} {entry['name']}"
        for field, kind in (("forNodes", "node"), ("forZones", "zone"))
        for entry in hints.get(field) or ()
    ]
    return "for " + ", ".join(names) if names else "no hint"


def draw_hints(
    endpoints: Sequence[Object], nodes: Mapping[str, tuple[str, Collection[str]]]
) -> Picture:
    """The endpoints of a slice, and the nodes with a line to each address that they
    use. `nodes`: name → its zone, and the addresses.
    """
    zones = sorted({zone for zone, _ in nodes.values()})
    colours = dict(zip(zones, ZONES * len(zones), strict=False))
    rows = max(len(endpoints), len(nodes))
    [axes] = empty_axes(6.6, 0.72 * rows + 0.5)
    places = {}
    for row, endpoint in enumerate(endpoints):
        y = _height(row, len(endpoints), rows)
        address = endpoint["addresses"][0]
        places[address] = y
        colour = colours.get(endpoint.get("zone", ""), INK)
        where = f"in zone {endpoint['zone']}" if "zone" in endpoint else "zone unknown"
        _box(axes, LEFT, y, MIDDLE, f"{address}, {where}", hint_of(endpoint), colour)
    for row, (name, (zone, used)) in enumerate(nodes.items()):
        y = _height(row, len(nodes), rows)
        _box(axes, RIGHT, y, 8.6, name, f"zone {zone}", colours[zone])
        for address in used:
            axes.plot([MIDDLE, RIGHT], [places[address], y], color=colours[zone])
    axes.text(LEFT, 0.62, "the slice", color=INK, size=10, ha="left")
    axes.text(RIGHT, 0.62, "the proxy on", color=INK, size=10, ha="left")
    axes.set_xlim(-0.1, 8.7)
    axes.set_ylim(0.45 - rows, 0.9)
    axes.axis("off")
    return Picture(figure_of(axes))


def _height(row: int, of: int, rows: int) -> float:
    """Rows of the shorter column are spread over the height of the longer one."""
    return -(row + 0.5) * rows / of + 0.5


def _box(
    axes: Axes, x: float, y: float, end: float, first: str, second: str, colour: str
) -> None:
    axes.broken_barh(
        [(x, end - x)], (y - 0.36, 0.72), facecolors="none", edgecolor=colour, lw=1.6
    )
    for text, dy in ((first, 0.15), (second, -0.17)):
        axes.text(
            (x + end) / 2, y + dy, text, color=INK, size=10, ha="center", va="center"
        )


def draw_slice_sizes(steps: Mapping[str, Sequence[int]], full: int = 100) -> Picture:
    """A row for each step: one bar for each slice, as long as it has endpoints; a thin
    frame shows how many it could have.
    """
    widest = max(len(sizes) for sizes in steps.values())
    [axes] = empty_axes(6.4, 0.5 * len(steps) + 0.5)
    for row, sizes in enumerate(steps.values()):
        for place, size in enumerate(sizes):
            left = place * full * 1.08
            axes.barh(row, full, left=left, height=0.6, color="none", edgecolor=INK)
            colour = GOOD if size == full else SLICE
            axes.barh(row, size, left=left, height=0.6, color=colour)
            inside = size > full / 8
            axes.text(
                left + (size / 2 if inside else size + 2),
                row,
                str(size),
                color="white" if inside else INK,
                size=10,
                ha="center" if inside else "left",
                va="center",
            )
    axes.set_yticks(range(len(steps)), list(steps))
    axes.set_xticks([])
    axes.set_xlim(-1, widest * full * 1.08)
    axes.set_ylim(len(steps) - 0.5, -0.5)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return Picture(figure_of(axes))
