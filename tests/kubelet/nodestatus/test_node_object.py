"""The node object to the letter: how a machine introduces itself, and what it says of itself afterwards."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.api.version import KUBERNETES_VERSION
from lifecycle.cri.apis.image import Image
from lifecycle.kubelet.kubelet_node_status import Machine, NodeRegistration
from lifecycle.kubelet.nodestatus.setters import (
    NETWORK_NOT_READY,
    condition_event,
    initial_node,
    lease,
    node_conditions,
    node_status,
    node_status_has_changed,
)

NOW, BEFORE = "2026-01-01T00:01:00Z", "2026-01-01T00:00:00Z"


def test_a_machine_introduces_itself() -> None:
    taint = {"key": "a", "effect": "NoSchedule"}
    assert initial_node("n", {"zone": "a"}, [taint], "kind://n", "10.1.0.0/24", "arm64") == {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {
            "name": "n",
            "labels": {
                "beta.kubernetes.io/arch": "arm64",
                "beta.kubernetes.io/os": "linux",
                "kubernetes.io/arch": "arm64",
                "kubernetes.io/hostname": "n",
                "kubernetes.io/os": "linux",
                "zone": "a",
            },
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
        },
        "spec": {"podCIDR": "10.1.0.0/24", "podCIDRs": ["10.1.0.0/24"], "providerID": "kind://n", "taints": [taint]},
    }


def test_what_nobody_has_said_is_left_out_and_a_label_can_be_overruled() -> None:
    node = initial_node("n", {"kubernetes.io/hostname": "other"}, [], "", "")
    assert node["spec"] == {}
    assert node["metadata"]["labels"]["kubernetes.io/hostname"] == "other"
    assert node["metadata"]["labels"]["kubernetes.io/arch"] == "amd64"


WELL = {
    "MemoryPressure": ("False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    "Ready": ("True", "KubeletReady", "kubelet is posting ready status"),
}


def told(conditions: list[dict[str, Any]]) -> dict[str, tuple[str, str, str]]:
    return {each["type"]: (each["status"], each["reason"], each["message"]) for each in conditions}


@pytest.mark.parametrize(
    ("network_ready", "more", "changed"),
    [
        (True, {}, {}),
        (False, {}, {"Ready": ("False", "KubeletNotReady", NETWORK_NOT_READY)}),
        (False, {"network_error": "no cable"}, {"Ready": ("False", "KubeletNotReady", "no cable")}),
        (True, {"pressures": ["DiskPressure"]}, {"DiskPressure": ("True", "KubeletHasDiskPressure", "kubelet has disk pressure")}),
        (True, {"pressures": {"MemoryPressure"}},
         {"MemoryPressure": ("True", "KubeletHasInsufficientMemory", "kubelet has insufficient memory available")}),
    ],
)  # fmt: skip
def test_four_conditions_in_upstreams_words(network_ready: bool, more: Any, changed: Any) -> None:
    conditions = node_conditions([], NOW, network_ready, **more)
    assert [each["type"] for each in conditions] == ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"]
    assert told(conditions) == WELL | changed
    assert {each["lastHeartbeatTime"] for each in conditions} == {NOW}


def test_the_network_that_is_missing_is_named() -> None:
    assert NETWORK_NOT_READY == (
        "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady"
        " message:Network plugin returns error: cni plugin not initialized"
    )


def test_a_transition_is_when_the_status_changed_last() -> None:
    old = node_conditions([], BEFORE, False)
    times = {each["type"]: each["lastTransitionTime"] for each in node_conditions(old, NOW, True)}
    assert times == {"MemoryPressure": BEFORE, "DiskPressure": BEFORE, "PIDPressure": BEFORE, "Ready": NOW}


@pytest.mark.parametrize(
    ("kind", "status", "reason"),
    [
        ("MemoryPressure", "False", "NodeHasSufficientMemory"),
        ("MemoryPressure", "True", "NodeHasInsufficientMemory"),
        ("DiskPressure", "False", "NodeHasNoDiskPressure"),
        ("DiskPressure", "True", "NodeHasDiskPressure"),
        ("PIDPressure", "False", "NodeHasSufficientPID"),
        ("PIDPressure", "True", "NodeHasInsufficientPID"),
        ("Ready", "True", "NodeReady"),
        ("Ready", "False", "NodeNotReady"),
    ],
)
def test_an_event_tells_of_a_conditions_new_status(kind: str, status: str, reason: str) -> None:
    assert condition_event(kind, status) == reason


IMAGES = [Image("id", tuple(f"t:{n}" for n in range(4)), ("d@1", "d@2"), 7), Image("id2", ("u:1",), (), 8)]


def status(images: Any = IMAGES, info: Any = None, **more: Any) -> dict[str, Any]:
    machine = info or {"machineID": "m", "architecture": "arm64"}
    return node_status(
        {}, "n", "10.0.0.1", {"cpu": "4"}, {"cpu": "3"}, images, [{"type": "Ready"}], "c://1", machine, {}, **more
    )


def test_the_whole_status() -> None:
    assert status(port=10251) == {
        "capacity": {"cpu": "4"},
        "allocatable": {"cpu": "3"},
        "conditions": [{"type": "Ready"}],
        "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "Hostname", "address": "n"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10251}},
        "nodeInfo": {
            "machineID": "m",
            "containerRuntimeVersion": "c://1",
            "kubeletVersion": KUBERNETES_VERSION,
            "kubeProxyVersion": "",
            "operatingSystem": "linux",
            "architecture": "arm64",
        },
        "images": [
            {"names": ["d@1", "d@2", "t:0", "t:1", "t:2"], "sizeBytes": 7},
            {"names": ["u:1"], "sizeBytes": 8},
        ],
        "declaredFeatures": [
            "ExtendWebSocketsToKubelet",
            "InPlacePodLevelResourcesVerticalScaling",
            "InPlacePodVerticalScalingInitContainers",
            "RestartAllContainersOnContainerExits",
        ],
    }


def test_what_is_usual_need_not_be_said() -> None:
    seen = status(info={"machineID": "m"})
    assert seen["daemonEndpoints"]["kubeletEndpoint"]["Port"] == 10250
    assert seen["nodeInfo"]["architecture"] == "amd64"


def test_fifty_images_are_enough() -> None:
    many = [Image(str(number), (f"t:{number}",), (), number) for number in range(60)]
    assert [each["sizeBytes"] for each in status(many)["images"]] == list(range(50))


@pytest.mark.parametrize(
    ("change", "news"),
    [
        ({}, False),
        ({"images": []}, True),
        ({"conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": NOW}]}, False),
        ({"conditions": [{"type": "Ready", "status": "False", "lastHeartbeatTime": BEFORE}]}, True),
        ({"conditions": [{"type": "Other", "status": "True"}]}, True),
        ({"volumesInUse": []}, False),
        ({"volumesInUse": ["v"]}, True),
    ],
)
def test_more_than_being_alive_is_news(change: Any, news: bool) -> None:
    old = {"conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": BEFORE}], "images": ["i"]}
    assert node_status_has_changed(old, {**old, **change}) is news


def test_a_first_status_is_news() -> None:
    assert node_status_has_changed({}, {"conditions": [{"type": "Ready"}]})


def test_a_lease_is_the_nodes_own_and_good_for_forty_seconds() -> None:
    assert lease("n", "u1", NOW) == {
        "kind": "Lease",
        "apiVersion": "coordination.k8s.io/v1",
        "metadata": {
            "name": "n",
            "namespace": "kube-node-lease",
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u1"}],
        },
        "spec": {"holderIdentity": "n", "leaseDurationSeconds": 40, "renewTime": NOW},
    }


@pytest.mark.parametrize(("info", "architecture"), [({}, "amd64"), ({"architecture": "arm64"}, "arm64")])
def test_a_node_is_registered_as_the_machine_that_it_is(info: dict[str, str], architecture: str) -> None:
    taint = {"key": "a", "effect": "NoSchedule"}
    machine = Machine("n", "10.0.0.1", "10.1.0.0/24", {"zone": "a"}, (taint,), info=info, provider_id="kind://n")
    registration: Any = SimpleNamespace(_machine=machine)
    node = NodeRegistration._initial_node(registration)
    assert node == initial_node("n", {"zone": "a"}, [taint], "kind://n", "10.1.0.0/24", architecture)
