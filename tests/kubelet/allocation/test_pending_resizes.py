"""Several pods wish for something else: who is asked first, and what becomes of the others."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.allocation.allocation_manager import AllocationManager, update_pod_from_allocation
from lifecycle.kubelet.lifecycle.interfaces import PodAdmitAttributes, PodAdmitResult
from lifecycle.kubelet.status.resize_conditions import PodResizeConditions


def pod(name: str, cpu: str, *, limit: bool = False, priority: int = 0, since: str = "", **spec: Any) -> Object:
    wants = {"requests": {"cpu": cpu, "memory": "64Mi"}}
    resources = {**wants, "limits": wants["requests"]} if limit else wants
    pending = {"type": "PodResizePending", "status": "True", "lastTransitionTime": since}
    return {
        "metadata": {"name": name, "namespace": "n", "uid": name, "generation": 2},
        "spec": {"containers": [{"name": "c", "resources": resources}], "priority": priority, **spec},
        "status": {"conditions": [pending] if since else []},
    }


class Node:
    """`room`: so many thousandths of a CPU are there for all."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.pods: dict[str, Object] = {}
        self.asked: list[str] = []
        self.conditions = PodResizeConditions()
        self.events: list[str] = []
        self.manager = AllocationManager(
            [self.admit],
            lambda: self.pods.values(),
            self.pods.get,
            dict,
            {},
            self.conditions,
            lambda pod, kind, reason, message, container: self.events.append(
                f"{pod['metadata']['name']} {kind} {reason}"
            ),
        )

    def admit(self, attributes: PodAdmitAttributes) -> PodAdmitResult:
        self.asked.append(attributes.pod["metadata"]["name"])
        used = sum(self.cpu(each) for each in (attributes.pod, *attributes.other_pods))
        return (
            PodAdmitResult(True) if used <= self.room else PodAdmitResult(False, "OutOfcpu", f"{used} of {self.room}")
        )

    @staticmethod
    def cpu(pod: Object) -> int:
        return int(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"].removesuffix("m"))

    def promised(self, name: str) -> int:
        return self.cpu(self.manager.update_pod_from_allocation(self.pods[name]))

    def add(self, *pods: Object) -> None:
        for each in pods:
            assert self.manager.add_pod(each).admit
            self.pods[each["metadata"]["name"]] = each

    def wish(self, *pods: Object) -> list[str]:
        """All at once; the names in the order in which they were asked about."""
        for each in pods:
            self.pods[each["metadata"]["name"]] = each
            self.manager.push_pending_resize(each)
        self.asked.clear()
        self.manager.retry_pending_resizes()
        return list(self.asked)


OLD, NEW = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"cpu": "50m"}, {"cpu": "300m", "priority": 1000}),
        ({"cpu": "300m", "priority": 1}, {"cpu": "300m", "since": OLD}),
        ({"cpu": "300m", "priority": 1}, {"cpu": "300m", "limit": True}),
        ({"cpu": "300m", "limit": True}, {"cpu": "300m", "since": OLD}),
        ({"cpu": "300m", "since": OLD}, {"cpu": "300m", "since": NEW}),
        ({"cpu": "300m", "since": NEW}, {"cpu": "300m"}),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_who_is_asked_about_first(first: Any, second: Any, turned: bool) -> None:
    node = Node(10_000)
    node.add(pod("a", "100m", limit="limit" in first), pod("b", "100m", limit="limit" in second))
    wishes = [pod("a", **first), pod("b", **second)]
    assert node.wish(*(reversed(wishes) if turned else wishes)) == ["a", "b"]


def test_what_one_gives_back_the_next_may_have_and_who_gets_nothing_is_asked_about_again() -> None:
    node = Node(400)
    node.add(pod("a", "200m"), pod("b", "100m"), pod("c", "100m"))
    node.wish(pod("c", "300m"), pod("b", "200m", priority=1), pod("a", "100m"))
    assert {name: node.promised(name) for name in "abc"} == {"a": 100, "b": 200, "c": 100}
    assert node.events == ["a Normal ResizeStarted", "b Normal ResizeStarted", "c Warning ResizeDeferred"]
    assert node.manager.has_pending_resizes()
    assert node.conditions.is_deferred("c")
    assert node.manager.retry_pending_resizes() == []  # nothing new
    node.room = 600
    assert node.manager.retry_pending_resizes() == ["c"]
    assert (node.promised("c"), node.manager.has_pending_resizes(), node.conditions.is_deferred("c")) == (
        300,
        False,
        False,
    )


def test_a_wish_taken_back_is_no_longer_spoken_of() -> None:
    node = Node(200)
    node.add(pod("a", "100m"), pod("b", "100m"))
    node.wish(pod("b", "200m"))
    assert node.conditions.is_deferred("b")
    node.manager.push_pending_resize(pod("b", "100m"))
    assert node.conditions.of("b") == []


def test_a_pod_s_own_resources_are_promised_with_its_containers() -> None:
    more, less = {"requests": {"cpu": "2"}}, {"requests": {"cpu": "1"}}
    wish: Object = {"metadata": {"uid": "u"}, "spec": {"resources": more, "containers": [{"name": "c"}]}}
    assert update_pod_from_allocation(wish, {"": more}) is wish
    assert update_pod_from_allocation(wish, {"": less})["spec"]["resources"] == less
    assert "resources" not in update_pod_from_allocation(wish, {"c": less})["spec"]
    assert wish["spec"]["resources"] == more
