"""Who goes first when a node is short of memory."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.eviction.ranking import rank
from lifecycle.kubelet.stats.summary import ContainerUsage, PodUsage


def test_those_of_whom_nobody_knows_what_they_use_then_those_who_use_more_than_they_asked_for() -> None:
    uses = {"frugal": 1999, "greedy": 2001, "greedier": 2003}
    asks = {"resources": {"requests": {"memory": "2000"}}}
    pods: list[Object] = [
        {
            "metadata": {"uid": uid},
            "spec": {"containers": [{"name": "c", **asks}], "priority": priority},
        }
        for uid, priority in (("frugal", -1), ("greedy", 0), ("?", 0), ("greedier", 0))
    ]
    known = {uid: PodUsage({"c": ContainerUsage(memory=used)}) for uid, used in uses.items()}
    order = [pod["metadata"]["uid"] for pod in rank(pods, known, "memory")]
    assert order == ["?", "greedier", "greedy", "frugal"]


def pod(name: str, requests: list[str], priority: int | None = 0) -> Object:
    """One container for each request."""
    containers = [{"name": str(i), "resources": {"requests": {"memory": each}}} for i, each in enumerate(requests)]
    return {"metadata": {"uid": name}, "spec": {"containers": containers, "priority": priority}}


@pytest.mark.parametrize(
    ("used", "first"),
    [(999, "important"), (1000, "important"), (1001, "tested")],
)
def test_a_pod_that_uses_exactly_what_it_asked_for_is_as_safe_as_one_that_uses_less(used: int, first: str) -> None:
    """The other one is more important, and one byte over."""
    pods = [pod("tested", ["1000"], -5), pod("important", ["1000"], 5)]
    uses = {"tested": used, "important": 1001}
    known = {uid: PodUsage({"c": ContainerUsage(memory=amount)}) for uid, amount in uses.items()}
    for each in (pods, pods[::-1]):
        assert rank(each, known, "memory")[0]["metadata"]["uid"] == first


ORDERS: dict[str, tuple[list[tuple[Any, ...]], str]] = {
    "the less important of two that are over": ([("a", 2000, 1), ("b", 1100, 0)], "ba"),
    "no importance is importance 0": ([("a", 1100, 1), ("b", 1100, None), ("c", 1100, -1)], "cba"),
    "by what is beyond, not by what is used": ([("a", 5000, 0, "4900"), ("b", 1200, 0)], "ba"),
    "among the safe the less important, then who has least left": (
        [("a", 100, 1), ("b", 100, 0), ("c", 1000, 0), ("d", 500, 0)], "cdba",
    ),
    "who asks for nothing is over with one byte": ([("a", 1000, 0), ("b", 1, 9, "0")], "ba"),
    "who asks for nothing and uses nothing is not": ([("a", 1001, 9), ("b", 0, 0, "0")], "ab"),
    "all containers together": ([("a", 2001, 0, "1000", "1000"), ("b", 2000, -1, "1000", "1000")], "ab"),
}  # fmt: skip


@pytest.mark.parametrize("case", ORDERS)
def test_who_goes_before_whom(case: str) -> None:
    wanted, order = ORDERS[case]
    pods = [pod(name, list(asked) or ["1000"], priority) for name, _, priority, *asked in wanted]
    known = {name: PodUsage({"c": ContainerUsage(memory=used)}) for name, used, *_ in wanted}
    for each in (pods, pods[::-1]):
        assert "".join(one["metadata"]["uid"] for one in rank(each, known, "memory")) == order
