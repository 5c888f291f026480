"""Who goes first when a node is short of memory."""

from __future__ import annotations

from lifecycle.api.wire import Object
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
