"""Whom a ReplicaSet deletes: its siblings' pods count where a node is too full, and are not touched."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, Clock, format_time
from lifecycle.api.status import failure
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.controllers.expectations import ControllerExpectations
from lifecycle.controllers.pod_control import PodControl
from lifecycle.controllers.replicaset.manage_replicas import manage_replicas

NOW = VIRTUAL_EPOCH + 1_000


def _pod(name: str, node: str) -> Object:
    """One that runs, and is as old as all others."""
    then = format_time(VIRTUAL_EPOCH)
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name, "creationTimestamp": then},
        "spec": {"nodeName": node},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": then}],
        },
    }


def deleted(replicas: int, siblings: dict[str, str]) -> tuple[set[str], int]:
    """Which of three pods – two on `one`, one on `two` – go, and how often the siblings
    were asked for, if so many are to stay and siblings run on these nodes, by name.
    """
    gone, asked = set[str](), list[None]()
    mine = [_pod("a", "one"), _pod("b", "one"), _pod("c", "two")]

    class Control:
        async def delete_pod(self, name: str, *_: Any) -> None:
            gone.add(name)

    def related() -> list[Object]:
        asked.append(None)
        return [*mine, *(_pod(name, node) for name, node in siblings.items())]

    async def main() -> None:
        owner: Object = {
            "metadata": {"name": "web", "namespace": "default", "uid": "u"},
            "spec": {"replicas": replicas},
        }
        error = await manage_replicas(
            owner,
            mine,
            pod_control=cast(PodControl, Control()),
            expectations=ControllerExpectations(Clock()),
            related_pods=related,
            now=NOW,
        )
        assert error is None
        await asyncio.sleep(0)

    on_virtual_time(main())
    return gone, len(asked)


@pytest.mark.parametrize(
    ("replicas", "siblings", "gone"),
    [
        (1, {}, {"a", "b"}),  # the fuller node gives
        (2, {"x": "two", "y": "two"}, {"c"}),  # fuller by what its siblings have there
        (2, {"x": "two"}, None),  # as full as the other: any
        (0, {"x": "two"}, {"a", "b", "c"}),
        (3, {"x": "two"}, set()),
    ],
)
def test_the_node_with_most_pods_of_the_same_owner_gives_first(
    replicas: int, siblings: dict[str, str], gone: set[str] | None
) -> None:
    found, asked = deleted(replicas, siblings)
    assert len(found) == 3 - replicas
    assert gone in (None, found)
    assert asked == (1 if replicas < 3 else 0)  # nobody looks for siblings who deletes nothing


def test_not_more_than_five_hundred_go_at_once() -> None:
    gone = set[str]()
    mine = [_pod(str(number), "one") for number in range(620)]

    class Control:
        async def delete_pod(self, name: str, *_: Any) -> None:
            gone.add(name)

    owner: Object = {"metadata": {"name": "web", "namespace": "default", "uid": "u"}, "spec": {"replicas": 10}}

    async def main() -> None:
        expectations = ControllerExpectations(Clock())
        await manage_replicas(
            owner,
            mine,
            pod_control=cast(PodControl, Control()),
            expectations=expectations,
            related_pods=lambda: mine,
            now=NOW,
        )
        for number in gone:
            assert not expectations.satisfied("default/web")
            expectations.deletion_observed("default/web", f"default/{number}")
        assert expectations.satisfied("default/web")  # of those alone it waits to hear

    on_virtual_time(main())
    assert len(gone) == 500


@pytest.mark.parametrize(
    ("ages", "gone"),
    [
        ({"a": 1000, "b": 10}, "b"),  # the younger one
        ({"a": 10, "b": 1000}, "a"),
        ({"a": 1000, "b": 1040}, "a"),  # as old as one another, as far as it matters: the uid decides
        ({"a": 1040, "b": 1000}, "a"),
    ],
)
def test_of_pods_that_are_told_apart_by_nothing_else_the_youngest_goes(ages: dict[str, float], gone: str) -> None:
    """How young a pod is, is counted from now."""

    def aged(name: str, age: float) -> Object:
        pod = _pod(name, "one")
        then = format_time(NOW - age)
        pod["metadata"]["creationTimestamp"] = pod["status"]["conditions"][0]["lastTransitionTime"] = then
        return pod

    mine = [aged(name, age) for name, age in ages.items()]
    went = list[str]()

    class Control:
        async def delete_pod(self, name: str, *_: Any) -> None:
            went.append(name)

    async def main() -> None:
        await manage_replicas(
            {"metadata": {"name": "web", "namespace": "default", "uid": "u"}, "spec": {}},  # one, if nobody says
            mine,
            pod_control=cast(PodControl, Control()),
            expectations=ControllerExpectations(Clock()),
            related_pods=lambda: mine,
            now=NOW,
        )

    on_virtual_time(main())
    assert went == [gone]


@pytest.mark.parametrize(("there", "wanted"), [(0, 2), (3, 1), (2, 2)])
@pytest.mark.parametrize("works", [True, False])
def test_what_went_wrong_is_told_whether_pods_were_to_come_or_to_go(there: int, wanted: int, works: bool) -> None:
    """Or it would not be tried again. Upstream: `manageReplicas`, whose error `syncReplicaSet` returns."""

    class Control:
        async def _do(self, *_: Any) -> None:
            if not works:
                raise failure(500, "InternalError", "not today")

        create_pod = delete_pod = _do

    mine = [_pod(str(number), "one") for number in range(there)]
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c"}]}}
    meta = {"name": "web", "namespace": "default", "uid": "u"}
    owner: Object = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": meta,
        "spec": {"replicas": wanted, "template": template},
    }

    async def main() -> tuple[str, bool]:
        expectations = ControllerExpectations(Clock())
        error = await manage_replicas(
            owner,
            mine,
            pod_control=cast(PodControl, Control()),
            expectations=expectations,
            related_pods=lambda: mine,
            now=NOW,
        )
        return str(error or ""), expectations.satisfied("default/web")

    said, satisfied = on_virtual_time(main())
    failed = not works and there != wanted
    assert said == ("not today" if failed else "")
    assert satisfied is (failed or there == wanted), "it waits for nothing that will not come"
