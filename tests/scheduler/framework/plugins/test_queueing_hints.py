"""Which changes wake a pod, plugin by plugin: the cases are upstream's tests of each plugin's queueing hints."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import Selector, selector_from_labels
from lifecycle.scheduler.config import Profile
from lifecycle.scheduler.framework.events import node_events, pod_events
from lifecycle.scheduler.framework.listers import Listers
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.runtime.framework import Framework
from lifecycle.scheduler.framework.runtime.options import Options
from lifecycle.scheduler.framework.types import ClusterEvent
from lifecycle.scheduler.profile import default_framework, new_framework
from tests.scheduler.cluster_model import make_node, make_pod

FRAMEWORK = default_framework()


def wakes(
    plugin: str,
    event: str,
    pod: Object,
    old: Object | None,
    new: Object | None,
    framework: Framework = FRAMEWORK,
) -> bool:
    hint = framework.hints[plugin].get(ClusterEvent(*event.split("/")))
    return hint is not None and hint(PodInfo(pod), old, new)


def node(name: str = "n", *, unschedulable: bool = False, labels: dict[str, str] | None = None, **more: Any) -> Object:
    made = make_node(name, labels=labels, **more)
    if unschedulable:
        made["spec"]["unschedulable"] = True
    return made


HARD = {"key": "k", "value": "v", "effect": "NoSchedule"}
SOFT = {"key": "k", "value": "v", "effect": "PreferNoSchedule"}
FREE, TAINTED, LESS = node(), node(taints=(HARD,)), node(taints=(SOFT,))


@pytest.mark.parametrize(
    ("event", "old", "new", "tolerations", "expected"),
    [
        ("Node/Add", None, FREE, [], True),
        ("Node/Add", None, TAINTED, [], False),
        ("Node/Add", None, TAINTED, [{"key": "k", "operator": "Exists"}], True),
        ("Node/UpdateNodeTaint", TAINTED, FREE, [], True),
        ("Node/UpdateNodeTaint", TAINTED, LESS, [], True),
        ("Node/UpdateNodeTaint", FREE, TAINTED, [], False),
        ("Node/UpdateNodeTaint", TAINTED, node(taints=(HARD, SOFT)), [], False),
        ("Node/UpdateNodeTaint", LESS, FREE, [], False),  # it did not repel before
        ("Node/UpdateNodeLabel", TAINTED, FREE, [], False),
    ],
)
def test_taint_toleration(
    event: str, old: Object | None, new: Object, tolerations: list[Object], expected: bool
) -> None:
    assert wakes("TaintToleration", event, make_pod("p", tolerations=tolerations), old, new) is expected


@pytest.mark.parametrize("plugin", ["TaintToleration", "NodeUnschedulable"])
def test_a_new_toleration_wakes_the_pod_that_got_it(plugin: str) -> None:
    before, after = make_pod("p"), make_pod("p", tolerations=[{"operator": "Exists"}])
    assert wakes(plugin, "Pod/UpdatePodToleration", before, before, after)
    assert not wakes(plugin, "Pod/UpdatePodToleration", make_pod("q"), before, after)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, node(), True),
        (None, node(unschedulable=True), False),
        (node(unschedulable=True), node(), True),
        (node(), node(), False),
        (node(), node(unschedulable=True), False),
    ],
)
def test_node_unschedulable(old: Object | None, new: Object, expected: bool) -> None:
    event = "Node/UpdateNodeTaint" if old else "Node/Add"
    assert wakes("NodeUnschedulable", event, make_pod("p"), old, new) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, node(labels={"disk": "ssd"}), True),
        (None, node(labels={"disk": "tape"}), False),
        (node(), node(labels={"disk": "ssd"}), True),
        (node(labels={"disk": "ssd"}), node(), False),
        (node(labels={"disk": "ssd"}), node(labels={"disk": "ssd", "more": "x"}), False),  # matched before
        (node(), node(labels={"more": "x"}), False),
    ],
)
def test_node_affinity(old: Object | None, new: Object, expected: bool) -> None:
    pod = make_pod("p", nodeSelector={"disk": "ssd"})
    assert wakes("NodeAffinity", "Node/UpdateNodeLabel" if old else "Node/Add", pod, old, new) is expected


@pytest.mark.parametrize(
    ("old", "new", "requests", "expected"),
    [
        (None, node(cpu="2"), {"cpu": "2"}, True),
        (None, node(cpu="1"), {"cpu": "2"}, False),
        (None, node(cpu="2", pods="0"), {"cpu": "2"}, False),
        (node(cpu="1"), node(cpu="2"), {"cpu": "2"}, True),
        (node(cpu="2"), node(cpu="2", memory="9Gi"), {"cpu": "2"}, False),  # what it asks for did not grow
        (node(cpu="4"), node(cpu="3"), {"cpu": "2"}, False),
        (node(cpu="4", pods="1"), node(cpu="4", pods="2"), {"cpu": "2"}, True),
        (node(), node(**{"example.com/gpu": "1"}), {"example.com/gpu": "1"}, True),
        (node(), node(**{"example.com/tpu": "1"}), {"example.com/gpu": "1"}, False),
    ],
)
def test_node_resources_fit_after_a_node(
    old: Object | None, new: Object, requests: dict[str, str], expected: bool
) -> None:
    event = "Node/UpdateNodeAllocatable" if old else "Node/Add"
    assert wakes("NodeResourcesFit", event, make_pod("p", requests=requests), old, new) is expected


def placed(name: str, nominated: str = "", node_name: str = "n", **spec: Any) -> Object:
    pod = make_pod(name, **spec)
    if node_name:
        pod["spec"]["nodeName"] = node_name
    if nominated:
        pod["status"] = {"nominatedNodeName": nominated}
    return pod


def test_node_resources_fit_after_a_pod() -> None:
    waiting = make_pod("p", requests={"cpu": "1"})
    gone = "AssignedPod/Delete"
    assert wakes("NodeResourcesFit", gone, waiting, placed("q"), None)
    assert wakes("NodeResourcesFit", gone, waiting, placed("q", nominated="n", node_name=""), None)
    assert not wakes("NodeResourcesFit", gone, waiting, placed("q", node_name=""), None)
    less = "AssignedPod/UpdatePodScaleDown"
    big, small = (placed("q", requests={"cpu": cpu}) for cpu in ("2", "1"))
    assert wakes("NodeResourcesFit", less, waiting, big, small)
    assert not wakes("NodeResourcesFit", less, waiting, small, big)
    memory = make_pod("p", requests={"memory": "1Gi"})
    assert not wakes("NodeResourcesFit", less, memory, big, small)
    assert wakes("NodeResourcesFit", "Pod/UpdatePodScaleDown", waiting, make_pod("p"), make_pod("p"))


def near(*labels: str, anti: bool = False) -> Object:
    terms = [
        {"topologyKey": "zone", "labelSelector": {"matchExpressions": [{"key": label, "operator": "Exists"}]}}
        for label in labels
    ]
    return {"podAntiAffinity" if anti else "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


FRIEND, FOE = near("a", "b"), near("a", anti=True)
BOTH, ONE, NONE = (placed("q", labels=labels) for labels in ({"a": "1", "b": "1"}, {"a": "1"}, {}))


@pytest.mark.parametrize(
    ("affinity", "event", "old", "new", "expected"),
    [
        (FRIEND, "Add", None, BOTH, True),
        (FRIEND, "Add", None, ONE, False),  # one pod must satisfy all terms
        (FRIEND, "UpdatePodLabel", ONE, BOTH, True),
        (FRIEND, "UpdatePodLabel", BOTH, ONE, False),
        (FRIEND, "Delete", BOTH, None, False),
        (FOE, "Delete", ONE, None, True),
        (FOE, "Delete", NONE, None, False),
        (FOE, "UpdatePodLabel", ONE, NONE, True),
        (FOE, "UpdatePodLabel", NONE, ONE, False),
        (FOE, "Add", None, ONE, False),
    ],
)
def test_inter_pod_affinity_after_a_pod(
    affinity: Object, event: str, old: Object | None, new: Object | None, expected: bool
) -> None:
    pod = make_pod("p", affinity=affinity)
    assert wakes("InterPodAffinity", f"AssignedPod/{event}", pod, old, new) is expected


@pytest.mark.parametrize(
    ("affinity", "old", "new", "expected"),
    [
        (FRIEND, None, {"zone": "1"}, True),
        (FRIEND, None, {}, False),
        (FRIEND, {}, {"zone": "1"}, True),
        (FRIEND, {"zone": "1"}, {"zone": "2"}, True),
        (FRIEND, {"zone": "1"}, {"zone": "1", "more": "x"}, False),
        (FRIEND, {"zone": "1"}, {}, False),
        (FOE, None, {}, True),
        (FOE, {"zone": "1"}, {}, True),
        (FOE, {"zone": "1"}, {"zone": "2"}, True),
        (FOE, {}, {"zone": "1"}, False),
    ],
)
def test_inter_pod_affinity_after_a_node(
    affinity: Object, old: dict[str, str] | None, new: dict[str, str], expected: bool
) -> None:
    event = "Node/Add" if old is None else "Node/UpdateNodeLabel"
    before = None if old is None else node(labels=old)
    pod = make_pod("p", affinity=affinity)
    assert wakes("InterPodAffinity", event, pod, before, node(labels=new)) is expected


def spread(**more: Any) -> Object:
    constraint = {
        "topologyKey": "zone",
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        **more,
    }
    return make_pod("p", labels={"app": "web"}, topologySpreadConstraints=[constraint])


WEB, DB = placed("q", labels={"app": "web"}), placed("q", labels={"app": "db"})


@pytest.mark.parametrize(
    ("event", "old", "new", "expected"),
    [
        ("AssignedPod/Add", None, WEB, True),
        ("AssignedPod/Add", None, DB, False),
        ("AssignedPod/Delete", WEB, None, True),
        ("AssignedPod/Delete", DB, None, False),
        ("AssignedPod/UpdatePodLabel", DB, WEB, True),
        ("AssignedPod/UpdatePodLabel", WEB, DB, True),
        ("AssignedPod/UpdatePodLabel", WEB, placed("q", labels={"app": "web", "more": "x"}), False),
        ("Node/Add", None, node(labels={"zone": "1"}), True),
        ("Node/Add", None, node(), False),
        ("Node/Delete", node(labels={"zone": "1"}), None, True),
        ("Node/Delete", node(), None, False),
        ("Node/UpdateNodeLabel", node(), node(labels={"zone": "1"}), True),
        ("Node/UpdateNodeLabel", node(labels={"zone": "1"}), node(), True),
        ("Node/UpdateNodeLabel", node(labels={"zone": "1"}), node(labels={"zone": "2"}), True),
        ("Node/UpdateNodeLabel", node(labels={"zone": "1"}), node(labels={"zone": "1", "more": "x"}), False),
        ("Node/UpdateNodeTaint", node(labels={"zone": "1"}, taints=(HARD,)), node(labels={"zone": "1"}), True),
        ("Node/UpdateNodeTaint", TAINTED, FREE, False),  # has no zone
    ],
)
def test_pod_topology_spread(event: str, old: Object | None, new: Object | None, expected: bool) -> None:
    assert wakes("PodTopologySpread", event, spread(), old, new) is expected


def test_spread_cares_for_the_pods_own_changes() -> None:
    assert wakes("PodTopologySpread", "Pod/UpdatePodLabel", spread(), spread(), DB)
    toleration = "Pod/UpdatePodToleration"
    assert wakes("PodTopologySpread", toleration, spread(nodeTaintsPolicy="Honor"), spread(), spread())
    assert not wakes("PodTopologySpread", toleration, spread(), spread(), spread())


def test_spread_listens_for_a_profiles_own_defaults_too() -> None:
    hard = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
    args = {"PodTopologySpread": {"defaultingType": "List", "defaultConstraints": [hard]}}

    def owner(pod: Object) -> Selector:
        return selector_from_labels({"app": "web"})

    framework = new_framework(Profile(args=args), Options(Listers(find_selector=owner)))
    assert wakes("PodTopologySpread", "AssignedPod/Delete", make_pod("p"), WEB, None, framework)
    assert not wakes("PodTopologySpread", "AssignedPod/Delete", make_pod("p"), DB, None, framework)


def test_an_update_is_taken_apart() -> None:
    old = make_pod("p", labels={"a": "1"}, requests={"cpu": "2"}, schedulingGates=[{"name": "g"}])
    new = make_pod("p", labels={"a": "2"}, requests={"cpu": "1"}, tolerations=[{"operator": "Exists"}])
    assert [event.action for event in pod_events("Pod", old, new)] == [
        "UpdatePodLabel",
        "UpdatePodScaleDown",
        "UpdatePodSchedulingGatesEliminated",
        "UpdatePodToleration",
    ]
    annotated = {**old, "metadata": {**old["metadata"], "annotations": {"a": "b"}}}
    assert pod_events("Pod", old, annotated) == []
    before, after = node(unschedulable=True, labels={"a": "1"}), node(cpu="9", taints=(HARD,))
    assert [event.action for event in node_events(before, after)] == [
        "UpdateNodeTaint",
        "UpdateNodeAllocatable",
        "UpdateNodeLabel",
        "UpdateNodeTaint",
    ]
    assert node_events(node(), node(unschedulable=True)) == []


def with_volumes(name: str, *volumes: Object, namespace: str = "default") -> Object:
    pod = make_pod(name, volumes=list(volumes))
    pod["metadata"]["namespace"] = namespace
    return pod


CLAIM = {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}
DISK = {"name": "d", "awsElasticBlockStore": {"volumeID": "vol-1"}}


@pytest.mark.parametrize(
    ("waiting", "gone", "expected"),
    [
        (with_volumes("p", CLAIM), with_volumes("q", CLAIM), True),
        (with_volumes("p", DISK), with_volumes("q", DISK), True),
        (with_volumes("p", CLAIM), with_volumes("q", DISK), False),
        (with_volumes("p", CLAIM), with_volumes("q"), False),
        (with_volumes("p", CLAIM), with_volumes("q", CLAIM, namespace="other"), False),
        (with_volumes("p", DISK), with_volumes("q", {"name": "d", "awsElasticBlockStore": {"volumeID": "2"}}), False),
    ],
)
def test_only_a_pod_with_the_same_volume_makes_way_for_one(waiting: Object, gone: Object, expected: bool) -> None:
    assert wakes("VolumeRestrictions", "AssignedPod/Delete", waiting, gone, None) is expected


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        ({"port": 80}, True),
        ({"port": 81}, False),
        ({"port": 80, "placed": False}, False),  # it never had the port
    ],
)
def test_a_port_is_free_when_a_pod_that_had_it_goes(gone: dict[str, Any], expected: bool) -> None:
    def on_port(name: str, port: int, **spec: Any) -> Object:
        pod = make_pod(name, **spec)
        pod["spec"]["containers"][0]["ports"] = [{"hostPort": port, "containerPort": port, "protocol": "TCP"}]
        return pod

    where = {"nodeName": "n"} if gone.get("placed", True) else {}
    old = on_port("old", gone["port"], **where)
    assert wakes("NodePorts", "AssignedPod/Delete", on_port("p", 80), old, None) is expected
    assert not wakes("NodePorts", "AssignedPod/Delete", on_port("p", 80), None, None)
