"""What plugins note about a pod keeps up with pods that are added and taken away in thought, and a copy of it stays apart."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.plugins.default_binder import DefaultBinder
from lifecycle.scheduler.framework.plugins.dynamic_resources import DynamicResources
from lifecycle.scheduler.framework.plugins.inter_pod_affinity import InterPodAffinity
from lifecycle.scheduler.framework.plugins.node_ports import NodePorts
from lifecycle.scheduler.framework.plugins.node_resources_fit import (
    NodeResourcesFit,
    least_requested_score,
    most_requested_score,
    requested_to_capacity_ratio,
)
from lifecycle.scheduler.framework.plugins.pod_topology_spread.plugin import PodTopologySpread
from lifecycle.scheduler.framework.plugins.taint_toleration import TaintToleration
from lifecycle.scheduler.framework.plugins.volume_restrictions import VolumeRestrictions
from lifecycle.scheduler.framework.plugins.volume_zone import VolumeZone
from lifecycle.scheduler.framework.status import SKIP, Code, unresolvable, unschedulable
from lifecycle.scheduler.framework.types import ClusterEvent
from tests.scheduler.cluster_model import make_node, make_pod, snapshot_of
from tests.scheduler.framework.plugins.test_volumes import Stored, claim, storage_class, volume

ZONE = "topology.kubernetes.io/zone"


def term(app: str, key: str = ZONE) -> Object:
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}


def required(near: list[str] | None = None, far: list[str] | None = None) -> Object:
    rule = "requiredDuringSchedulingIgnoredDuringExecution"
    return {
        "podAffinity": {rule: [term(a) for a in near or ()]},
        "podAntiAffinity": {rule: [term(a) for a in far or ()]},
    }


def in_zone(name: str, zone: str) -> Object:
    return make_node(name, labels={ZONE: zone})


def placed(name: str, node: str = "a", app: str = "", **spec: Any) -> Object:
    return make_pod(name, labels={"app": app or name}, nodeName=node, **spec)


NEAR = "node(s) didn't match pod affinity rules"
FAR = "node(s) didn't match pod anti-affinity rules"
EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"


def test_company_that_comes_and_goes_in_thought() -> None:
    """Upstream: `AddPod` and `RemovePod` of `interpodaffinity/filtering.go`."""
    plugin = InterPodAffinity()
    friend, foe, shy = placed("friend"), placed("foe"), placed("shy", affinity=required(far=["me"]))
    info = PodInfo(make_pod("p", labels={"app": "me"}, affinity=required(["friend"], ["foe"])))
    snapshot = snapshot_of([in_zone("a", "1"), in_zone("b", "2")], [friend])
    here, there = (snapshot.get(name) for name in "ab")
    assert here is not None
    assert there is not None
    state = CycleState()
    assert plugin.pre_filter(state, info, snapshot)[1] is None

    def answers(state: CycleState) -> list[str]:
        return [status.message if (status := plugin.filter(state, info, node)) else "" for node in (here, there)]

    assert answers(state) == ["", NEAR]
    what_if = state.clone()
    plugin.add_pod(what_if, info, PodInfo(foe), here)
    assert answers(what_if) == [FAR, NEAR]
    plugin.add_pod(what_if, info, PodInfo(foe), here)
    plugin.remove_pod(what_if, info, PodInfo(foe), here)
    assert answers(what_if) == [FAR, NEAR], "there were two"
    plugin.remove_pod(what_if, info, PodInfo(foe), here)
    assert answers(what_if) == ["", NEAR]
    plugin.add_pod(what_if, info, PodInfo(shy), here)
    assert answers(what_if) == [EXISTING, NEAR]
    plugin.remove_pod(what_if, info, PodInfo(shy), here)
    plugin.remove_pod(what_if, info, PodInfo(friend), here)
    assert answers(what_if) == [NEAR, NEAR]
    plugin.add_pod(what_if, info, PodInfo(friend), there)
    assert answers(what_if) == [NEAR, ""]
    assert answers(state) == ["", NEAR], "the first has heard of nothing"


def test_only_a_missing_friend_is_hopeless() -> None:
    plugin, node = InterPodAffinity(), in_zone("a", "1")
    for affinity, others, expected in (
        (required(["friend"]), [], unresolvable("InterPodAffinity", NEAR)),
        (required(far=["foe"]), [placed("foe")], unschedulable("InterPodAffinity", FAR)),
        ({}, [placed("shy", affinity=required(far=["me"]))], unschedulable("InterPodAffinity", EXISTING)),
    ):
        snapshot = snapshot_of([node], others)
        info, state = PodInfo(make_pod("p", labels={"app": "me"}, affinity=affinity)), CycleState()
        assert plugin.pre_filter(state, info, snapshot)[1] is None
        assert plugin.filter(state, info, snapshot.node_info_list[0]) == expected


def test_events_without_the_object_they_need_wake_nobody() -> None:
    info = PodInfo(make_pod("p", labels={"app": "me"}, affinity=required(["friend"], ["foe"])))
    hints = InterPodAffinity().events_to_register()
    assert not hints[ClusterEvent("AssignedPod", "Add")](info, placed("friend"), None)
    assert not hints[ClusterEvent("AssignedPod", "UpdatePodLabel")](info, None, placed("friend"))
    assert not hints[ClusterEvent("AssignedPod", "UpdatePodLabel")](info, placed("foe"), None)
    assert not hints[ClusterEvent("AssignedPod", "Delete")](info, None, placed("foe"))
    shy = PodInfo(make_pod("p", labels={"app": "me"}))
    assert hints[ClusterEvent("AssignedPod", "Delete")](shy, placed("q", affinity=required(far=["me"])), None)
    assert not hints[ClusterEvent("AssignedPod", "Delete")](shy, placed("q", affinity=required(far=["you"])), None)
    assert hints[ClusterEvent("Node", "Add")](shy, None, make_node("n")), "others' terms may speak of it"
    spread = PodTopologySpread().events_to_register()[ClusterEvent("AssignedPod", "Add")]
    assert not spread(info, None, None)


RWOP: Object = {"accessModes": ["ReadWriteOncePod"]}
USES_C: Any = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}


def test_a_claim_for_one_pod_is_free_once_the_other_is_thought_away() -> None:
    """Upstream: `AddPod` and `RemovePod` of `volume_restrictions.go`."""
    plugin = VolumeRestrictions(Stored(claim("c", "v", **RWOP), volume("v")).listers)
    node = make_node("n")
    info, state = PodInfo(make_pod("p", **USES_C)), CycleState()
    first, stranger = (PodInfo({**make_pod("first", nodeName="n", **USES_C)}) for _ in range(2))
    stranger.pod = {**stranger.pod, "metadata": {**stranger.pod["metadata"], "namespace": "other"}}
    snapshot = snapshot_of([node], [first.pod])
    assert plugin.pre_filter(state, info, snapshot) == (None, None)
    [here] = snapshot.node_info_list
    reason = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
    refusal = unschedulable("VolumeRestrictions", reason)
    what_if = state.clone()
    plugin.remove_pod(what_if, info, first, here)
    assert plugin.filter(what_if, info, here) is None
    assert plugin.filter(state, info, here) == refusal
    plugin.add_pod(what_if, info, stranger, here)
    assert plugin.filter(what_if, info, here) is None, "another namespace's claim"
    plugin.add_pod(what_if, info, first, here)
    assert plugin.filter(what_if, info, here) == refusal
    assert plugin.pre_filter(CycleState(), info, snapshot_of([node])) == (None, SKIP)


def test_a_claim_that_is_missing_is_named() -> None:
    info, snapshot = PodInfo(make_pod("p", **USES_C)), snapshot_of([make_node("n")])
    for plugin in (VolumeRestrictions(Stored().listers), VolumeZone(Stored().listers)):
        expected = unresolvable(plugin.name, 'persistentvolumeclaim "c" not found')
        assert plugin.pre_filter(CycleState(), info, snapshot) == (None, expected)


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        ([claim("c", storage_class="")], "PersistentVolumeClaim had no pv name and storageClass name"),
        ([claim("c", storage_class="unheard")], 'storageclass.storage.k8s.io "unheard" not found'),
        ([claim("c", storage_class="now")], "PersistentVolume had no name"),
        ([claim("c", storage_class="wait")], ""), ([claim("c", "v")], 'persistentvolume "v" not found'),
        ([claim("c", "v"), volume("v")], ""),
    ],
)  # fmt: skip
def test_the_zone_of_a_claim_without_a_volume(stored: list[Object], reason: str) -> None:
    plugin = VolumeZone(Stored(*stored, classes={"now": storage_class("now", "Immediate")}).listers)
    answer = plugin.pre_filter(CycleState(), PodInfo(make_pod("p", **USES_C)), snapshot_of([make_node("n")]))
    assert answer == (None, unresolvable("VolumeZone", reason) if reason else SKIP)


REGION, BETA = "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/"


@pytest.mark.parametrize(
    ("of_volume", "of_node", "fits"),
    [
        ({ZONE: "a"}, {ZONE: "a"}, True), ({ZONE: "a"}, {ZONE: "b"}, False), ({ZONE: "a"}, {}, True), ({ZONE: "a__b"}, {ZONE: "b"}, True),
        ({REGION: "r"}, {REGION: "r"}, True), ({REGION: "r"}, {REGION: "s"}, False), ({REGION: "r"}, {ZONE: "a"}, False),
        ({BETA + "zone": "a"}, {ZONE: "a"}, True), ({BETA + "zone": "a"}, {ZONE: "b"}, False),
        ({BETA + "region": "r"}, {REGION: "r"}, True), ({BETA + "region": "r"}, {REGION: "s"}, False),
        ({BETA + "zone": "a"}, {BETA + "zone": "a"}, True), ({BETA + "region": "r"}, {BETA + "region": "r", REGION: "s"}, True),
        ({ZONE: "a", REGION: "r"}, {ZONE: "a", REGION: "s"}, False), ({ZONE: ""}, {ZONE: "b"}, True),
    ],
)  # fmt: skip
def test_a_volume_is_used_in_its_zone_and_region(
    of_volume: dict[str, str], of_node: dict[str, str], fits: bool
) -> None:
    plugin = VolumeZone(Stored(claim("c", "v"), volume("v", labels=of_volume)).listers)
    info, state, node = PodInfo(make_pod("p", **USES_C)), CycleState(), NodeInfo(make_node("n", labels=of_node))
    _, status = plugin.pre_filter(state, info, snapshot_of([make_node("n")]))
    refused = None if status is SKIP else plugin.filter(state, info, node)
    assert refused == (None if fits else unresolvable("VolumeZone", "node(s) had no available volume zone"))


def with_port(name: str, number: int, **spec: Any) -> Object:
    pod = make_pod(name, **spec)
    pod["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": number}]
    return pod


def test_a_host_port_is_used_until_the_last_pod_with_it_is_gone() -> None:
    plugin, state, info = NodePorts(), CycleState(), PodInfo(with_port("p", 80))
    assert plugin.pre_filter(state, info, snapshot_of([])) == (None, None)
    assert plugin.pre_filter(CycleState(), PodInfo(make_pod("q")), snapshot_of([])) == (None, SKIP)
    node = NodeInfo(make_node("n"))
    assert plugin.filter(state, info, node) is None
    for name in ("one", "two"):
        node.add_pod(PodInfo(with_port(name, 80, nodeName="n")))
    taken = unschedulable("NodePorts", "node(s) didn't have free ports for the requested pod ports")
    assert plugin.filter(state, info, node) == taken
    copy = node.clone()
    for name, free in (("one", False), ("two", True)):
        copy.remove_pod(f"default/{name}")
        assert plugin.filter(state, info, copy) == (None if free else taken)
    assert (copy.used_ports, node.used_ports) == ({}, {("0.0.0.0", "TCP", 80): 2})


HARD, SOFT, NOW = (
    {"key": "k", "value": v, "effect": e}
    for v, e in (("v", "NoSchedule"), ("s", "PreferNoSchedule"), ("n", "NoExecute"))
)


@pytest.mark.parametrize(
    ("taints", "tolerations", "refused", "score"),
    [
        ([], [], False, 0), ([HARD], [], True, 0), ([NOW], [], True, 0), ([SOFT], [], False, 1),
        ([SOFT, {**SOFT, "key": "l"}], [], False, 2),
        ([HARD, SOFT], [{"key": "k", "operator": "Exists"}], False, 0),
        ([HARD], [{"key": "k", "value": "v", "effect": "NoSchedule"}], False, 0),
        ([SOFT], [{"key": "k", "value": "s", "effect": "PreferNoSchedule"}], False, 0),
        ([SOFT], [{"key": "k", "value": "s", "effect": ""}], False, 0),
        ([SOFT], [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}], False, 1),  # about hard taints only
        ([SOFT], [{"key": "l", "operator": "Exists"}], False, 1),
        ([NOW], [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}], True, 0),
    ],
)  # fmt: skip
def test_hard_taints_refuse_and_soft_ones_count(
    taints: list[Object], tolerations: list[Object], refused: bool, score: int
) -> None:
    plugin, info = TaintToleration(), PodInfo(make_pod("p", tolerations=tolerations))
    node = NodeInfo(make_node("n", taints=tuple(taints)))
    expected = unresolvable("TaintToleration", "node(s) had untolerated taint(s)") if refused else None
    assert plugin.filter(CycleState(), info, node) == expected
    assert plugin.score(CycleState(), info, node) == score
    assert plugin.normalize_score(CycleState(), [2, 1, 0]) == [0, 50, 100]


@pytest.mark.parametrize(
    ("requested", "capacity", "least", "most"),
    [(0, 0, 0, 0), (1, 0, 0, 0), (0, 10, 100, 0), (3, 10, 70, 30), (10, 10, 0, 100), (11, 10, 0, 100), (1, 3, 66, 33)],
)
def test_how_full_a_node_is(requested: int, capacity: int, least: int, most: int) -> None:
    assert least_requested_score(requested, capacity) == least
    assert most_requested_score(requested, capacity) == most


@pytest.mark.parametrize(
    ("requested", "capacity", "score"),
    [(0, 10, 20), (1, 10, 20), (2, 10, 20), (5, 10, 60), (8, 10, 100), (9, 10, 100), (10, 10, 100), (11, 10, 100), (3, 0, 100),
    (4, 10, 46)],
)  # fmt: skip
def test_a_line_has_its_first_value_before_it_begins_and_its_last_after_it_ends(
    requested: int, capacity: int, score: int
) -> None:
    shape = [{"utilization": 20, "score": 2}, {"utilization": 80, "score": 10}]
    assert requested_to_capacity_ratio(shape)(requested, capacity) == score


def test_a_node_without_any_of_the_weighed_resources_scores_nothing() -> None:
    node = NodeInfo({"metadata": {"name": "n"}})
    info = PodInfo(make_pod("p", requests={"cpu": "1"}))
    assert NodeResourcesFit().score(CycleState(), info, node) == 0
    assert NodeResourcesFit(weights={"cpu": 0}).score(CycleState(), info, NodeInfo(make_node("n"))) == 0
    more: Any = {"ephemeral-storage": "10Gi"}
    storage = NodeInfo(make_node("n", **more))
    assert NodeResourcesFit(weights={"ephemeral-storage": 1}).score(CycleState(), info, storage) == 100
    hints = NodeResourcesFit().events_to_register()
    assert hints[ClusterEvent("Node", "UpdateNodeAllocatable")](info, make_node("n"), None)
    unplaced = make_pod("q", requests={"cpu": "1"})
    less = hints[ClusterEvent("AssignedPod", "UpdatePodScaleDown")]
    assert not less(info, make_pod("q", requests={"cpu": "2"}), unplaced)
    assert not less(info, None, placed("q"))


def test_a_binder_without_a_cluster_leaves_it_to_others() -> None:
    assert asyncio.run(DefaultBinder().bind(CycleState(), make_pod("p"), "n")) is SKIP


def test_devices_that_can_be_used_from_anywhere_hold_nobody() -> None:
    allocated = {
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {},
        "status": {"allocation": {"devices": {}}},
    }
    plugin = DynamicResources(lambda key: allocated if key == "default/c" else None, lambda name: None)
    info = PodInfo(make_pod("p", resourceClaims=[{"name": "d", "resourceClaimName": "c"}]))
    state, node = CycleState(), NodeInfo(make_node("n"))
    assert plugin.pre_filter(state, info, snapshot_of([])) == (None, None)
    assert plugin.filter(state, info, node) is None
    gone = PodInfo(make_pod("p", resourceClaims=[{"name": "d", "resourceClaimName": "x"}]))
    refusal = unresolvable("DynamicResources", 'resourceclaim.resource.k8s.io "x" not found')
    assert plugin.pre_filter(CycleState(), gone, snapshot_of([])) == (None, refusal)
    _, status = asyncio.run(plugin.post_filter(CycleState(), info, snapshot_of([]), {}))
    assert status is not None
    assert (status.code, status.message, status.plugin) == (Code.ERROR, "not found", "DynamicResources")
