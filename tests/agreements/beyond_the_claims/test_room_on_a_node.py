"""Room on a node: what can never be there, what a change of the node brings, and which taints weigh."""

from __future__ import annotations

import pytest

from lifecycle.agreements.claim_checks.scheduler import node, pod
from lifecycle.api.http.wire import Object
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.plugins.node_resources_fit import NodeResourcesFit, insufficient_resources
from lifecycle.scheduler.framework.plugins.taint_toleration import TaintToleration
from lifecycle.scheduler.framework.types import ClusterEvent

GROWN = ClusterEvent("Node", "UpdateNodeAllocatable")


def _full(cpu: str, taken: str) -> NodeInfo:
    info = NodeInfo(node("n", cpu))
    if taken != "0":
        info.add_pod(PodInfo(pod("other", taken, nodeName="n")))
    return info


@pytest.mark.parametrize(
    ("wanted", "cpu", "taken", "reasons"),
    [
        ("4", "4", "0", []),  # as large as the node
        ("4", "4", "1", [("Insufficient cpu", False)]),  # it would fit if the node were empty
        ("5", "4", "0", [("Insufficient cpu", True)]),
        ("5", "4", "4", [("Insufficient cpu", True)]),
        ("3", "4", "1", []),
        ("3500m", "4", "1", [("Insufficient cpu", False)]),
        ("", "4", "4", []),  # who asks for nothing finds it on a full node
        ("0", "2", "4", []),
    ],
)
def test_only_what_the_empty_node_could_not_hold_is_hopeless(
    wanted: str, cpu: str, taken: str, reasons: list[tuple[str, bool]]
) -> None:
    assert insufficient_resources(PodInfo(pod("p", wanted)), _full(cpu, taken)) == reasons


@pytest.mark.parametrize(
    ("old", "new", "helped"),
    [
        (None, node("n", "4"), True),  # a new one with enough room
        (None, node("n", "1"), False),
        (node("n", "1"), node("n", "4"), True),
        (node("n", "1"), node("n", "1500m"), False),  # more, and still too little
        (node("n", "4"), node("n", "4"), False),  # it had that before
        (node("n", "8"), node("n", "4"), False),  # less
    ],
)
def test_a_node_that_changes_helps_if_it_has_more_of_what_was_asked_for(
    old: Object | None, new: Object, helped: bool
) -> None:
    hint = NodeResourcesFit().events_to_register()[GROWN]
    assert hint(PodInfo(pod("p", "2")), old, new) is helped


def test_more_of_what_was_not_asked_for_does_not_help() -> None:
    hint = NodeResourcesFit().events_to_register()[GROWN]
    more = node("n", "4")
    more["status"]["allocatable"]["memory"] = "64Gi"
    assert not hint(PodInfo(pod("p", "2")), node("n", "4"), more)
    more["status"]["allocatable"]["pods"] = "200"
    assert hint(PodInfo(pod("p", "2")), node("n", "4"), more)  # each asks for a place


SOFT, HARD, OUT = "PreferNoSchedule", "NoSchedule", "NoExecute"


@pytest.mark.parametrize(
    ("taints", "tolerated", "score"),
    [
        ([SOFT], [], 1),
        ([SOFT, SOFT], [], 2),
        ([SOFT], [SOFT], 0),
        ([SOFT], [""], 0),  # of every effect
        ([SOFT], [OUT], 1),  # of another
        ([OUT], [OUT], 0),  # hard ones are no matter of taste
        ([HARD], [HARD], 0),
        ([OUT, SOFT], [OUT], 1),
        ([HARD, OUT], [], 0),
    ],
)
def test_only_soft_taints_make_a_node_less_welcome(taints: list[str], tolerated: list[str], score: int) -> None:
    tainted = node("n", taints=tuple({"key": "k", "value": "v", "effect": effect} for effect in taints))
    tolerations = [{"key": "k", "operator": "Exists", **({"effect": effect} if effect else {})} for effect in tolerated]
    info = PodInfo(pod("p", tolerations=tolerations))
    assert TaintToleration().score(CycleState(), info, NodeInfo(tainted)) == score


@pytest.mark.parametrize(
    ("there", "may", "reasons"), [(0, 1, []), (1, 2, []), (1, 1, ["Too many pods"]), (2, 1, ["Too many pods"])]
)
def test_a_node_takes_as_many_pods_as_it_says_and_says_what_else_is_missing(
    there: int, may: int, reasons: list[str]
) -> None:
    full = node("n", "2")
    full["status"]["allocatable"] = {**full["status"]["allocatable"], "pods": str(may)}
    info = NodeInfo(full)
    for number in range(there):
        info.add_pod(PodInfo(pod(f"p{number}", "0", nodeName="n")))
    assert insufficient_resources(PodInfo(pod("p", "1")), info) == [(reason, False) for reason in reasons]
    both = insufficient_resources(PodInfo(pod("p", "3")), info)
    assert both == [*((reason, False) for reason in reasons), ("Insufficient cpu", True)]


@pytest.mark.parametrize("event", [GROWN, ClusterEvent("Node", "Add")])
def test_of_whom_nothing_is_told_it_may_help(event: ClusterEvent) -> None:
    """Whoever moves pods back without saying why. Upstream: `isSchedulableAfterNodeChange` queues what it cannot read."""
    assert NodeResourcesFit().events_to_register()[event](PodInfo(pod("p", "2")), None, None) is True
