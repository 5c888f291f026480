"""Which initializers an object has to wait for, in which order; and when a watch tells of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from lifecycle.api.http.wire import WatchFrame
from lifecycle.api.resources import resource
from lifecycle.historical.apiserver.initializer_visibility import _watched
from lifecycle.historical.apiserver.initializers import STATE, Initializers


def rule(group: str, version: str, plural: str) -> dict[str, Any]:
    return {"apiGroups": [group], "apiVersions": [version], "resources": [plural]}


DEPLOYMENTS = rule("apps", "v1", "deployments")


def configuration(*named: tuple[str, list[dict[str, Any]]]) -> dict[str, Any]:
    return {"initializers": [{"name": name, "rules": rules} for name, rules in named]}


@pytest.mark.parametrize(
    ("configurations", "found"),
    [
        ({}, []),
        ({"a": {}}, []),
        ({"a": configuration(("one", [DEPLOYMENTS]))}, ["one"]),
        ({"a": configuration(("one", []))}, []),
        ({"a": configuration(("one", [rule("", "v1", "pods")]))}, []),
        ({"a": configuration(("one", [rule("", "v1", "pods"), DEPLOYMENTS]))}, ["one"]),
        ({"a": configuration(("one", [rule("*", "*", "*")]))}, ["one"]),
        ({"a": configuration(("one", [rule("apps", "v1beta1", "deployments")]))}, []),
        ({"a": configuration(("one", [rule("extensions", "v1", "deployments")]))}, []),
        # configurations by their names, what is in them as it stands; each waited for once
        (
            {
                "b": configuration(("three", [DEPLOYMENTS]), ("one", [DEPLOYMENTS])),
                "a": configuration(("two", [DEPLOYMENTS]), ("four", [rule("", "v1", "pods")]), ("one", [DEPLOYMENTS])),
            },
            ["two", "one", "three"],
        ),
    ],
)
def test_who_cares_about_a_kind_is_waited_for_by_the_names_of_the_configurations(
    configurations: dict[str, Any], found: list[str]
) -> None:
    """Upstream (1.7–1.13): `initialization.go`, `configuration/initializer_manager.go` (`mergeInitializerConfigurations`)."""
    plugin = Initializers(cast(Any, None), configurations)
    assert plugin.initializers_for(resource("deployments.apps")) == found


WAITS, READY = True, False
TOLD: list[tuple[list[tuple[str, bool]], str]] = [
    # what becomes of one object, and whether it waits then; what is told of it
    ([("ADDED", READY), ("MODIFIED", READY), ("DELETED", READY)], "ADDED MODIFIED DELETED"),
    ([("ADDED", WAITS), ("MODIFIED", WAITS)], ""),
    ([("ADDED", WAITS), ("MODIFIED", READY), ("MODIFIED", READY)], "ADDED MODIFIED"),
    ([("ADDED", WAITS), ("MODIFIED", READY), ("DELETED", READY)], "ADDED DELETED"),
    ([("ADDED", WAITS), ("DELETED", WAITS)], ""),
    ([("ADDED", WAITS), ("DELETED", READY)], "DELETED"),
    ([("MODIFIED", READY)], "MODIFIED"),
]


@pytest.mark.parametrize(("history", "told"), TOLD)
@pytest.mark.parametrize("include", [False, True])
def test_one_that_has_waited_comes_when_it_waits_no_longer(
    history: list[tuple[str, bool]], told: str, include: bool
) -> None:
    """Whoever wants to see it before is told of everything as it is. As the model of those versions says it."""

    async def stream() -> AsyncIterator[WatchFrame]:
        for kind, waits in history:
            notes = {STATE: '{"pending": [{"name": "one"}]}'} if waits else {}
            yield WatchFrame(kind, {"metadata": {"name": "m", "uid": "u", "annotations": notes}})

    async def main() -> str:
        return " ".join([frame.type async for frame in _watched(stream(), include)])

    assert asyncio.run(main()) == (" ".join(kind for kind, _ in history) if include else told)
