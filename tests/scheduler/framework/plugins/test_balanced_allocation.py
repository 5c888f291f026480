"""How a pod changes the balance of a node: by hand, from the formula that stands above the plugin."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.plugins.node_resources_balanced_allocation import (
    NodeResourcesBalancedAllocation,
    balance,
)
from lifecycle.scheduler.framework.status import SKIP
from tests.scheduler.cluster_model import make_node, make_pod

GPU = "example.com/gpu"
WITH_GPU = ("cpu", "memory", GPU)


@pytest.mark.parametrize(
    ("resources", "there", "wanted", "node", "score"),
    [
        (None, {}, {"cpu": "1", "memory": "2Gi"}, {}, 75),  # a quarter of each: as balanced as before
        (None, {}, {"cpu": "2"}, {}, 62),  # half of the one, nothing of the other
        (None, {}, {"memory": "4Gi"}, {}, 62),
        (None, {"memory": "4Gi"}, {"cpu": "2"}, {}, 87),  # it fills what was idle
        (None, {"cpu": "2"}, {"cpu": "2"}, {}, 62),
        (None, {}, {"cpu": "8"}, {}, 50),  # more than all of it is all of it
        (None, {}, {"cpu": "2"}, {"memory": "0"}, 75),  # what a node does not have is out of no balance
        (None, {}, {"cpu": "2", GPU: "1"}, {GPU: "2"}, 62),  # nobody asked for this one to be weighed
        (WITH_GPU, {}, {"cpu": "2", "memory": "2Gi", GPU: "1"}, {GPU: "2"}, 69),
        (WITH_GPU, {}, {"cpu": "2"}, {GPU: "2"}, 62),  # the pod does not want it, so it is left out
        (("cpu", "ephemeral-storage"), {}, {"cpu": "2"}, {"ephemeral-storage": "10Gi"}, 62),
        (("cpu", "ephemeral-storage"), {}, {"cpu": "2", "memory": "8Gi"}, {}, 75),
    ],
)
def test_the_score_says_how_the_pod_changes_the_balance(
    resources: tuple[str, ...] | None, there: dict[str, str], wanted: dict[str, str], node: dict[str, str], score: int
) -> None:
    info = NodeInfo(make_node("n", **node))
    info.add_pod(PodInfo(make_pod("there", requests=there)))
    plugin = NodeResourcesBalancedAllocation(resources)
    assert plugin.score(CycleState(), PodInfo(make_pod("p", requests=wanted)), info) == score


@pytest.mark.parametrize(
    ("resources", "wanted", "skipped"),
    [
        (None, {}, True),
        (None, {"cpu": "1"}, False),
        (None, {"memory": "1"}, False),
        (None, {"cpu": "0", "memory": "0"}, True),
        (None, {"ephemeral-storage": "1Gi"}, True),
        (None, {GPU: "1"}, True),
        (WITH_GPU, {GPU: "1"}, False),
    ],
)
def test_a_pod_that_wants_nothing_of_what_is_weighed_is_skipped(
    resources: tuple[str, ...] | None, wanted: dict[str, str], skipped: bool
) -> None:
    plugin = NodeResourcesBalancedAllocation(resources)
    status = plugin.pre_score(CycleState(), PodInfo(make_pod("p", requests=wanted)), [], Snapshot())
    assert status is (SKIP if skipped else None)


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 100)), max_size=5))
def test_balance_is_a_hundred_less_the_standard_deviation(pairs: list[tuple[int, int]]) -> None:
    shares = [min(requested / allocatable, 1) for requested, allocatable in pairs if allocatable]
    deviation = 0.0
    if shares:
        mean = math.fsum(shares) / len(shares)
        deviation = math.sqrt(math.fsum((share - mean) ** 2 for share in shares) / len(shares))
    found = balance([requested for requested, _ in pairs], [allocatable for _, allocatable in pairs])
    assert abs(found - (1 - deviation) * 100) <= 1
