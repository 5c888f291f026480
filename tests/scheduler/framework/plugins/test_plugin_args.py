"""What a profile may tell its plugins, and what they make of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.config import API_VERSION, parse_configuration
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.listers import Listers
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.plugins.node_resources_fit import requested_to_capacity_ratio
from lifecycle.scheduler.framework.runtime.options import Options
from lifecycle.scheduler.framework.types import FitError
from lifecycle.scheduler.profile import new_framework
from lifecycle.scheduler.schedule_pod import Algorithm
from tests.scheduler.cluster_model import by_app, make_node, make_pod, snapshot_of

ZONE = "topology.kubernetes.io/zone"
NODES = [
    make_node("a", labels={ZONE: "a"}, **{"example.com/gpu": "4"}),
    make_node("b", labels={ZONE: "b", "disk": "ssd"}, **{"example.com/gpu": "8"}),
    make_node("nowhere"),
]


def decide(plugin: str, args: Mapping[str, Any], pod: Object, *placed: Object) -> dict[str, int] | str:
    """The plugin's scores under these arguments, or the refusal."""
    config = {"name": plugin, "args": args}
    given = {"kind": "KubeSchedulerConfiguration", "apiVersion": API_VERSION, "profiles": [{"pluginConfig": [config]}]}
    framework = new_framework(parse_configuration(given).profiles[0], Options(Listers(find_selector=by_app)))
    snapshot = snapshot_of(NODES, placed)
    try:
        result = Algorithm(framework, snapshot).schedule_pod(CycleState(), PodInfo(pod))
    except FitError as error:
        return str(error)
    return result.scores.get(plugin, {}) if result.scores else {result.suggested_host: -1}


def test_node_affinity_that_the_profile_adds_is_demanded_of_every_pod() -> None:
    term = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
    added: Object = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    assert decide("NodeAffinity", {"addedAffinity": added}, make_pod("p")) == {"b": -1}
    assert decide("NodeAffinity", {"addedAffinity": added}, make_pod("p", nodeSelector={ZONE: "a"})) == (
        "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "
        "2 node(s) didn't match scheduler-enforced node affinity."
    )
    added = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "preference": term}]}
    assert decide("NodeAffinity", {"addedAffinity": added}, make_pod("p")) == {"a": 0, "b": 200, "nowhere": 0}


@pytest.mark.parametrize(
    ("args", "scores"),
    [
        ({}, {"a": 200, "b": 0, "nowhere": 0}),
        ({"hardPodAffinityWeight": 0}, {}),
        ({"ignorePreferredTermsOfExistingPods": True}, {}),
    ],
)
def test_how_much_somebody_elses_demand_weighs(args: Object, scores: dict[str, int]) -> None:
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": ZONE}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    wants_web = make_pod("friend", affinity=affinity, nodeName="a")
    assert decide("InterPodAffinity", args, make_pod("p", labels={"app": "web"}), wants_web) == scores


def test_a_profile_s_own_default_spreading_filters_too_and_demands_its_labels() -> None:
    web = [make_pod(name, labels={"app": "web"}, nodeName="a") for name in ("w1", "w2")]
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    args = {"defaultingType": "List", "defaultConstraints": [constraint]}
    assert decide("PodTopologySpread", args, make_pod("p", labels={"app": "web"}), *web) == {"b": -1}
    assert decide("PodTopologySpread", args, make_pod("p"), *web) == {}  # nobody's pod: nothing to spread
    soft = [{**constraint, "whenUnsatisfiable": "ScheduleAnyway"}]
    args = {"defaultingType": "List", "defaultConstraints": soft}
    scores = decide("PodTopologySpread", args, make_pod("p", labels={"app": "web"}), *web)
    assert scores == {"a": 0, "b": 200, "nowhere": 0}
    assert decide("PodTopologySpread", {"defaultingType": "List"}, make_pod("p", labels={"app": "web"}), *web) == {}


@pytest.mark.parametrize(
    ("args", "fits"),
    [
        ({}, False),
        ({"ignoredResources": ["example.com/fpga"]}, True),
        ({"ignoredResourceGroups": ["example.com"]}, True),
    ],
)
def test_resources_that_others_look_after(args: Object, fits: bool) -> None:
    answer = decide("NodeResourcesFit", args, make_pod("p", requests={"example.com/fpga": "1"}))
    assert (answer == "0/3 nodes are available: 3 Insufficient example.com/fpga.") is not fits


