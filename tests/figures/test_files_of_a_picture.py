"""How a picture leaves the house: as SVG that is the same each time, as PNG, as a page; and what its axes begin with."""

from __future__ import annotations

import base64
import html
import io
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from lifecycle.figures import picture, timeline
from lifecycle.figures.picture import Picture, empty_axes, figure_of, fitting
from lifecycle.trace.journey import Journey, Step
from tests.figures.description import description

JOURNEY = Journey(
    "deployments/<nginx>",
    (Step("kubectl", "create", 0.0, 0.01), Step("kubelet", "status", 0.5, 0.75), Step("kubectl", "again", 0.2, 0.3)),
    "here",
)
SAID = (
    "Timeline of deployments/<nginx> on here, 750.0 ms in all: kubectl from 0 µs to 300.0 ms; kubelet from 500.0 ms to"
    " 750.0 ms."
)


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What figures were told about the files that they were saved to."""
    told: list[dict[str, Any]] = []

    def savefig(self: Figure, file: Any, **how: Any) -> None:
        told.append({"salt": picture.matplotlib.rcParams["svg.hashsalt"], "axes": len(self.axes), **how})
        file.write('<?xml?>\n<svg width="1">body</svg>' if isinstance(file, io.StringIO) else b"png")

    monkeypatch.setattr(Figure, "savefig", savefig)
    return told


SVG = {"format": "svg", "transparent": True, "metadata": {"Date": None}}


def test_a_picture_is_svg_without_a_date_and_with_its_own_salt(saved: list[dict[str, Any]]) -> None:
    drawn = Picture(Figure())
    assert drawn.svg == drawn._repr_svg_() == '<svg width="1">body</svg>'
    assert saved == [{"salt": "lifecycle", "axes": 0, **SVG}]


def test_a_timeline_is_described_in_its_svg(saved: list[dict[str, Any]]) -> None:
    assert timeline.alt_text(JOURNEY) == SAID
    title = f"<title>{html.escape(SAID)}</title>"
    assert timeline.to_svg(JOURNEY) == f'<svg width="1" role="img">\n{title}body</svg>'
    both = f"<title>{html.escape(SAID)} {html.escape(SAID)}</title>"
    assert timeline.to_svg([JOURNEY, JOURNEY]) == f'<svg width="1" role="img">\n{both}body</svg>'
    assert [(told.pop("axes"), told.pop("salt"), told) for told in saved] == [(1, None, SVG), (2, None, SVG)]


def test_a_timeline_is_a_png_of_so_many_dots(saved: list[dict[str, Any]], tmp_path: Path) -> None:
    assert timeline.to_png(JOURNEY) == b"png"
    assert timeline.to_png([JOURNEY] * 2, tmp_path / "x.png", dpi=20) == (tmp_path / "x.png").read_bytes() == b"png"
    png = {"salt": None, "format": "png", "transparent": True}
    assert saved == [{"axes": 1, "dpi": 150, **png}, {"axes": 2, "dpi": 20, **png}]


def test_a_page_is_the_picture_and_its_words(saved: list[dict[str, Any]]) -> None:
    for journeys in (JOURNEY, [JOURNEY]):
        said = html.escape(SAID)
        image = base64.b64encode(timeline.to_svg(journeys).encode()).decode()
        assert timeline.to_html(journeys, title="A & b") == (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport"'
            ' content="width=device-width, initial-scale=1"><title>A &amp; b</title><style>:root{color-scheme:light'
            " dark}body{font-family:sans-serif;margin:1rem auto;max-width:70rem;padding:0 1rem}img{max-width:100%;height:auto}"
            f'</style></head><body><h1>A &amp; b</h1><img alt="{said}" src="data:image/svg+xml;base64,{image}"><p>{said}</p>'
            "</body></html>\n"
        )
    assert "<h1>The journey of a request</h1>" in timeline.to_html(JOURNEY)


def test_axes_stand_below_each_other_and_share_their_scale() -> None:
    first, second = empty_axes(3, 2, 2)
    assert description(figure_of(first)) == (
        "figure 3 2 alpha 0.0 layout ConstrainedLayoutEngine\n"
        + (
            "axes x 0 1 y 0 1 on\n  scales linear linear alpha 0.0 heights 1 1\n  margins 0.05 0.05\n"
            "  ticks x AutoLocator #808080 10 #808080 minor NullLocator length 3.5\n"
            "  ticks y AutoLocator #808080 10 #808080 minor NullLocator length 3.5\n"
            "  spine left #808080\n  spine bottom #808080\n"
        )
        * 2
    )
    first.set_xlim(3, 4)
    assert second.get_xlim() == (3, 4)
    assert len(empty_axes(1, 1)) == 1


def test_a_line_fits_into_its_box_less_a_margin_and_never_grows() -> None:
    assert fitting("a", 10, "bold", 1.0) == 10
    long = "a name much longer"
    wide, narrow = fitting(long, 10, "bold", 0.96), fitting(long, 10, "bold", 0.56)
    assert wide / narrow == pytest.approx(0.8 / 0.4)
    line = TextPath((0, 0), long, size=10, prop=FontProperties(weight="bold"))
    assert wide == pytest.approx(10 * 72 * 0.8 / line.get_extents().width)
    assert fitting(long, 20, "bold", 0.96) == pytest.approx(wide, rel=0.01)
    assert fitting(long, 10, "normal", 0.96) > wide
