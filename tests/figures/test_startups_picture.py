"""Starts of pods drawn: slowest first, and what does not count in another colour."""

from __future__ import annotations

import re

from lifecycle.figures.picture import GOOD
from lifecycle.figures.startups import PULL, Startup, draw_startups


def widths(svg: str, colour: str) -> list[float]:
    """The widths of the bars of a colour, from the paths that draw them."""
    found = []
    for bar in re.findall(rf'<path d="([^"]+)"[^>]*style="fill: {colour}"', svg):
        across = [float(x) for x in re.findall(r"[ML] (\S+)", bar)]
        found.append(max(across) - min(across))
    return found


def test_the_slowest_pod_is_on_top_and_pulling_is_another_colour() -> None:
    svg = draw_startups([Startup("fast", 1.0, 1.0), Startup("slow", 2.0, 6.0)], 5).svg
    names = [text for text in re.findall(r"<!-- (\w+) -->", svg) if text in ("fast", "slow")]
    assert names == ["slow", "fast"]
    assert svg.count("<!-- 5 s -->") == 1
    counted, pulled = widths(svg, GOOD), widths(svg, PULL)
    assert round(counted[0] / counted[1], 3) == 2.0
    assert round(pulled[0] / counted[0], 3) == 2.0
    assert pulled[1] == 0
