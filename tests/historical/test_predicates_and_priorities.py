"""Each predicate with its words, each priority with its numbers, and a Policy's way to plugins, case by case."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lifecycle.historical.scheduler.policy import (
    FILTERS,
    SCORES,
    GenericScheduler,
    Policy,
    PolicyError,
    parse_policy,
    plugins_of,
)
from lifecycle.historical.scheduler.predicates import (
    DEFAULT_PREDICATES,
    MANDATORY,
    PREDICATES,
    pod_fits_on_node,
)
from lifecycle.historical.scheduler.priorities import DEFAULT_PRIORITIES, MAX_PRIORITY, PRIORITIES, prioritize_nodes
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.plugins.registry import IN_TREE_REGISTRY
from tests.scheduler.cluster_model import make_node, make_pod

TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}
HOSTNAME = "node(s) didn't match the requested hostname"
PORTS = "node(s) didn't have free ports for the requested pod ports"
SELECTOR = "node(s) didn't match node selector"
TAINTS = "node(s) had taints that the pod didn't tolerate"
CORDONED = "node(s) were unschedulable"


def pod(**spec: Any) -> PodInfo:
    requests = spec.pop("requests", None)
    ports = spec.pop("ports", None)
    made = make_pod("p", requests=requests, **spec)
    if ports:
        made["spec"]["containers"][0]["ports"] = [{"containerPort": n, "hostPort": n} for n in ports]
    return PodInfo(made)


def node(name: str = "n", *pods: PodInfo, unschedulable: bool = False, **options: Any) -> NodeInfo:
    made = make_node(name, **options)
    if unschedulable:
        made["spec"]["unschedulable"] = True
    info = NodeInfo(made)
    for each in pods:
        info.add_pod(each)
    return info


@pytest.mark.parametrize(
    ("predicate", "info", "where", "reasons"),
    [
        ("PodFitsResources", pod(requests={"cpu": "4", "memory": "8Gi"}), node(), []),
        ("PodFitsResources", pod(requests={"cpu": "4001m"}), node(), ["Insufficient cpu"]),
        ("PodFitsResources", pod(requests={"cpu": "5", "memory": "9Gi"}), node(), ["Insufficient cpu", "Insufficient memory"]),
        ("PodFitsResources", pod(requests={"cpu": "3"}), node("n", pod(requests={"cpu": "1"})), []),
        ("PodFitsResources", pod(requests={"cpu": "3"}), node("n", pod(requests={"cpu": "1001m"})), ["Insufficient cpu"]),
        ("PodFitsResources", pod(requests={"x/y": "1"}), node(), ["Insufficient x/y"]),
        ("PodFitsResources", pod(requests={"x/y": "0"}), node(), []),
        ("PodFitsResources", pod(), node("n", pod(), pods="2"), []),
        ("PodFitsResources", pod(), node("n", pod(), pods="1"), ["Too many pods"]),
        ("PodFitsResources", pod(), node(pods="0"), ["Too many pods"]),
        ("PodFitsResources", pod(), node("n", PodInfo(make_pod("a")), PodInfo(make_pod("b")), pods="3"), []),
        ("PodFitsResources", pod(), node("n", PodInfo(make_pod("a")), PodInfo(make_pod("b")), pods="2"), ["Too many pods"]),
        ("HostName", pod(), node(), []), ("HostName", pod(nodeName=""), node(), []), ("HostName", pod(nodeName="n"), node(), []),
        ("HostName", pod(nodeName="m"), node(), [HOSTNAME]), ("PodFitsHostPorts", pod(ports=[80]), node(), []),
        ("PodFitsHostPorts", pod(ports=[80]), node("n", pod(ports=[81])), []),
        ("PodFitsHostPorts", pod(ports=[80]), node("n", pod(ports=[80])), [PORTS]),
        ("MatchNodeSelector", pod(), node(), []), ("MatchNodeSelector", pod(nodeSelector={"a": "b"}), node(), [SELECTOR]),
        ("MatchNodeSelector", pod(nodeSelector={"a": "b"}), node(labels={"a": "b"}), []),
        ("PodToleratesNodeTaints", pod(), node(taints=(TAINT,)), [TAINTS]),
        ("PodToleratesNodeTaints", pod(), node(taints=({**TAINT, "effect": "NoExecute"},)), [TAINTS]),
        ("PodToleratesNodeTaints", pod(), node(taints=({**TAINT, "effect": "PreferNoSchedule"},)), []),
        ("PodToleratesNodeTaints", pod(tolerations=[{"key": "k", "operator": "Exists"}]), node(taints=(TAINT,)), []),
        ("PodToleratesNodeTaints", pod(tolerations=[{"key": "k", "value": "w"}]), node(taints=(TAINT,)), [TAINTS]),
        ("CheckNodeUnschedulable", pod(), node(), []), ("CheckNodeUnschedulable", pod(), node(unschedulable=True), [CORDONED]),
        ("CheckNodeUnschedulable", pod(tolerations=[{"operator": "Exists"}]), node(unschedulable=True), []),
        (
            "CheckNodeUnschedulable", pod(tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]),
            node(unschedulable=True), [],
        ),
        (
            "CheckNodeUnschedulable",
            pod(tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoExecute"}]),
            node(unschedulable=True), [CORDONED],
        ),
        ("CheckNodeUnschedulable", pod(), NodeInfo(), []),
        (
            "GeneralPredicates", pod(requests={"cpu": "5"}, nodeName="m", nodeSelector={"a": "b"}, ports=[80]),
            node("n", pod(ports=[80])), ["Insufficient cpu", HOSTNAME, PORTS, SELECTOR],
        ),
    ],
)  # fmt: skip
def test_what_a_predicate_says(predicate: str, info: PodInfo, where: NodeInfo, reasons: list[str]) -> None:
    assert PREDICATES[predicate](info, where) == reasons


@pytest.mark.parametrize(
    ("names", "all_of_them", "reasons"),
    [
        (DEFAULT_PREDICATES, False, [CORDONED]), (DEFAULT_PREDICATES, True, [CORDONED, "Insufficient cpu", HOSTNAME, TAINTS]),
        (("HostName",), False, [CORDONED]), (("HostName",), True, [CORDONED, HOSTNAME, TAINTS]), ((), True, [CORDONED, TAINTS]),
        (("PodFitsResources", "HostName"), True, [CORDONED, HOSTNAME, "Insufficient cpu", TAINTS]),
    ],
)  # fmt: skip
def test_the_first_no_ends_it_unless_all_are_asked(
    names: tuple[str, ...], all_of_them: bool, reasons: list[str]
) -> None:
    info, bad = pod(requests={"cpu": "5"}, nodeName="m"), node(unschedulable=True, taints=(TAINT,))
    assert pod_fits_on_node(info, bad, names, always_check_all=all_of_them) == reasons
    scheduler = GenericScheduler(Policy(names, always_check_all=all_of_them))
    assert scheduler.find_nodes_that_fit(info, [bad]) == ([], {"n": reasons})


def test_which_predicates_and_priorities_there_were() -> None:
    assert list(PREDICATES) == [
        "CheckNodeUnschedulable", "GeneralPredicates", "HostName", "PodFitsHostPorts", "MatchNodeSelector",
        "PodFitsResources", "PodToleratesNodeTaints",
    ]  # fmt: skip
    assert DEFAULT_PREDICATES == ("CheckNodeUnschedulable", "GeneralPredicates", "PodToleratesNodeTaints")
    assert MANDATORY == ("PodToleratesNodeTaints", "CheckNodeUnschedulable")
    assert (
        dict.fromkeys(
            ("LeastRequestedPriority", "BalancedResourceAllocation", "NodeAffinityPriority", "TaintTolerationPriority"),
            1,
        )
        == DEFAULT_PRIORITIES
    )
    assert MAX_PRIORITY == 10
    assert set(PREDICATES) <= set(FILTERS)
    assert set(PRIORITIES) - set(SCORES) == {"EqualPriority"}
    assert {plugin for plugins in FILTERS.values() for plugin in plugins} | set(SCORES.values()) <= set(
        IN_TREE_REGISTRY
    )


HALF = {"cpu": "2", "memory": "4Gi"}


def preferring(*terms: tuple[int, str]) -> PodInfo:
    preferences = [
        {"weight": weight, "preference": {"matchExpressions": [{"key": key, "operator": "Exists"}]}}
        for weight, key in terms
    ]
    return pod(affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferences}})


@pytest.mark.parametrize(
    ("priority", "info", "nodes", "highest", "scores"),
    [
        ("LeastRequestedPriority", pod(requests=HALF), [node()], 10, [5]),
        ("LeastRequestedPriority", pod(requests={"cpu": "1", "memory": "4Gi"}), [node()], 10, [6]),
        ("LeastRequestedPriority", pod(requests={"cpu": "1", "memory": "4Gi"}), [node()], 100, [62]),
        ("LeastRequestedPriority", pod(requests={"cpu": "5", "memory": "4Gi"}), [node()], 10, [2]),
        ("LeastRequestedPriority", pod(requests=HALF), [node("n", pod(requests=HALF))], 10, [0]),
        ("LeastRequestedPriority", pod(requests=HALF), [node(cpu="0", memory="0")], 10, [0]),
        ("LeastRequestedPriority", pod(), [node(cpu="1", memory="400Mi")], 100, [70]),  # counts as 100m and 200 MB
        ("MostRequestedPriority", pod(requests=HALF), [node()], 10, [5]),
        ("MostRequestedPriority", pod(requests={"cpu": "1", "memory": "4Gi"}), [node()], 100, [37]),
        ("MostRequestedPriority", pod(requests={"cpu": "5", "memory": "4Gi"}), [node()], 10, [2]),
        ("MostRequestedPriority", pod(requests={"cpu": "4", "memory": "8Gi"}), [node()], 10, [10]),
        ("MostRequestedPriority", pod(requests=HALF), [node(cpu="0", memory="0")], 10, [0]),
        ("BalancedResourceAllocation", pod(requests=HALF), [node()], 10, [10]),
        ("BalancedResourceAllocation", pod(requests={"cpu": "1", "memory": "4Gi"}), [node()], 10, [7]),
        ("BalancedResourceAllocation", pod(requests={"cpu": "2", "memory": "2Gi"}), [node()], 100, [75]),
        ("BalancedResourceAllocation", pod(requests={"cpu": "4", "memory": "4Gi"}), [node()], 10, [0]),
        ("BalancedResourceAllocation", pod(requests={"cpu": "2", "memory": "8Gi"}), [node()], 10, [0]),
        ("BalancedResourceAllocation", pod(requests=HALF), [node(cpu="0")], 10, [0]),
        ("BalancedResourceAllocation", pod(requests=HALF), [node(memory="0")], 10, [0]),
        ("EqualPriority", pod(), [node(), node("m")], 10, [1, 1]),
    ],
)  # fmt: skip
def test_how_a_priority_rates_a_node(
    priority: str, info: PodInfo, nodes: list[NodeInfo], highest: int, scores: list[int]
) -> None:
    assert list(prioritize_nodes(info, nodes, {priority: 1}, highest).values()) == scores
    assert list(prioritize_nodes(info, nodes, {priority: 3}, highest).values()) == [3 * score for score in scores]


PREFER = {"key": "k", "effect": "PreferNoSchedule"}
OTHER = {"key": "o", "effect": "PreferNoSchedule"}


@pytest.mark.parametrize(
    ("tolerations", "scores"),
    [
        ([], [10, 5, 0, 10]), ([{"key": "k", "operator": "Exists"}], [10, 10, 0, 10]),
        ([{"key": "k", "operator": "Exists", "effect": "PreferNoSchedule"}], [10, 10, 0, 10]),
        ([{"key": "k", "operator": "Exists", "effect": ""}], [10, 10, 0, 10]),
        ([{"key": "k", "operator": "Exists", "effect": "NoSchedule"}], [10, 5, 0, 10]),
        ([{"operator": "Exists"}], [10, 10, 10, 10]),
    ],
)  # fmt: skip
def test_who_has_the_fewest_taints_that_would_rather_not(tolerations: list[Any], scores: list[int]) -> None:
    nodes = [node("a"), node("b", taints=(PREFER,)), node("c", taints=(PREFER, OTHER)), node("d", taints=(TAINT,))]
    found = prioritize_nodes(pod(tolerations=tolerations), nodes, {"TaintTolerationPriority": 1})
    assert list(found.values()) == scores


@pytest.mark.parametrize(
    ("info", "scores"),
    [
        (pod(), [0, 0, 0]), (preferring((5, "a")), [10, 0, 10]), (preferring((5, "a"), (10, "b")), [3, 6, 10]),
        (preferring((0, "a"), (10, "b")), [0, 10, 10]),
    ],
)  # fmt: skip
def test_preferences_are_measured_by_the_best(info: PodInfo, scores: list[int]) -> None:
    nodes = [node("x", labels={"a": ""}), node("y", labels={"b": ""}), node("z", labels={"a": "", "b": ""})]
    assert list(prioritize_nodes(info, nodes, {"NodeAffinityPriority": 1}).values()) == scores


def test_the_best_are_all_with_the_highest_sum_and_chance_decides_among_them() -> None:
    nodes = [node("a"), node("b"), node("c", pod(requests=HALF))]
    scheduler = GenericScheduler(Policy(), seed=1)
    assert scheduler.best(pod(requests={"cpu": "1", "memory": "1Gi"}), nodes) == ["a", "b"]
    chosen = {scheduler.schedule(pod(requests={"cpu": "1"}), nodes) for _ in range(30)}
    assert chosen == {"a", "b"}
    assert scheduler.best(pod(nodeName="c"), nodes) == ["c"]
    assert scheduler.schedule(pod(nodeName="x"), nodes) is None


V1 = {"kind": "Policy", "apiVersion": "v1"}


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({}, 'no kind "" is registered for version ""'),
        ({"kind": "Policy", "apiVersion": "v2"}, 'no kind "Policy" is registered for version "v2"'),
        ({"kind": "Other", "apiVersion": "v1"}, 'no kind "Other" is registered for version "v1"'),
        ({**V1, "predicates": [{"name": "X"}]}, 'Invalid configuration: Predicate type not found for "X"'),
        ({**V1, "priorities": [{"name": "X", "weight": 1}]}, 'Invalid configuration: Priority type not found for "X"'),
        (
            {**V1, "priorities": [{"name": "EqualPriority", "weight": -1}]},
            "Priority EqualPriority should have a positive weight applied to it or it has overflown",
        ),
    ],
)  # fmt: skip
def test_files_that_the_scheduler_died_of(document: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError) as error:
        parse_policy(json.dumps(document))
    assert str(error.value) == words


@pytest.mark.parametrize(
    ("document", "predicates", "priorities", "all_of_them"),
    [
        ({"kind": "Policy"}, DEFAULT_PREDICATES, DEFAULT_PRIORITIES, False),
        ({"kind": "Policy", "apiVersion": "kubescheduler.config.k8s.io/v1"}, DEFAULT_PREDICATES, DEFAULT_PRIORITIES, False),
        ({**V1, "alwaysCheckAllPredicates": True, "predicates": [{"name": "PodFitsPorts"}, {"name": "HostName"}]},
         ("PodFitsHostPorts", "HostName", *MANDATORY), DEFAULT_PRIORITIES, True),
        ({**V1, "predicates": [{"name": "CheckVolumeBinding"}, {"name": "CheckNodeUnschedulable"}]},
         ("CheckVolumeBinding", "CheckNodeUnschedulable", "PodToleratesNodeTaints"), DEFAULT_PRIORITIES, False),
        ({**V1, "priorities": [{"name": "EqualPriority", "weight": 2}, {"name": "ImageLocalityPriority", "weight": 1}]},
         DEFAULT_PREDICATES, {"EqualPriority": 2, "ImageLocalityPriority": 1}, False),
    ],
)  # fmt: skip
def test_what_a_file_says(
    document: dict[str, Any], predicates: tuple[str, ...], priorities: dict[str, int], all_of_them: bool
) -> None:
    assert (
        parse_policy(json.dumps(document))
        == parse_policy(document)
        == Policy(predicates, dict(priorities), all_of_them)
    )


@pytest.mark.parametrize(
    ("policy", "filters", "scores", "args"),
    [
        (Policy(), ["NodeUnschedulable", "NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity", "TaintToleration"],
         [("NodeResourcesFit", 1), ("NodeResourcesBalancedAllocation", 1), ("NodeAffinity", 1), ("TaintToleration", 1)], {}),
        (Policy(("EvenPodsSpread", "MatchInterPodAffinity", "CheckVolumeBinding"),
                {"SelectorSpreadPriority": 2, "EvenPodsSpreadPriority": 3, "EqualPriority": 9, "InterPodAffinityPriority": 1}),
         ["PodTopologySpread", "InterPodAffinity", "VolumeBinding"], [("PodTopologySpread", 5), ("InterPodAffinity", 1)], {}),
        (Policy((), {"MostRequestedPriority": 4, "ImageLocalityPriority": 1}), [], [("NodeResourcesFit", 4), ("ImageLocality", 1)],
         {"NodeResourcesFit": {"scoringStrategy": {"type": "MostAllocated"}}}),
    ],
)  # fmt: skip
def test_the_profile_that_a_policy_comes_to(
    policy: Policy, filters: list[str], scores: list[tuple[str, int]], args: dict[str, Any]
) -> None:
    profile = plugins_of(policy, "old")
    assert profile.scheduler_name == "old"
    assert [name for name, _ in profile.at("filter")] == filters
    assert list(profile.at("score")) == scores
    assert profile.args == args
    assert plugins_of(policy).scheduler_name == "default-scheduler"
