"""Which resource a word means, and how much of its group has to be said."""

from __future__ import annotations

import pytest

from lifecycle.api.resources import Resource
from lifecycle.kubectl.failures import NoMatchError
from lifecycle.kubectl.rest_mapper import RESTMapper


def served(group: str, version: str, plural: str, *short: str) -> Resource:
    singular = plural.removesuffix("s")
    return Resource(group, version, plural, singular.capitalize(), singular, True, ("get",), short)


MAPPER = RESTMapper(
    [
        served("", "v1", "events", "ev"),
        served("apps", "v1", "widgets", "w"),
        served("apps", "v1beta1", "widgets", "w"),
        served("more.apps", "v1", "widgets", "w"),
        served("apps.example.com", "v1", "widgets", "w"),
        served("events.k8s.io", "v1", "events", "ev"),
        served("example.com", "v1", "gadgets", "events"),
    ]
)
MEANT = {
    "widgets": "apps/v1", "widget": "apps/v1", "Widget": "apps/v1", "w": "apps/v1",
    "widgets.apps": "apps/v1", "w.apps": "apps/v1", "widgets.v1.apps": "apps/v1",
    "widgets.v1beta1.apps": "apps/v1beta1",
    # the beginning of a group is enough, the first that begins so: no other part of it
    "widgets.a": "apps/v1", "widgets.app": "apps/v1", "widgets.m": "more.apps/v1",
    "widgets.apps.": "apps.example.com/v1", "widgets.apps.ex": "apps.example.com/v1",
    "widgets.apps.example.com": "apps.example.com/v1", "widgets.more.apps": "more.apps/v1",
    "widgets.ore": "", "widgets.pps": "", "widgets.example": "", "widgets.com": "", "widgets.k8s.io": "",
    "widgets.appsx": "", "widgets.v2.apps": "", "widgets.v1.app": "",
    # the group without a name begins with nothing but itself
    "events": "v1", "ev": "v1", "events.events": "events.k8s.io/v1", "events.k8s": "", "events.k8s.io": "",
    # a whole name comes before somebody's short one
    "events.example.com": "example.com/v1", "gadgets": "example.com/v1", "nothing": "", "widgets.": "apps/v1",
}  # fmt: skip


@pytest.mark.parametrize("typed", MEANT)
def test_a_group_may_be_said_from_its_beginning(typed: str) -> None:
    if MEANT[typed]:
        assert MAPPER.resource_for(typed).api_version == MEANT[typed]
        return
    with pytest.raises(NoMatchError, match="the server doesn't have a resource type"):
        MAPPER.resource_for(typed)


SHARED = RESTMapper(
    [
        served("a.io", "v1", "apples", "x", "ap"),
        served("a.io", "v1", "apes", "x"),
        served("a.io", "v1beta1", "apes", "x"),
        served("b.io", "v1", "pears", "x", "ap"),
        served("c.io", "v1", "ap"),
    ]
)


@pytest.mark.parametrize(
    ("typed", "meant", "others"),
    [
        ("x", "apples", ["apes.a.io", "pears.b.io"]),
        ("x.a.io", "apples", ["apes.a.io"]),
        ("x.v1.a.io", "apples", ["apes.a.io"]),
        ("x.b.io", "pears", []),
        ("ap.a.io", "apples", []),
        ("ap.b.io", "pears", []),
        # a whole name is never one of several, and neither is what only begins a group
        ("ap", "ap", []),
        ("apples", "apples", []),
        ("x.a", "apples", []),
    ],
)
def test_who_says_a_short_name_is_told_what_else_it_could_mean_there(typed: str, meant: str, others: list[str]) -> None:
    """Of two meanings in one group one is told as well, whatever another group calls so in full. Upstream:
    `expandResourceShortcut`.
    """
    told = list[str]()
    assert SHARED.resource_for(typed, told.append).plural == meant
    assert told == [
        f'short name "{typed.partition(".")[0]}" could also match lower priority resource {o}' for o in others
    ]


def test_a_short_name_is_short_in_one_group_though_it_is_a_whole_one_in_another() -> None:
    told = list[str]()
    mapper = RESTMapper(
        [*SHARED.resources, served("d.io", "v1", "xs"), Resource("d.io", "v1", "x", "X", "x", True, ("get",))]
    )
    assert mapper.resource_for("x.a.io", told.append).plural == "apples"
    assert told == ['short name "x" could also match lower priority resource apes.a.io']


ODD = RESTMapper([Resource("example.com", "v1", "crontabs", "CronTab", "job", True, ("get",), ("ct",))])


@pytest.mark.parametrize("typed", ["crontabs", "job", "crontab", "CronTab", "CRONTABS", "ct", "crontab.example.com"])
def test_a_kind_is_a_word_for_it_whatever_its_singular_is_called(typed: str) -> None:
    """Upstream: `NewDiscoveryRESTMapper`, which adds the kind in small letters."""
    assert ODD.resource_for(typed).plural == "crontabs"
