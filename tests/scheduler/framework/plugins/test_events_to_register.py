"""Every event that any plugin wants to hear of, as each one's `EventsToRegister` has it upstream, and those hints that only look at
what kind of object changed."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.types import ClusterEvent, always, itself
from lifecycle.scheduler.framework.volumes import claim_names, is_delay_binding_mode, lasting_claims, uses_claim
from lifecycle.scheduler.profile import default_framework
from tests.scheduler.cluster_model import make_node, make_pod

CLAIMS = {"PersistentVolumeClaim/Add", "PersistentVolumeClaim/Update"}
VOLUMES = CLAIMS | {
    "PersistentVolume/Add",
    "PersistentVolume/Update",
    "StorageClass/Add",
    "Node/Add",
    "Node/UpdateNodeLabel",
}

WANTED: dict[str, set[str]] = {
    "SchedulingGates": {"Pod/UpdatePodSchedulingGatesEliminated"},
    "NodeUnschedulable": {"Node/Add", "Node/UpdateNodeTaint", "Pod/UpdatePodToleration"},
    "NodeName": {"Node/Add"},
    "TaintToleration": {"Node/Add", "Node/UpdateNodeTaint", "Pod/UpdatePodToleration"},
    "NodeAffinity": {"Node/Add", "Node/UpdateNodeLabel"},
    "NodePorts": {"AssignedPod/Delete", "Node/Add"},
    "NodeResourcesFit": {
        "AssignedPod/Delete", "AssignedPod/UpdatePodScaleDown", "Node/Add", "Node/UpdateNodeAllocatable", "Pod/UpdatePodScaleDown",
    },
    "VolumeRestrictions": {"AssignedPod/Delete", "Node/Add"} | CLAIMS,
    "NodeVolumeLimits": {"CSINode/Add", "CSINode/Update", "AssignedPod/Delete", "PersistentVolumeClaim/Add"},
    "VolumeBinding": VOLUMES | {
        "StorageClass/Update", "CSINode/Add", "CSINode/Update", "CSIDriver/Update", "CSIStorageCapacity/Add", "CSIStorageCapacity/Update",
    },
    "VolumeZone": VOLUMES,
    "PodTopologySpread": {
        "AssignedPod/Add", "AssignedPod/Delete", "AssignedPod/UpdatePodLabel", "Pod/UpdatePodLabel", "Pod/UpdatePodToleration",
        "Node/Add", "Node/Delete", "Node/UpdateNodeLabel", "Node/UpdateNodeTaint",
    },
    "InterPodAffinity": {
        "AssignedPod/Add", "AssignedPod/UpdatePodLabel", "AssignedPod/Delete", "Node/Add", "Node/UpdateNodeLabel",
    },
    "DynamicResources": {
        "ResourceClaim/Add", "ResourceClaim/Update", "Pod/UpdatePodGeneratedResourceClaim", "DeviceClass/Add", "DeviceClass/Update",
    },
    "DefaultPreemption": {"AssignedPod/Delete"},
}  # fmt: skip

FRAMEWORK = default_framework()


def test_which_events_each_plugin_wants_to_hear_of() -> None:
    found = {name: {f"{e.resource}/{e.action}" for e in hints} for name, hints in FRAMEWORK.hints.items()}
    assert found == WANTED


CANNOT_TELL = {
    "NodeName": {"Node/Add"},
    "NodePorts": {"Node/Add"},
    "VolumeRestrictions": {"Node/Add"},
    "NodeVolumeLimits": {"CSINode/Add", "CSINode/Update"},
    "VolumeZone": VOLUMES - CLAIMS,
    "VolumeBinding": (VOLUMES - CLAIMS) | {"CSINode/Add", "CSINode/Update", "CSIStorageCapacity/Add"},
    "DynamicResources": {"DeviceClass/Add", "DeviceClass/Update"},
}


def test_some_cannot_tell_whether_a_change_helps_and_say_yes() -> None:
    info = PodInfo(make_pod("p"))
    for name, events in CANNOT_TELL.items():
        for event in events:
            hint = FRAMEWORK.hints[name][ClusterEvent(*event.split("/"))]
            assert hint(info, None, make_node("n")) is True, (name, event)
    assert always(info, None, None) is True


def test_a_pods_own_change_is_known_by_the_uid() -> None:
    info = PodInfo(make_pod("p"))
    assert itself(info, None, make_pod("p"))
    assert not itself(info, None, make_pod("q"))
    assert not itself(info, make_pod("p"), None)
    reborn = make_pod("p")
    reborn["metadata"]["uid"] = "another"
    assert not itself(info, None, reborn)


def claim(name: str, namespace: str = "default", **spec: Any) -> Object:
    return {"metadata": {"name": name, "namespace": namespace}, "spec": spec}


VOLUMES_OF_P: list[Object] = [
    {"name": "a", "persistentVolumeClaim": {"claimName": "data"}},
    {"name": "cache", "ephemeral": {"volumeClaimTemplate": {}}},
    {"name": "tmp", "emptyDir": {}},
]


@pytest.mark.parametrize(
    ("new", "helps"),
    [
        (claim("data"), True), (claim("p-cache"), True), (claim("cache"), False), (claim("a"), False), (claim("p-tmp"), False),
        (claim("data", "other"), False), (None, False),
    ],
)  # fmt: skip
def test_a_claim_helps_the_pods_that_use_it(new: Object | None, helps: bool) -> None:
    info = PodInfo(make_pod("p", volumes=VOLUMES_OF_P))
    for plugin in ("VolumeRestrictions", "VolumeBinding", "VolumeZone"):
        for action in ("Add", "Update"):
            hint = FRAMEWORK.hints[plugin][ClusterEvent("PersistentVolumeClaim", action)]
            assert hint(info, None, new) is helps
    assert uses_claim(info, None, new) is helps


def test_the_claims_of_a_pod_and_which_of_them_end_with_it() -> None:
    pod = make_pod("p", volumes=VOLUMES_OF_P)
    assert list(claim_names(pod)) == [("data", False), ("p-cache", True)]
    assert list(claim_names(make_pod("p", volumes=None))) == []
    assert list(claim_names(make_pod("p"))) == []
    stored = {"default/data": claim("data"), "default/p-cache": claim("p-cache")}

    class Listers:
        get_claim = staticmethod(stored.get)

    listers: Any = Listers()
    assert list(lasting_claims(pod, listers)) == [("data", stored["default/data"])]
    del stored["default/data"]
    assert list(lasting_claims(pod, listers)) == [("data", None)]


@pytest.mark.parametrize(
    ("storage_class", "waits"),
    [
        ({"volumeBindingMode": "WaitForFirstConsumer"}, True), ({"volumeBindingMode": "Immediate"}, False), ({}, False), (None, False),
    ],
)  # fmt: skip
def test_a_class_may_leave_the_binding_to_the_scheduler(storage_class: Object | None, waits: bool) -> None:
    class Listers:
        get_class = staticmethod({"c": storage_class}.get)

    listers: Any = Listers()
    assert is_delay_binding_mode(claim("data", storageClassName="c"), listers) is waits
    assert not is_delay_binding_mode(claim("data"), listers)


STORAGE_CLASS, CSI_DRIVER = ClusterEvent("StorageClass", "Update"), ClusterEvent("CSIDriver", "Update")
HERE, THERE = ({"allowedTopologies": [{"matchLabelExpressions": [{"key": "z", "values": [v]}]}]} for v in "ab")
COUNTS, COUNTS_NOT, SILENT = ({"spec": spec} for spec in ({"storageCapacity": True}, {"storageCapacity": False}, {}))


@pytest.mark.parametrize(
    ("event", "old", "new", "helps"),
    [
        (STORAGE_CLASS, HERE, THERE, True), (STORAGE_CLASS, HERE, {}, True), (STORAGE_CLASS, {}, HERE, True),
        (STORAGE_CLASS, HERE, dict(HERE), False), (STORAGE_CLASS, {}, {"reclaimPolicy": "Retain"}, False),
        (CSI_DRIVER, COUNTS, COUNTS_NOT, True), (CSI_DRIVER, COUNTS, SILENT, True), (CSI_DRIVER, COUNTS, COUNTS, False),
        (CSI_DRIVER, COUNTS_NOT, COUNTS, False), (CSI_DRIVER, SILENT, COUNTS_NOT, False),
    ],
)  # fmt: skip
def test_volume_binding_looks_again_when_places_or_room_are_said_otherwise(
    event: ClusterEvent, old: Object, new: Object, helps: bool
) -> None:
    assert FRAMEWORK.hints["VolumeBinding"][event](PodInfo(make_pod("p")), old, new) is helps


def with_claim(**metadata: Any) -> Object:
    pod = make_pod("q", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])
    return {**pod, "spec": {**pod["spec"], **metadata}}


@pytest.mark.parametrize(
    ("gone", "helps"),
    [(with_claim(nodeName="n"), True), (with_claim(), False), (with_claim(nodeName=""), False), (None, False),
     (make_pod("q", nodeName="n"), False)],
)  # fmt: skip
def test_a_pod_with_volumes_that_leaves_a_node_makes_room_for_others(gone: Object | None, helps: bool) -> None:
    hint = FRAMEWORK.hints["NodeVolumeLimits"][ClusterEvent("AssignedPod", "Delete")]
    assert hint(PodInfo(with_claim()), gone, None) is helps


NAMED = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["mine"]}]}]}}}  # fmt: skip


def test_a_node_that_comes_helps_who_named_it() -> None:
    hint = FRAMEWORK.hints["NodeAffinity"][ClusterEvent("Node", "Add")]
    info = PodInfo(make_pod("p", affinity=NAMED))
    assert hint(info, None, make_node("mine")) is True
    assert hint(info, None, make_node("other")) is False
    assert hint(PodInfo(make_pod("p")), None, make_node("other")) is True
    unlabelled = {"metadata": {"name": "mine"}, "spec": {}}
    assert hint(info, None, unlabelled) is True
