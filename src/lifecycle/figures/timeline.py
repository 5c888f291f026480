"""The journey as a picture: one row per stage, one bar per piece of work, coloured by
component.

Transparent background and middle tones, so that the same picture is legible on a light
page and on a dark one. Every picture has a text for those who do not see it
(`alt_text`).
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from lifecycle.trace.colours import colour_of
from lifecycle.trace.journey import Journey
from lifecycle.trace.text import milliseconds

INK = "#808080"


def draw(journey: Journey, *, width: float = 9.0) -> Figure:
    """The timeline of one journey. `width` in inches; the height follows the number of
    rows.
    """
    return draw_side_by_side([journey], width=width)


def draw_side_by_side(journeys: Sequence[Journey], *, width: float = 9.0) -> Figure:
    """Several journeys below each other, each on its own clock, with the same
    colours.
    """
    heights = [max(len(journey.rows()), 1) for journey in journeys]
    figure = Figure(
        figsize=(width, sum(0.26 * rows + 1.05 for rows in heights)),
        layout="constrained",
    )
    FigureCanvasAgg(figure)
    figure.patch.set_alpha(0.0)
    axes = figure.subplots(
        len(journeys), 1, height_ratios=[rows + 3 for rows in heights], squeeze=False
    )
    for axis, journey in zip(axes[:, 0], journeys, strict=True):
        _paint(axis, journey)
    return figure


def _paint(axis: Axes, journey: Journey) -> None:
    rows = journey.rows()
    unit, factor = ("ms", 1000.0) if journey.duration < 1 else ("s", 1.0)
    whole = journey.duration * factor or 1.0
    for number, (component, stage) in enumerate(rows):
        bars = [
            (s.start * factor, max(s.duration * factor, whole / 400))
            for s in journey.of(component, stage)
        ]
        axis.broken_barh(
            bars,
            (number - 0.36, 0.72),
            facecolors=colour_of(component),
            edgecolors="none",
            alpha=0.9,
        )
    axis.set_yticks(
        range(len(rows)),
        [f"{component} · {stage}" for component, stage in rows],
        fontsize=8,
    )
    for label, (component, _) in zip(axis.get_yticklabels(), rows, strict=True):
        label.set_color(colour_of(component))
    axis.set_ylim(len(rows) - 0.4, -0.6)  # the first row on top
    axis.set_xlim(0, whole * 1.02)
    axis.set_xlabel(f"{unit} since the request", color=INK, fontsize=8)
    axis.set_title(
        f"{journey.title}\n{milliseconds(journey.duration)}, {journey.provenance}",
        color=INK,
        fontsize=9,
        loc="left",
    )
    axis.tick_params(axis="x", colors=INK, labelsize=8)
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x", color=INK, alpha=0.25, linewidth=0.6)
    axis.patch.set_alpha(0.0)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    axis.spines["bottom"].set_color(INK)


def alt_text(journey: Journey) -> str:
    """The picture in a sentence or two."""
    parts: dict[str, tuple[float, float]] = {}
    for step in journey.steps:
        begin, end = parts.get(step.component, (step.start, step.end))
        parts[step.component] = (min(begin, step.start), max(end, step.end))
    spans = "; ".join(
        f"{name} from {milliseconds(begin)} to {milliseconds(end)}"
        for name, (begin, end) in parts.items()
    )
    return (
        f"Timeline of {journey.title} on {journey.provenance},"
        f" {milliseconds(journey.duration)} in all: {spans}."
    )


def to_svg(journeys: Journey | Sequence[Journey]) -> str:
    """The picture as SVG text, with its description as `<title>`."""
    several = [journeys] if isinstance(journeys, Journey) else list(journeys)
    buffer = io.StringIO()
    draw_side_by_side(several).savefig(
        buffer, format="svg", transparent=True, metadata={"Date": None}
    )
    text = buffer.getvalue()
    svg = text[text.index("<svg") :]
    end = svg.index(">") + 1
    described = html.escape(" ".join(alt_text(journey) for journey in several))
    return f'{svg[: end - 1]} role="img">\n<title>{described}</title>{svg[end:]}'


def to_png(
    journeys: Journey | Sequence[Journey],
    path: str | Path | None = None,
    *,
    dpi: int = 150,
) -> bytes:
    """The picture as PNG bytes, also written to `path` if one is given."""
    several = [journeys] if isinstance(journeys, Journey) else list(journeys)
    buffer = io.BytesIO()
    draw_side_by_side(several).savefig(buffer, format="png", dpi=dpi, transparent=True)
    if path is not None:
        Path(path).write_bytes(buffer.getvalue())
    return buffer.getvalue()


def to_html(
    journeys: Journey | Sequence[Journey], *, title: str = "The journey of a request"
) -> str:
    """A page of its own: the picture, and its text beneath."""
    several = [journeys] if isinstance(journeys, Journey) else list(journeys)
    image = base64.b64encode(to_svg(several).encode()).decode()
    described = html.escape(" ".join(alt_text(journey) for journey in several))
    style = (
        ":root{color-scheme:light dark}body{font-family:sans-serif;margin:1rem"
        " auto;max-width:70rem;padding:0 1rem}img{max-width:100%;height:auto}"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta'
        ' name="viewport" content="width=device-width,'
        f' initial-scale=1"><title>{html.escape(title)}</title><style>{style}</style>'
        f"</head><body><h1>{html.escape(title)}</h1><img"
        f' alt="{described}"'
        f' src="data:image/svg+xml;base64,{image}"><p>{described}</p></body></html>\n'
    )
