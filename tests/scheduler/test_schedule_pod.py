"""Pieces of a decision, with the arithmetic in comments."""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.taints import tolerates
from lifecycle.scheduler.backend.cache.node_tree import NodeTree
from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.backend.queue.nominator import Nominator
from lifecycle.scheduler.config import Profile
from lifecycle.scheduler.framework.plugins.node_resources_balanced_allocation import balance
from lifecycle.scheduler.framework.plugins.node_resources_fit import least_requested_score
from lifecycle.scheduler.framework.resources import pod_requests
from lifecycle.scheduler.framework.runtime.options import Options
from lifecycle.scheduler.profile import new_framework
from lifecycle.scheduler.schedule_pod import Algorithm, num_feasible_nodes_to_find
from tests.scheduler.cluster_model import Model, make_node, make_pod


@pytest.mark.parametrize(
    ("nodes", "percentage", "wanted"),
    [
        (10, 0, 10),
        (99, 0, 99),
        (100, 0, 100),  # 50 % is 50, but never below 100
        (1000, 0, 420),  # 50 - 1000/125 = 42 %
        (5000, 0, 500),  # 50 - 40 = 10 %
        (6000, 0, 300),  # 50 - 48 = 2, but at least 5 %
        (1000, 100, 1000),
        (1000, 30, 300),
    ],
)
def test_how_many_nodes_are_enough(nodes: int, percentage: int, wanted: int) -> None:
    assert num_feasible_nodes_to_find(nodes, percentage) == wanted


def test_the_search_goes_on_where_it_stopped() -> None:
    model = Model([make_node(f"n{i}") for i in range(200)], batch=False)
    seen = []
    for i in range(4):
        model.place(make_pod(f"p{i}"))
        seen.append(model.algorithm.next_start_node_index)
    assert seen == [100, 0, 100, 0]


def test_nodes_are_listed_one_from_each_zone_in_turn() -> None:
    tree = NodeTree()
    for name, zone in (("a1", "a"), ("a2", "a"), ("a3", "a"), ("b1", "b"), ("c1", "c"), ("c2", "c")):
        tree.add_node(name, zone)
    assert tree.list() == ["a1", "b1", "c1", "a2", "c2", "a3"]
    tree.remove_node("b1", "b")
    assert tree.list() == ["a1", "c1", "a2", "c2", "a3"]


def test_scores_of_resources() -> None:
    # as logged for sched/plain: (2000-300)·100/2000 = 85, (25276514304-471859200)·100/25276514304 = 98; (85+98)/2 = 91
    assert least_requested_score(300, 2000) == 85
    assert least_requested_score(471859200, 25276514304) == 98
    assert least_requested_score(2001, 2000) == 0
    # |0.1 - 0.0047|/2 = 0.0476: 95 with the pod; |0.05 - 0.0021|/2 = 0.024: 97 without; 50 + (50-2)/2 = 74, as logged
    assert balance((200, 119537664), (2000, 25276514304)) == 95
    assert balance((100, 52428800), (2000, 25276514304)) == 97


def request(cpu: str, **more: str) -> Object:
    return {"image": "x", "resources": {"requests": {"cpu": cpu}}, **more}


def test_what_a_pod_asks_for() -> None:
    spec = {
        "containers": [request("100m"), request("200m")],
        "initContainers": [
            request("50m"),  # alone
            request("300m", restartPolicy="Always"),  # stays
            request("400m"),  # beside the sidecar: 700m
        ],
        "overhead": {"cpu": "10m"},
    }
    # containers and sidecar: 100 + 200 + 300 = 600; the largest init step: 400 + 300 = 700; overhead 10
    assert pod_requests({"spec": spec}) == {"cpu": 710}


@pytest.mark.parametrize(
    ("toleration", "taint", "covered"),
    [
        ({"operator": "Exists"}, {"key": "k", "effect": "NoSchedule"}, True),
        ({"key": "k", "operator": "Exists"}, {"key": "k", "value": "v", "effect": "NoExecute"}, True),
        ({"key": "k", "value": "v"}, {"key": "k", "value": "v", "effect": "NoSchedule"}, True),
        ({"key": "k", "value": "w"}, {"key": "k", "value": "v", "effect": "NoSchedule"}, False),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, {"key": "k", "effect": "NoSchedule"}, False),
        ({"key": "other", "operator": "Exists"}, {"key": "k", "effect": "NoSchedule"}, False),
    ],
)
def test_tolerations(toleration: Object, taint: Object, covered: bool) -> None:
    assert tolerates(toleration, taint) is covered


def test_replicas_spread_over_hosts_and_zones_by_default() -> None:
    nodes = [make_node(f"n{i}", labels={"topology.kubernetes.io/zone": "ab"[i % 2]}) for i in range(4)]
    model = Model(nodes, batch=False)
    hosts = [model.place(make_pod(f"p{i}", labels={"app": "x"})) for i in range(4)]
    assert sorted(hosts) == ["n0", "n1", "n2", "n3"]
    assert {int(host[1]) % 2 for host in hosts[:2]} == {0, 1}


def test_a_cordoned_node_is_named_in_the_refusal() -> None:
    node = make_node("n0")
    node["spec"]["unschedulable"] = True
    model = Model([node], batch=True)
    assert model.place(make_pod("p")) == "0/1 nodes are available: 1 node(s) were unschedulable."


def test_the_first_pod_of_a_group_may_start_the_group() -> None:
    terms = [{"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}]
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    model = Model([make_node("n0"), make_node("n1")], batch=False)
    first = model.place(make_pod("p0", labels={"app": "x"}, affinity=affinity))
    assert first in ("n0", "n1")
    assert model.place(make_pod("p1", labels={"app": "x"}, affinity=affinity)) == first


def test_an_existing_pod_can_keep_others_away() -> None:
    terms = [{"labelSelector": {"matchLabels": {"app": "y"}}, "topologyKey": "kubernetes.io/hostname"}]
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    model = Model([make_node("n0")], batch=True)
    assert model.place(make_pod("p0", affinity=affinity)) == "n0"
    assert model.place(make_pod("p1", labels={"app": "y"})) == (
        "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules."
    )


def test_a_full_node_takes_no_more_pods() -> None:
    model = Model([make_node("n0", pods="1")], batch=True)
    assert model.place(make_pod("p0")) == "n0"
    assert model.place(make_pod("p1")) == "0/1 nodes are available: 1 Too many pods."


@pytest.mark.parametrize("batch", [True, False])
def test_where_nobody_compares_nodes_the_first_that_fits_is_enough(batch: bool) -> None:
    nothing: dict[str, tuple[tuple[str, int], ...]] = {"score": (), "preScore": ()}
    framework = new_framework(Profile(points=nothing))
    model = Model([make_node(f"n{i}") for i in range(9)], batch=batch, framework=framework)
    results = [model.decide(make_pod(f"p{i}")) for i in range(3)]
    assert [(r.suggested_host, r.evaluated_nodes, r.feasible_nodes) for r in results] == [
        ("n0", 1, 1),
        ("n1", 1, 1),  # the search goes on where it stopped
        ("n2", 1, 1),
    ]


def test_a_nominator_that_is_given_is_used_though_it_is_empty_yet() -> None:
    nominator = Nominator()
    framework = new_framework(Profile(), Options(nominator=nominator))
    algorithm = Algorithm(framework, Snapshot())
    assert algorithm.nominator is framework.nominator is nominator
