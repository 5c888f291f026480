"""Slices drawn: each endpoint with its hint, each node with its lines, each slice as long as it is full."""

from __future__ import annotations

from lifecycle.figures.endpoint_slices import draw_hints, draw_slice_sizes, hint_of
from lifecycle.figures.picture import GOOD

ENDPOINTS = [
    {"addresses": ["10.0.0.1"], "zone": "a", "hints": {"forZones": [{"name": "a"}]}},
    {"addresses": ["10.0.0.2"], "zone": "b", "hints": {"forNodes": [{"name": "n2"}], "forZones": [{"name": "b"}]}},
]


def drawn(svg: str, colour: str) -> int:
    """How many lines from a slice to a node there are in a colour."""
    return svg.count(f"stroke: {colour}; stroke-width: 1.5; stroke-linecap: square")


def test_a_hint_is_told_by_kind_and_name() -> None:
    assert hint_of(ENDPOINTS[0]) == "for zone a"
    assert hint_of(ENDPOINTS[1]) == "for node n2, zone b"
    assert hint_of({"addresses": ["10.0.0.3"]}) == "no hint"


def test_a_node_has_a_line_to_each_address_that_it_uses_in_its_zones_colour() -> None:
    svg = draw_hints(ENDPOINTS, {"n1": ("a", ["10.0.0.1"]), "n2": ("b", ["10.0.0.1", "10.0.0.2"])}).svg
    for text in ("10.0.0.1, in zone a", "for node n2, zone b", "n1", "zone b"):
        assert svg.count(f"<!-- {text} -->") == 1, text
    assert (drawn(svg, "#3b7dd8"), drawn(svg, "#e0902f")) == (1, 2)


def test_a_full_slice_stands_out_and_each_shows_its_number() -> None:
    svg = draw_slice_sizes({"100 pods": [100], "101 pods": [100, 1]}).svg
    assert svg.count(f"fill: {GOOD}") == 2
    assert [svg.count(f"<!-- {size} -->") for size in (100, 1)] == [2, 1]
    assert svg == draw_slice_sizes({"100 pods": [100], "101 pods": [100, 1]}).svg
