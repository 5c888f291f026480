"""The timeline as picture and page, ours and the recorded cluster's."""

import re

import pytest

from lifecycle.figures import timeline
from lifecycle.inspector import open_recording
from lifecycle.trace import text
from lifecycle.trace.colours import COLOURS
from lifecycle.trace.recorded import recorded_journey


@pytest.fixture(scope="module")
def recorded():
    return recorded_journey(open_recording().path)


def test_the_recorded_journey_is_the_whole_way(recorded):
    assert 1.6 < recorded.duration < 1.8
    counts = {row: len(recorded.of(*row)) for row in recorded.rows()}
    assert counts["kubectl", "create Deployment"] == 1
    assert counts["deployment-controller", "create ReplicaSet"] == 1
    assert counts["replicaset-controller", "create Pod"] == 3
    assert counts["scheduler", "bind"] == 3
    assert counts["kubelet", "status"] >= 6
    assert recorded.steps[-1].stage == "all pods ready"


def test_events_can_be_included(recorded):
    assert len(recorded_journey(open_recording().path, events=True).steps) > len(recorded.steps)


def test_a_journey_that_was_not_recorded(tmp_path):
    with pytest.raises(LookupError, match=r"kind-1\.36\.2: no creation of deployment absent in the audit log$"):
        recorded_journey(open_recording().path, name="absent")


def test_text(recorded):
    said = text.render(recorded)
    assert "kind-1.36.2" in said.splitlines()[0]
    rows = [re.split(r" {2,}", line.strip()) for line in said.partition("stage by stage:")[2].splitlines()]
    counts = {(row[0], row[1]): row[2] for row in rows if len(row) == 4}
    assert counts["scheduler", "bind"] == "3×"
    assert counts["replicaset-controller", "create Pod"] == "3×"
    assert len(counts) == len(recorded.rows())


def test_svg_is_transparent_and_described(recorded):
    svg = timeline.to_svg(recorded)
    assert svg.startswith("<svg")
    assert 'role="img"' in svg
    assert "<title>Timeline of deployments/nginx" in svg
    assert "fill: #ffffff" not in svg
    assert "#000000" not in svg


def test_png_and_page(recorded, tmp_path):
    png = timeline.to_png([recorded, recorded], tmp_path / "two.png")
    assert png.startswith(b"\x89PNG")
    assert (tmp_path / "two.png").read_bytes() == png
    page = timeline.to_html(recorded)
    assert "color-scheme:light dark" in page
    assert 'alt="Timeline of' in page
    assert "http" not in page.replace("http-equiv", "")


def test_alt_text_says_who_worked_when(recorded):
    described = timeline.alt_text(recorded)
    assert "kubectl from 0 µs to" in described
    assert "scheduler from 131" in described


def test_colours_are_legible_on_black_and_on_white():
    for colour in (*COLOURS.values(), timeline.INK):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        assert (1.05 / (luminance + 0.05)) > 2.9, colour
        assert ((luminance + 0.05) / 0.05) > 2.9, colour


def test_every_row_of_a_timeline_has_its_bars_within_the_picture(recorded):
    for figure in (timeline.draw(recorded), timeline.draw_side_by_side([recorded, recorded])):
        for axes in figure.axes:
            top, bottom = axes.get_ylim()[1], axes.get_ylim()[0]
            assert len(axes.collections) == len(recorded.rows())
            for number, bars in enumerate(axes.collections):
                heights = [y for path in bars.get_paths() for y in path.vertices[:, 1]]
                assert top <= min(heights) <= number <= max(heights) <= bottom, "the first row stands on top"
