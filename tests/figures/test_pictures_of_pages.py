"""Pictures for pages: complete, transparent, the same each time."""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.figures.moments import draw_counts, draw_moments
from lifecycle.figures.ownership import draw_ownership


def owned(kind: str, name: str, *owners: str) -> Object:
    references = [{"uid": owner, "kind": "?", "name": owner} for owner in owners]
    return {"kind": kind, "metadata": {"name": name, "uid": name, "ownerReferences": references}}


FAMILY = [owned("Deployment", "d"), owned("ReplicaSet", "r", "d"), owned("Pod", "p", "r", "s"), owned("Service", "s")]


def test_the_ownership_graph_draws_each_object_once_and_each_reference() -> None:
    svg = draw_ownership(FAMILY)._repr_svg_()
    assert svg.count("<!-- Pod -->") == 1
    for name in ("d", "r", "p", "s"):
        assert svg.count(f"<!-- {name} -->") == 1
    assert svg == draw_ownership(FAMILY)._repr_svg_()


def test_circles_and_strangers_do_no_harm() -> None:
    circle = [owned("ConfigMap", "a", "b"), owned("ConfigMap", "b", "a"), owned("Pod", "p", "gone")]
    svg = draw_ownership(circle)._repr_svg_()
    assert [svg.count(f"<!-- {name} -->") for name in "abp"] == [1, 1, 1]
    assert draw_ownership([])._repr_svg_().startswith("<svg")


def test_moments_and_counts_draw_on_nothing() -> None:
    for picture in (
        draw_moments({"a": [(0, True), (10, True), (10, False)], "b": []}),
        draw_counts({"a": [(0, 0), (1, 3)], "b": [(0, 0)]}),
    ):
        svg = picture._repr_svg_()
        assert svg.startswith("<svg")
        assert "fill: #ffffff" not in svg
