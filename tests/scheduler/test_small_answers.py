"""Small answers that only few tests look at."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.clock import Clock
from lifecycle.api.labels import selector_from_labels
from lifecycle.api.node_selector import required_node_affinity
from lifecycle.api.wire import Object
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.scheduler.backend.cache.cache import Cache
from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.config import PER_POINT, ExtenderConfig, SchedulerConfiguration
from lifecycle.scheduler.framework.node_info import NodeInfo
from lifecycle.scheduler.framework.plugins.node_resources_fit import requested_to_capacity_ratio
from lifecycle.scheduler.framework.plugins.pod_topology_spread.constraints import Constraint
from lifecycle.scheduler.framework.runtime.options import Options
from lifecycle.scheduler.scheduler import Scheduler
from tests.fake_api import FakeAPI
from tests.scheduler.cluster_model import make_node
from tests.scheduler.framework.preemption.test_preemption import Preempting, important, running


@pytest.mark.parametrize(
    ("verbs", "extended"),
    [
        ({"filter_verb": "f"}, True),
        ({"prioritize_verb": "p"}, True),
        ({"bind_verb": "b"}, False),
        ({"preempt_verb": "x"}, False),
    ],
)
def test_who_filters_or_scores_makes_the_search_go_on_behind_the_first_node(
    verbs: dict[str, str], extended: bool
) -> None:
    client = Client(FakeAPI(), "scheduler/1")
    configuration = SchedulerConfiguration(extenders=(ExtenderConfig("http://x", **verbs),))  # type: ignore[arg-type]
    scheduler = Scheduler.new(client, SharedInformerFactory(client), clock=Clock(), configuration=configuration)
    [algorithm] = scheduler._schedule_one._algorithms.values()
    assert algorithm._extended is extended


@pytest.mark.parametrize(("requested", "score"), [(0, 0), (5, 50), (6, 60), (9, 30), (10, 20)])
def test_behind_its_last_bend_a_line_stays_where_it_is(requested: int, score: int) -> None:
    shape = [{"utilization": u, "score": s} for u, s in ((0, 0), (60, 6), (90, 3), (95, 2))]
    assert requested_to_capacity_ratio(shape)(requested, 10) == score


def test_where_there_is_no_cluster_no_node_is_kept_for_anybody() -> None:
    nominator = Options().nominator
    assert nominator.nominated_node_of("default/p") == ""
    assert nominator.nominated_pods_for_node("n") == []
    assert list(nominator.nodes) == []
    assert not nominator


@pytest.mark.parametrize(("allowed", "chosen"), [(0, "free"), (1, "free"), (2, "guarded")])
def test_a_budget_is_used_up_one_by_one(allowed: int, chosen: str) -> None:
    """Two must go on either node; those of the guarded one are less important, unless one of them is one too many."""
    budget: Object = {
        "metadata": {"namespace": "default"},
        "spec": {"selector": {"matchLabels": {"tier": "g"}}},
        "status": {"disruptionsAllowed": allowed},
    }
    pods = [running(f"g{i}", "guarded", 1, "2") for i in range(2)] + [
        running(f"f{i}", "free", 5, "2") for i in range(2)
    ]
    for pod in pods[:2]:
        pod["metadata"]["labels"] = {"tier": "g"}
    scene = Preempting([make_node("guarded"), make_node("free")], pods, (budget,))
    assert scene.refuse(important())[0] == chosen


TAINTED = make_node("n", labels={"disk": "ssd"}, taints=({"key": "k", "effect": "NoSchedule"},))
WANTS_TAPE = required_node_affinity({"nodeSelector": {"disk": "tape"}})


@pytest.mark.parametrize(
    ("policies", "required", "tolerations", "counts"),
    [
        ({}, None, [], True), ({}, WANTS_TAPE, [], False), ({"honor_affinity": False}, WANTS_TAPE, [], True),
        ({"honor_taints": True}, None, [], False), ({"honor_taints": True}, None, [{"operator": "Exists"}], True),
        ({"honor_taints": True, "honor_affinity": False}, WANTS_TAPE, [], False),
    ],
)  # fmt: skip
def test_whether_a_nodes_pods_count(policies: Any, required: Any, tolerations: list[Object], counts: bool) -> None:
    constraint = Constraint("zone", 1, selector_from_labels({"app": "web"}), **policies)
    assert constraint.counts_node(NodeInfo(TAINTED), required, tolerations) is counts


def test_a_budget_without_a_selector_speaks_of_nobody() -> None:
    everybody: Object = {
        "metadata": {"namespace": "default"},
        "spec": {"selector": {}},
        "status": {"disruptionsAllowed": 0},
    }
    pods = [running("g", "guarded", 1, "4"), running("f", "free", 5, "4")]
    scene = Preempting([make_node("guarded"), make_node("free")], pods, (everybody,))
    assert scene.refuse(important())[0] == "guarded"
    assert scene.chosen[0].pdb_violations == 0


def test_a_node_that_stays_in_its_zone_stays_in_its_place() -> None:
    cache, snapshot = Cache(), Snapshot()
    zoned = make_node("n", labels={"topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r"})
    cache.add_node(zoned)
    cache.update_snapshot(snapshot)
    before = snapshot.layout
    cache.add_node({**zoned, "spec": {"taints": []}})
    cache.update_snapshot(snapshot)
    assert snapshot.layout == before
    cache.add_node(make_node("n", labels={"topology.kubernetes.io/zone": "b"}))
    cache.update_snapshot(snapshot)
    assert snapshot.layout == before + 1


def test_the_points_of_a_profile_are_upstreams() -> None:
    assert PER_POINT == (
        "preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preBind", "bind",
        "postBind",
    )  # fmt: skip
