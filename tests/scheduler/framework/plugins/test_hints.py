"""What plugins look at, and which events they take for a reason to try a pod again."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.plugins.node_ports import _is_schedulable_after_pod_deleted
from lifecycle.scheduler.framework.plugins.node_resources_balanced_allocation import (
    DEFAULT_RESOURCES,
    NodeResourcesBalancedAllocation,
    balance,
)


def pod(port: int, node: str = "") -> dict[str, Any]:
    ports = [{"containerPort": port, "hostPort": port, "protocol": "TCP"}]
    spec = {"containers": [{"name": "c", "ports": ports}], **({"nodeName": node} if node else {})}
    return {"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": spec}


@pytest.mark.parametrize(
    ("gone", "again"),
    [(pod(80, "a"), True), (pod(81, "a"), False), (pod(80), False), (None, False)],
)
def test_a_pod_that_goes_makes_room_if_it_had_a_place_and_the_port(gone: Any, again: bool) -> None:
    assert _is_schedulable_after_pod_deleted(PodInfo(pod(80)), gone, None) is again


def test_processors_and_memory_are_balanced_unless_others_are_named() -> None:
    assert DEFAULT_RESOURCES == ("cpu", "memory")
    assert NodeResourcesBalancedAllocation()._resources == ("cpu", "memory")
    assert NodeResourcesBalancedAllocation(["a"])._resources == ("a",)


@pytest.mark.parametrize(
    ("requested", "allocatable", "score"),
    [
        ([1, 1], [4, 4], 100),
        ([4, 0], [4, 4], 50),
        ([1, 2], [4, 4], 87),
        ([9, 4], [4, 4], 100),
        ([1], [4], 100),
        ([], [], 100),
        ([1, 3], [4, 0], 100),
        ([0, 2, 4], [4, 4, 4], 59),
        ([4, 4, 4], [4, 4, 4], 100),
    ],
)
def test_equal_shares_score_most(requested: list[int], allocatable: list[int], score: int) -> None:
    assert balance(requested, allocatable) == score
