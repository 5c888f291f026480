"""The filters that need nothing but the node: is it the one that was named, and may it be used at all."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import FilterPlugin
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.plugins.node_name import NodeName
from lifecycle.scheduler.framework.plugins.node_resources_fit import insufficient_resources
from lifecycle.scheduler.framework.plugins.node_unschedulable import NodeUnschedulable
from lifecycle.scheduler.framework.status import unresolvable
from lifecycle.scheduler.framework.types import ClusterEvent
from tests.scheduler.cluster_model import make_node, make_pod

CORDONED = {"unschedulable": True}


def refusal(plugin: FilterPlugin, pod: Object, node: Object) -> Any:
    return plugin.filter(CycleState(), PodInfo(pod), NodeInfo(node))


def pod_with(**spec: Any) -> Object:
    pod = make_pod("p")
    return {**pod, "spec": {**pod["spec"], **spec}}


def node_with(**spec: Any) -> Object:
    return {**make_node("a"), "spec": spec}


@pytest.mark.parametrize(("name", "allowed"), [("a", True), ("", True), (None, True), ("b", False)])
def test_a_pod_that_names_its_node_runs_there_or_nowhere(name: str | None, allowed: bool) -> None:
    refused = unresolvable("NodeName", "node(s) didn't match the requested node name")
    assert refusal(NodeName(), pod_with(nodeName=name), make_node("a")) == (None if allowed else refused)
    assert refusal(NodeName(), make_pod("p"), make_node("a")) is None


@pytest.mark.parametrize(
    ("toleration", "allowed"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}, True),
        ({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}, True),
        ({"key": "node.kubernetes.io/unschedulable", "effect": "NoExecute"}, False),
        ({"key": "node.kubernetes.io/unschedulable", "value": "x"}, False),
        ({"key": "other", "operator": "Exists"}, False),
    ],
)
def test_a_cordoned_node_is_for_pods_that_tolerate_its_mark(toleration: Object, allowed: bool) -> None:
    refused = unresolvable("NodeUnschedulable", "node(s) were unschedulable")
    plugin = NodeUnschedulable()
    got = refusal(plugin, pod_with(tolerations=[{"key": "x", "operator": "Exists"}, toleration]), node_with(**CORDONED))
    assert got == (None if allowed else refused)
    assert refusal(plugin, make_pod("p"), node_with(**CORDONED)) == refused
    for spec in ({}, {"unschedulable": False}):
        assert refusal(plugin, make_pod("p"), node_with(**spec)) is None


def test_what_may_end_the_refusals() -> None:
    name, cordon = NodeName().events_to_register(), NodeUnschedulable().events_to_register()
    assert set(name) == {ClusterEvent("Node", "Add")}
    taint, add = ClusterEvent("Node", "UpdateNodeTaint"), ClusterEvent("Node", "Add")
    assert set(cordon) == {add, taint, ClusterEvent("Pod", "UpdatePodToleration")}
    info = PodInfo(make_pod("p"))
    usable, marked = node_with(), node_with(**CORDONED)
    for hint in (cordon[add], cordon[taint]):
        assert [bool(hint(info, old, new)) for old, new in ((None, usable), (None, marked))] == [True, False]
        assert bool(hint(info, marked, usable))
        assert not hint(info, usable, usable)
        assert not hint(info, usable, marked)


def test_only_what_the_empty_node_lacks_as_well_is_hopeless() -> None:
    """Where pods may be sent away, those that are too many and what they use come back; what was never there does not."""
    full = NodeInfo(make_node("n", pods="1", cpu="2"))
    full.add_pod(PodInfo(make_pod("there", requests={"cpu": "1"})))
    pod = PodInfo(make_pod("p", requests={"cpu": "2"}))
    assert insufficient_resources(pod, full) == [("Too many pods", False), ("Insufficient cpu", False)]
    large = PodInfo(make_pod("p", requests={"cpu": "3"}))
    assert insufficient_resources(large, full) == [("Too many pods", False), ("Insufficient cpu", True)]


def test_who_asks_for_nothing_of_a_resource_fits_where_more_of_it_is_used_than_there_is() -> None:
    """A pod that was put there by hand, or a node that shrank, is no reason to refuse those that want something else."""
    over = NodeInfo(make_node("n", cpu="1", memory="1Gi", **{"example.com/gpu": "1"}))
    over.add_pod(PodInfo(make_pod("there", requests={"cpu": "2", "memory": "2Gi", "example.com/gpu": "2"})))
    for wanted in ({"ephemeral-storage": "0"}, {"cpu": "0", "memory": "0", "example.com/gpu": "0"}):
        assert insufficient_resources(PodInfo(make_pod("p", requests=wanted)), over) == []
    assert insufficient_resources(PodInfo(make_pod("p", requests={"memory": "1"})), over) == [
        ("Insufficient memory", False)
    ]
