"""A picture in words: everything that its axes hold, with place, size and colour, a line for each thing.

No pixels: what is described is what a figure tells matplotlib to draw, so fonts and renderers do not matter.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, Patch
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from lifecycle.figures.picture import Picture


def description(drawn: Figure | Picture) -> str:
    """All of a picture. A `Picture` is described by the figure that it was made of (see `keeping`)."""
    figure = drawn if isinstance(drawn, Figure) else KEPT[-1]
    return "\n".join(_figure(figure)) + "\n"


KEPT: list[Figure] = []


def keeping(self: Figure, file: Any, **_: Any) -> None:
    """In the place of `Figure.savefig`: remembers the figure and renders nothing."""
    KEPT[:] = [self]
    if isinstance(file, io.StringIO):
        file.write("<svg></svg>")


def number(value: Any) -> str:
    """Without the noise of floating point."""
    return f"{float(value):.4f}".rstrip("0").rstrip(".") if value is not None else "none"


def numbers(values: Any) -> str:
    return " ".join(number(value) for value in values)


def colour(value: Any) -> str:
    """As text; what cannot be seen is called none."""
    if isinstance(value, str) and value in ("none", "auto"):
        return value
    text = to_hex(value, keep_alpha=True)
    return "none" if text.endswith("00") and len(text) == 9 else text.removesuffix("ff") if len(text) == 9 else text


def _figure(figure: Figure) -> Iterator[str]:
    engine = figure.get_layout_engine()
    layout = type(engine).__name__ if engine else "none"
    yield f"figure {numbers(figure.get_size_inches())} alpha {figure.patch.get_alpha()} layout {layout}"
    if engine is None or "Tight" in layout:
        around = figure.subplotpars
        yield f"  around {numbers(round(v, 2) for v in (around.left, around.bottom, around.right, around.top, around.hspace))}"
    for legend in figure.legends:
        yield from _legend(legend)
    for axes in figure.axes:
        yield from _axes(axes)


def _axes(axes: Axes) -> Iterator[str]:
    grid = axes.get_subplotspec()
    ratios = grid.get_gridspec().get_height_ratios() if grid else ()
    yield f"axes x {numbers(axes.get_xlim())} y {numbers(axes.get_ylim())} {'on' if axes.axison else 'off'}"
    yield f"  scales {axes.get_xscale()} {axes.get_yscale()} alpha {axes.patch.get_alpha()} heights {numbers(ratios)}"
    yield f"  margins {numbers(axes.margins())}"
    for location in ("left", "center"):
        if axes.get_title(loc=location):
            title = axes._left_title if location == "left" else axes.title  # type: ignore[attr-defined]
            yield f"  title {location} {title.get_text()!r} {colour(title.get_color())} {number(title.get_size())}"
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        if axes.axison:
            yield from _axis(name, axis)
    for side, spine in axes.spines.items():
        if axes.axison and spine.get_visible():
            yield f"  spine {side} {colour(spine.get_edgecolor())}"
    for child in axes.get_children():
        if child not in axes.spines.values() and child not in (axes.patch, axes.xaxis, axes.yaxis):
            yield from ("  " + line for line in _artist(child))


def _axis(name: str, axis: Any) -> Iterator[str]:
    if label := axis.label.get_text():
        yield f"  label {name} {label!r} {colour(axis.label.get_color())} {number(axis.label.get_size())}"
    locator = axis.get_major_locator()
    kind = type(locator).__name__
    if isinstance(locator, MaxNLocator) and getattr(locator, "_integer", False):
        kind += " of integers"
    words = ""
    if isinstance(locator, FixedLocator):
        labels = axis.get_ticklabels()
        words = " " + "; ".join(
            f"{number(place)} {label.get_text()!r} {colour(label.get_color())} {number(label.get_size())}"
            for place, label in zip(axis.get_ticklocs(), labels, strict=True)
        )
    elif not isinstance(locator, NullLocator):
        tick = axis.get_major_ticks(1)[0]
        words = (
            f" {colour(tick.label1.get_color())} {number(tick.label1.get_size())} {colour(tick.tick1line.get_color())}"
        )
        words += f" minor {type(axis.get_minor_locator()).__name__}"
    tick = axis.get_major_ticks(1)[0]
    words += f" length {number(tick.tick1line.get_markersize())}"
    if tick.gridline.get_visible():
        line = tick.gridline
        words += f" grid {colour(line.get_color())} {number(line.get_alpha())} {number(line.get_linewidth())}"
    yield f"  ticks {name} {kind}{words}"


def _artist(artist: Artist) -> Iterator[str]:
    match artist:
        case Legend():
            yield from _legend(artist)
        case Annotation():
            yield _annotation(artist)
        case Text():
            if artist.get_text():
                yield f"text {numbers(artist.get_position())} {_text(artist)}"
        case Line2D():
            yield _line(artist)
        case Patch():
            yield _patch(artist)
        case Collection():
            yield _collection(artist)
        case _:
            yield type(artist).__name__


def _text(text: Text) -> str:
    style = f"{text.get_text()!r} {text.get_ha()} {text.get_va()} {colour(text.get_color())} {number(text.get_size())}"
    if text.get_weight() not in ("normal", 400):
        style += f" {text.get_weight()}"
    if text.get_family() != ["sans-serif"]:
        style += f" {','.join(text.get_family())}"
    box = text.get_bbox_patch()
    return f"{style} in [{_patch(box, placed=False)}]" if box is not None else style


def _annotation(note: Annotation) -> str:
    words = f"note {numbers(note.xy)} ({note.xycoords}) from {numbers(note.xyann)} ({note.anncoords})"
    words += f" clip {note.get_annotation_clip()}"
    if arrow := note.arrow_patch:
        style, way = arrow.get_arrowstyle(), arrow.get_connectionstyle()
        words += (
            f" arrow {type(style).__name__} {type(way).__name__} {number(getattr(way, 'rad', 0))} {_stroke(arrow)}"
            f" shrunk {number(arrow.shrinkA)} {number(arrow.shrinkB)}"
        )
        for name in ("patchA", "patchB"):
            if patch := getattr(arrow, name):
                words += f" {name} {numbers(patch.get_bbox().bounds)}"
    return f"{words} {_text(note)}" if note.get_text() else words


def _stroke(patch: Patch) -> str:
    return f"{colour(patch.get_edgecolor())} {number(patch.get_linewidth())} {patch.get_linestyle()}"


def _line(line: Line2D) -> str:
    points = "; ".join(numbers(point) for point in line.get_xydata())
    how = f"{colour(line.get_color())} {number(line.get_linewidth())} {_dashes(line)} {line.get_drawstyle()}"
    mark = (
        f" mark {line.get_marker()} {number(line.get_markersize())}"
        if line.get_marker() not in ("None", "", None)
        else ""
    )
    alpha = f" alpha {number(line.get_alpha())}" if line.get_alpha() is not None else ""
    name = "" if str(line.get_label()).startswith("_") else f" called {line.get_label()}"
    return f"line [{points}] {how}{mark}{alpha} z {number(line.get_zorder())}{name}"


def _dashes(line: Line2D) -> str:
    pattern = getattr(line, "_unscaled_dash_pattern", None)
    return f"{line.get_linestyle()}{pattern[1] or ''}" if pattern else line.get_linestyle()


def _patch(patch: Patch, *, placed: bool = True) -> str:
    words = type(patch).__name__
    if isinstance(patch, FancyBboxPatch):
        style = patch.get_boxstyle()
        words += f" {type(style).__name__} {number(style.pad)} {number(getattr(style, 'rounding_size', None))}"
        if placed:
            words += f" {numbers(patch.get_bbox().bounds)}"
    elif placed:
        words += f" {numbers(getattr(patch, 'get_bbox', patch.get_extents)().bounds)}"
    face = colour(patch.get_facecolor()) if patch.get_fill() else "empty"
    return f"{words} {face} edge {_stroke(patch)}"


def _collection(some: Collection) -> str:
    if isinstance(some, PathCollection):  # marks: dots, crosses, diamonds differ in how many corners they have
        shapes = ", ".join(f"{len(path.vertices)} corners" for path in some.get_paths())
    else:
        shapes = " | ".join("; ".join(numbers(point) for point in path.vertices) for path in some.get_paths())
    faces = ",".join(colour(each) for each in some.get_facecolor()) or "none"
    edges = ",".join(colour(each) for each in some.get_edgecolor()) or "none"
    return (
        f"{type(some).__name__} at {'; '.join(numbers(each) for each in some.get_offsets())} shapes {shapes} faces {faces}"
        f" edges {edges} {numbers(some.get_linewidths())} sizes {numbers(getattr(some, '_sizes', ()))} alpha {some.get_alpha()}"
        f" clip {some.get_clip_on()}"
    )


def _legend(legend: Legend) -> Iterator[str]:
    anchor = numbers(legend.get_bbox_to_anchor()._bbox.bounds) if legend._bbox_to_anchor else "none"  # type: ignore[attr-defined]
    yield (
        f"legend {legend._loc_used_default} {legend._get_loc()} outside {getattr(legend, '_outside_loc', None)} at {anchor}"  # type: ignore[attr-defined]
        f" columns {legend._ncols} frame {legend.get_frame_on()} pads {number(legend.borderaxespad)}"  # type: ignore[attr-defined]
        f" {number(legend.handlelength)} {number(legend.columnspacing)}"
    )
    for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True):
        shown = getattr(handle, "get_facecolor", getattr(handle, "get_color", None))
        yield f"  {text.get_text()!r} {colour(text.get_color())} {number(text.get_size())} {colour(shown()) if shown else ''}"
