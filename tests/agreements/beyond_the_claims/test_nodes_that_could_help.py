"""Which changes of a node could help a pod that waits, and which only look like it."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.framework.events import node_events


def node(*, labels: Any = None, allocatable: Any = None, conditions: Any = None, **spec: Any) -> Object:
    status = {"allocatable": allocatable, "conditions": conditions or []}
    return {"metadata": {"name": "n", "labels": labels or {}}, "spec": spec, "status": status}


TAINT = {"key": "k", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (node(unschedulable=True), node(), ["UpdateNodeTaint"]),
        (node(), node(unschedulable=True), []),  # cordoned: there is one node less
        (node(unschedulable=True), node(unschedulable=True), []),
        (node(taints=[TAINT]), node(), ["UpdateNodeTaint"]),
        (node(), node(taints=[TAINT]), ["UpdateNodeTaint"]),  # a pod may have asked for it
        (node(labels={"a": "1"}), node(labels={"a": "2"}), ["UpdateNodeLabel"]),
        (node(allocatable={"cpu": "1"}), node(allocatable={"cpu": "2"}), ["UpdateNodeAllocatable"]),
        (node(), node(), []),
    ],
)
def test_a_change_of_a_node_is_told_as_what_it_is(old: Object, new: Object, told: list[str]) -> None:
    assert [event.action for event in node_events(old, new)] == told
