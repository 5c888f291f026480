"""Who owns which field, and how that changes: a row for each field, a column for each
moment, and in every cell the field's value above the names of its owners.

Read from `managedFields` alone. A cell with two owners has two colours; a field that is
not there at a moment leaves its place empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lifecycle.api.fieldpath.field_sets import paths
from lifecycle.api.fieldpath.path_elements import path_text
from lifecycle.api.http.wire import Object
from lifecycle.figures.picture import INK, empty_axes, figure_of
from lifecycle.trace.writes import step_into

COLOURS = ("#3d6fa8", "#b5541c", "#2a7f62", "#7a4fb5")
NOBODY = "#6b6b6b"
CELL, ROW = 0.92, 0.62
"""How much of its place a cell fills; inches for a row."""

Path = tuple[str, ...]


def draw_owned_fields(
    moments: Sequence[tuple[str, Object]],
    fields: Mapping[str, str],
    *,
    width: float = 6.4,
) -> Figure:
    """`moments`: a caption, and the object as it was then. `fields`: how to name a
    field, and its path as conflicts write it (`.data.y`). Raises KeyError for a field
    that nobody ever owned.
    """
    known = {
        path_text(path): path for _, obj in moments for path in _owners_of_paths(obj)
    }
    rows = [known[path] for path in fields.values()]
    [axes] = empty_axes(width, ROW * len(rows) + 0.7)
    colours: dict[str, str] = {}
    for column, (caption, obj) in enumerate(moments):
        axes.text(column, -0.6, caption, ha="center", va="bottom", color=INK, size=9.5)
        owners = _owners_of_paths(obj)
        for row, path in enumerate(rows):
            value = _value_at(obj, path)
            if value is not None:
                names = owners.get(path, [])
                for name in names:
                    colours.setdefault(name, COLOURS[len(colours) % len(COLOURS)])
                _draw_cell(axes, column, row, value, names, colours)
    axes.set_yticks(range(len(rows)), list(fields), color=INK)
    axes.set_xticks([])
    axes.set_xlim(-0.5, len(moments) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -1.15)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    return figure_of(axes)


def _draw_cell(
    axes: Axes,
    column: int,
    row: int,
    value: Any,
    names: Sequence[str],
    colours: Mapping[str, str],
) -> None:
    parts = names or ("nobody",)
    part = CELL / len(parts)
    for place, name in enumerate(parts):
        left = column - CELL / 2 + place * part
        colour = colours.get(name, NOBODY)
        axes.add_patch(Rectangle((left, row - 0.43), part, 0.86, facecolor=colour))
        axes.text(
            left + part / 2,
            row + 0.2,
            name,
            ha="center",
            va="center",
            color="white",
            size=8.5,
        )
    axes.text(
        column,
        row - 0.16,
        str(value),
        ha="center",
        va="center",
        color="white",
        size=10,
        weight="bold",
    )


def _owners_of_paths(obj: Object) -> dict[Path, list[str]]:
    owners: dict[Path, list[str]] = {}
    for entry in obj["metadata"].get("managedFields") or ():
        for path in paths(entry["fieldsV1"]):
            owners.setdefault(path, []).append(entry["manager"])
    return owners


def _value_at(obj: Object, path: Path) -> Any:
    value: Any = obj
    for element in path:
        step = step_into(element, value)
        if step is None:
            return None
        value = step[1]
    return value
