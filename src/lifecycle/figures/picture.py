"""Pictures for pages: drawn by matplotlib, kept as SVG, legible on light and dark.

The ground is transparent and lines are of a middle grey, so that one picture serves
both modes; coloured boxes are solid and carry white text. The SVG comes out the same
each time, which keeps builds and labs comparable.
"""

from __future__ import annotations

import io

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

INK = "#808080"
MARGIN = 0.16
"""What a line leaves free of its box, in inches."""
GOOD, BAD = "#2a7f62", "#b5441c"


class Picture:
    """A finished picture; a notebook shows it as SVG."""

    def __init__(self, figure: Figure) -> None:
        buffer = io.StringIO()
        with matplotlib.rc_context({"svg.hashsalt": "lifecycle"}):
            figure.savefig(
                buffer, format="svg", transparent=True, metadata={"Date": None}
            )
        text = buffer.getvalue()
        self.svg = text[text.index("<svg") :]

    def _repr_svg_(self) -> str:
        return self.svg


def empty_axes(width: float, height: float, rows: int = 1) -> list[Axes]:
    """`rows` transparent axes below each other, in inches, in the ink of the house."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    figure.patch.set_alpha(0.0)
    grid = figure.subplots(rows, 1, squeeze=False, sharex=True)
    for axes in grid[:, 0]:
        axes.patch.set_alpha(0.0)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            axes.spines[side].set_color(INK)
        axes.tick_params(colors=INK, labelsize=10)
    return list(grid[:, 0])


def figure_of(axes: Axes) -> Figure:
    """The figure that axes stand in."""
    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    return figure


def fitting(text: str, size: float, weight: str, box: float) -> float:
    """The font size at which a line fits into a box of so many inches: `size`, in
    points, or a smaller one.
    """
    line = TextPath((0, 0), text, size=size, prop=FontProperties(weight=weight))
    return size * min(1.0, 72 * (box - MARGIN) / max(line.get_extents().width, 1.0))
