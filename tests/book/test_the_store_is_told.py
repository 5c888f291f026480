"""What the pages about writing, owning and keeping objects say in plain words, held against the code they are about."""

from __future__ import annotations

from lifecycle.api.resources import all_resources
from lifecycle.apiserver.managedfields import update
from lifecycle.apiserver.storage.cacher import cacher
from lifecycle.etcd import follower
from tests.conftest import ROOT


def page(name: str) -> str:
    """A page's text, without its line breaks."""
    return " ".join((ROOT / "book" / f"{name}.md").read_text().split())


def left_out(module: object) -> str:
    """What a module's first lines say that it leaves out."""
    return " ".join(str(module.__doc__).split()).partition("Left out:")[2]


def test_field_ownership_says_what_ours_does_not_convert() -> None:
    assert "Ours does so for a plain write, and not for an apply" in page("apiserver/field-ownership")
    assert "in an apply, managers that own fields of other versions" in left_out(update)


def test_the_watch_cache_says_what_ours_does_otherwise() -> None:
    text = page("etcd/the-watch-cache")
    assert "With us the store answers those" in text
    assert "snapshots for old list revisions" in left_out(cacher)
    assert "It has a single watch on all keys" in text
    assert "one watch covers **all keys**" in (follower.__doc__ or "")


def test_two_kinds_have_two_faces() -> None:
    assert "Only two kinds have two faces" in page("apiserver/versions-and-conversion")
    versions: dict[str, set[str]] = {}
    for row in all_resources():
        versions.setdefault(row.kind, set()).add(row.api_version)
    several = {kind: sorted(names) for kind, names in versions.items() if len(names) > 1}
    assert several == {
        "Event": ["events.k8s.io/v1", "v1"],
        "HorizontalPodAutoscaler": ["autoscaling/v1", "autoscaling/v2"],
    }
