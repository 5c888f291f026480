"""A pod that wishes for more than there is room for: what its status says until it has it, or wishes for it no more."""

from __future__ import annotations

from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.allocation.allocation_manager import AllocationManager
from lifecycle.kubelet.lifecycle.interfaces import ADMITTED, PodAdmitAttributes, PodAdmitResult
from lifecycle.kubelet.status.resize_conditions import PodResizeConditions

ROOM = 4
FULL = "no room"


class Node:
    """Four CPUs, and pods that ask for some of them."""

    def __init__(self, **cpus: int) -> None:
        self.pods: dict[str, Object] = {}
        self.events: list[str] = []
        self.conditions = PodResizeConditions()
        self.manager = AllocationManager(
            [self.admit], lambda: self.pods.values(), lambda uid: self.pods.get(uid), lambda: {},
            {"cpu": str(ROOM)}, self.conditions, lambda pod, kind, reason, *_: self.events.append(reason),
        )  # fmt: skip
        for name, amount in cpus.items():
            self.wish(name, amount)
            assert self.manager.add_pod(self.pods[name]).admit

    @staticmethod
    def admit(attributes: PodAdmitAttributes) -> PodAdmitResult:
        asked = sum(_cpus(pod) for pod in [attributes.pod, *attributes.other_pods])
        return ADMITTED if asked <= ROOM else PodAdmitResult(False, FULL, f"{asked} of {ROOM}")

    def wish(self, name: str, cpus: int) -> None:
        """It asks for so many from now on."""
        before = self.pods.get(name, {"metadata": {"generation": 0}})
        meta = {"name": name, "uid": name, "generation": before["metadata"]["generation"] + 1}
        resources = {"requests": {"cpu": str(cpus)}}
        self.pods[name] = {"metadata": meta, "spec": {"containers": [{"name": "c", "resources": resources}]}}

    def look(self, name: str) -> list[str]:
        """Whose status or promise is another one when the pod's change has been seen."""
        self.manager.push_pending_resize(self.pods[name])
        return self.manager.retry_pending_resizes()

    def goes(self, name: str) -> list[str]:
        del self.pods[name]
        self.manager.remove_pod(name)
        return self.manager.retry_pending_resizes()

    def says(self, name: str) -> tuple[int, list[tuple[Any, ...]]]:
        """What the pod is promised, and what its status says of its wish."""
        promised = self.manager.update_pod_from_allocation(self.pods[name])
        told = ((c["type"], c.get("reason"), c["observedGeneration"]) for c in self.conditions.of(name))
        return _cpus(promised), list(told)


def _cpus(pod: Object) -> int:
    return int(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])


WAITS, AT_WORK = "PodResizePending", "PodResizeInProgress"


def test_who_is_granted_what_it_waited_for_waits_no_more() -> None:
    node = Node(a=1, b=3)
    node.wish("a", 3)
    assert (node.look("a"), node.says("a")) == (["a"], (1, [(WAITS, "Deferred", 2)]))
    assert (node.manager.retry_pending_resizes(), node.says("a")) == ([], (1, [(WAITS, "Deferred", 2)]))
    assert node.manager.has_pending_resizes()
    assert (node.goes("b"), node.says("a")) == (["a"], (3, [(AT_WORK, None, 2)]))
    assert (node.manager.has_pending_resizes(), node.manager.retry_pending_resizes()) == (False, [])
    assert node.events == ["ResizeDeferred", "ResizeStarted"]
    assert node.conditions.clear_in_progress("a") == 2
    assert node.says("a") == (3, []), "when its containers have it nothing is left to say"


def test_who_wishes_for_less_than_it_waited_for_waits_no_more() -> None:
    node = Node(a=1, b=2)
    node.wish("a", 3)
    assert (node.look("a"), node.says("a")) == (["a"], (1, [(WAITS, "Deferred", 2)]))
    node.wish("a", 2)
    assert (node.look("a"), node.says("a")) == (["a"], (2, [(AT_WORK, None, 3)]))


def test_who_wishes_for_what_it_has_waits_no_more() -> None:
    node = Node(a=1, b=3)
    node.wish("a", 2)
    assert (node.look("a"), node.says("a")) == (["a"], (1, [(WAITS, "Deferred", 2)]))
    node.wish("a", 1)
    node.look("a")
    assert node.says("a") == (1, [])
    assert node.manager.retry_pending_resizes() == []
    assert not node.manager.has_pending_resizes()


def test_who_has_something_coming_may_wait_for_more_at_the_same_time() -> None:
    node = Node(a=1, b=2)
    node.wish("a", 2)
    assert (node.look("a"), node.says("a")) == (["a"], (2, [(AT_WORK, None, 2)]))
    node.wish("a", 4)
    assert (node.look("a"), node.says("a")) == (["a"], (2, [(WAITS, "Deferred", 3), (AT_WORK, None, 2)]))
    assert (node.goes("b"), node.says("a")) == (["a"], (4, [(AT_WORK, None, 3)]))


def test_of_two_that_wait_one_may_get_it_and_the_other_waits_on() -> None:
    node = Node(a=1, b=1, c=2)
    for name in ("a", "b"):
        node.wish(name, 3)
        node.look(name)
    assert (node.goes("c"), node.says("a"), node.says("b")) == (
        ["a"],
        (3, [(AT_WORK, None, 2)]),
        (1, [(WAITS, "Deferred", 2)]),
    )
    assert (node.goes("a"), node.says("b")) == (["b"], (3, [(AT_WORK, None, 2)]))