def test_scores_over_other_resources_than_cpu_and_memory() -> None:
    resources = [{"name": "example.com/gpu", "weight": 3}, {"name": "cpu", "weight": 1}]
    args: Object = {"scoringStrategy": {"type": "LeastAllocated", "resources": resources}}
    pod = make_pod("p", requests={"example.com/gpu": "2", "cpu": "1"})
    # a: gpu (4-2)/4 = 50, cpu (4-1)/4 = 75: (50·3+75)/4 = 56; b: gpu (8-2)/8 = 75, cpu 75: 75
    assert decide("NodeResourcesFit", args, pod) == {"a": 56, "b": 75}
    plain = decide("NodeResourcesFit", args, make_pod("p", requests={"cpu": "1"}))
    assert plain == {"a": 75, "b": 75, "nowhere": 75}  # who wants no GPU is not judged by them
    args["scoringStrategy"]["type"] = "MostAllocated"
    assert decide("NodeResourcesFit", args, pod) == {"a": 43, "b": 25}


@pytest.mark.parametrize(
    ("requested", "score"), [(0, 0), (25, 25), (50, 50), (75, 75), (99, 99), (100, 100), (101, 100)]
)
def test_a_straight_line_packs(requested: int, score: int) -> None:
    line = requested_to_capacity_ratio([{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}])
    assert line(requested, 100) == score


@pytest.mark.parametrize(("requested", "score"), [(0, 20), (30, 20), (40, 60), (50, 100), (75, 50), (100, 0), (120, 0)])
def test_a_line_with_bends(requested: int, score: int) -> None:
    shape = [(30, 2), (50, 10), (100, 0)]
    line = requested_to_capacity_ratio([{"utilization": u, "score": s} for u, s in shape])
    assert line(requested, 100) == score


@pytest.mark.parametrize(("requested", "score"), [(0, 0), (5, 50), (6, 60), (9, 30), (10, 20)])
def test_behind_its_last_bend_a_line_stays_where_it_is(requested: int, score: int) -> None:
    shape = [{"utilization": u, "score": s} for u, s in ((0, 0), (60, 6), (90, 3), (95, 2))]
    assert requested_to_capacity_ratio(shape)(requested, 10) == score


def test_the_ratio_leaves_resources_without_a_score_out_and_rounds() -> None:
    shape = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    resources = [{"name": "cpu", "weight": 1}, {"name": "example.com/gpu", "weight": 1}]
    strategy = {
        "type": "RequestedToCapacityRatio",
        "resources": resources,
        "requestedToCapacityRatio": {"shape": shape},
    }
    pod = make_pod("p", requests={"example.com/gpu": "1", "cpu": "1"})
    # a: cpu 25, gpu 25; b: cpu 25, gpu 12: 18.5, rounded to 19
    assert decide("NodeResourcesFit", {"scoringStrategy": strategy}, pod) == {"a": 25, "b": 19}


def test_balance_over_the_resources_one_names() -> None:
    args = {"resources": [{"name": "example.com/gpu", "weight": 1}, {"name": "cpu", "weight": 1}]}
    pod = make_pod("p", requests={"example.com/gpu": "4", "cpu": "2"})
    # a: gpu 1.0, cpu 0.5: balance 75, 100 before: 50 + (50-25)/2 = 62; b: gpu 0.5, cpu 0.5: 100: 75
    assert decide("NodeResourcesBalancedAllocation", args, pod) == {"a": 62, "b": 75}


def test_balance_is_between_processors_and_memory_where_nothing_else_is_named() -> None:
    pod = make_pod("p", requests={"cpu": "2", "memory": "1Mi"})

    def over(*names: str) -> dict[str, int] | str:
        args = {"resources": [{"name": name, "weight": 1} for name in names]} if names else {}
        return decide("NodeResourcesBalancedAllocation", args, pod)

    assert over() == over("cpu", "memory") != over("cpu", "example.com/none")
