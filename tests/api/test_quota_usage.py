"""What objects are charged for, and which quota is about them (`pkg/quota/v1/evaluator/core`)."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.quota import (
    is_terminating,
    matches_scopes,
    matching_resources,
    missing_requirements,
    usage,
)
from lifecycle.api.resources import resource

PODS, SERVICES, CLAIMS = resource("pods"), resource("services"), resource("persistentvolumeclaims")
DEVICES = resource("resourceclaims.resource.k8s.io")


def charged(kind: str, obj: dict[str, Any]) -> dict[str, str]:
    return {name: str(amount) for name, amount in usage(resource(kind), {"metadata": {}, **obj}).items()}


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("deployments.apps", {"count/deployments.apps"}),
        ("configmaps", {"count/configmaps", "configmaps"}),
        ("secrets", {"count/secrets", "secrets"}),
        ("replicationcontrollers", {"count/replicationcontrollers", "replicationcontrollers"}),
        ("resourcequotas", {"count/resourcequotas", "resourcequotas"}),
        ("serviceaccounts", {"count/serviceaccounts"}),
        ("endpoints", {"count/endpoints"}),
    ],
)
def test_everything_is_counted_and_a_few_old_types_under_their_plain_name_too(kind: str, names: set[str]) -> None:
    assert charged(kind, {}) == dict.fromkeys(names, "1")


def pod(*containers: dict[str, Any], phase: str = "Running", **spec: Any) -> dict[str, Any]:
    each = [{"name": f"c{i}", "resources": resources} for i, resources in enumerate(containers)]
    return {"metadata": {}, "spec": {"containers": each, **spec}, "status": {"phase": phase}}


def test_a_pod_is_charged_for_its_requests_and_limits_under_all_their_names() -> None:
    one = {
        "requests": {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "2Gi", "hugepages-2Mi": "4Mi", "a.io/gpu": "2"},
        "limits": {"cpu": "2", "memory": "3Gi", "ephemeral-storage": "4Gi", "hugepages-2Mi": "4Mi", "a.io/gpu": "2"},
    }
    assert charged("pods", pod(one)) == {
        "count/pods": "1", "pods": "1", "cpu": "1", "requests.cpu": "1", "memory": "1Gi", "requests.memory": "1Gi",
        "ephemeral-storage": "2Gi", "requests.ephemeral-storage": "2Gi", "hugepages-2Mi": "4Mi",
        "requests.hugepages-2Mi": "4Mi", "requests.a.io/gpu": "2", "limits.cpu": "2", "limits.memory": "3Gi",
        "limits.ephemeral-storage": "4Gi",
    }  # fmt: skip


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_has_ended_is_only_counted(phase: str) -> None:
    assert charged("pods", pod({"requests": {"cpu": "1"}}, phase=phase)) == {"count/pods": "1"}


@pytest.mark.parametrize(
    ("spec", "node_ports", "balancers"),
    [
        ({"type": "ClusterIP", "ports": [{}]}, "0", "0"),
        ({"type": "NodePort", "ports": [{}, {}]}, "2", "0"),
        ({"type": "LoadBalancer", "ports": [{}, {}, {}]}, "3", "1"),
        ({"type": "LoadBalancer", "allocateLoadBalancerNodePorts": True, "ports": [{}]}, "1", "1"),
        (
            {"type": "LoadBalancer", "allocateLoadBalancerNodePorts": False, "ports": [{}, {"nodePort": 30000}]},
            "1",
            "1",
        ),
        ({"type": "NodePort", "allocateLoadBalancerNodePorts": False, "ports": [{}, {}]}, "2", "0"),
        ({}, "0", "0"),
    ],
)
def test_a_service_is_charged_for_its_ports_on_nodes_and_its_load_balancer(
    spec: dict[str, Any], node_ports: str, balancers: str
) -> None:
    assert charged("services", {"spec": spec}) == {
        "count/services": "1", "services": "1", "services.nodeports": node_ports, "services.loadbalancers": balancers,
    }  # fmt: skip


COUNTED = {"count/persistentvolumeclaims": "1", "persistentvolumeclaims": "1"}
OF_CLASS = "gold.storageclass.storage.k8s.io/"


@pytest.mark.parametrize(
    ("claim", "used"),
    [
        ({"spec": {}}, {}),
        ({"spec": {"resources": {"requests": {"storage": "5Gi"}}}}, {"requests.storage": "5Gi"}),
        ({"spec": {"resources": {"requests": {"storage": "1500m"}}}}, {"requests.storage": "2"}),
        ({"spec": {"resources": {"requests": {"storage": "5Gi"}}, "storageClassName": "gold"}},
         {"requests.storage": "5Gi", f"{OF_CLASS}requests.storage": "5Gi", f"{OF_CLASS}persistentvolumeclaims": "1"}),
        ({"spec": {"storageClassName": "gold"}}, {f"{OF_CLASS}persistentvolumeclaims": "1"}),
        ({"spec": {"storageClassName": "x"},
          "metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "gold"}}},
         {f"{OF_CLASS}persistentvolumeclaims": "1"}),
        ({"spec": {"storageClassName": "x"},
          "metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": ""}}}, {}),
        ({"spec": {"resources": {"requests": {"storage": "5Gi"}}}, "status": {"allocatedResources": {"storage": "9Gi"}}},
         {"requests.storage": "9Gi"}),
        ({"spec": {"resources": {"requests": {"storage": "5Gi"}}}, "status": {"allocatedResources": {"storage": "1Gi"}}},
         {"requests.storage": "5Gi"}),
    ],
)  # fmt: skip
def test_a_claim_is_charged_for_its_storage_also_to_its_class(claim: dict[str, Any], used: dict[str, str]) -> None:
    assert charged("persistentvolumeclaims", claim) == COUNTED | used


def test_a_device_claim_is_charged_to_each_class_and_of_alternatives_for_the_worst() -> None:
    requests = [
        {"exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 2}},
        {"exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}},
        {"exactly": {"deviceClassName": "nic", "allocationMode": "All"}},
        {"firstAvailable": [
            {"deviceClassName": "big", "allocationMode": "ExactCount", "count": 3},
            {"deviceClassName": "big", "allocationMode": "ExactCount", "count": 5},
            {"deviceClassName": "big", "allocationMode": "ExactCount", "count": 1},
        ]},
        {},
        {"exactly": {"deviceClassName": "odd", "allocationMode": "Some", "count": 4}},
    ]  # fmt: skip
    used = charged("resourceclaims.resource.k8s.io", {"spec": {"devices": {"requests": requests}}})
    name = ".deviceclass.resource.k8s.io/devices"
    assert used == {
        "count/resourceclaims.resource.k8s.io": "1", f"gpu{name}": "3", f"nic{name}": "32", f"big{name}": "5",
        f"odd{name}": "0",
    }  # fmt: skip


NAMES = [
    "pods", "cpu", "requests.cpu", "limits.memory", "ephemeral-storage", "requests.ephemeral-storage",
    "limits.ephemeral-storage", "hugepages-1Gi", "requests.hugepages-1Gi", "requests.a.io/gpu", "limits.a.io/gpu",
    "requests.x.kubernetes.io/y", "requests.storage", "services", "services.nodeports", "services.loadbalancers",
    "persistentvolumeclaims", "gold.storageclass.storage.k8s.io/requests.storage",
    "gold.storageclass.storage.k8s.io/persistentvolumeclaims", "gold.storageclass.storage.k8s.io/other",
    "gpu.deviceclass.resource.k8s.io/devices", "count/pods", "count/deployments.apps", "configmaps", "count/configmaps",
    "count/resourceclaims.resource.k8s.io", "deployments",
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "about"),
    [
        ("pods", ["count/pods", "cpu", "ephemeral-storage", "hugepages-1Gi", "limits.ephemeral-storage", "limits.memory",
                  "pods", "requests.a.io/gpu", "requests.cpu", "requests.ephemeral-storage", "requests.hugepages-1Gi"]),
        ("services", ["services", "services.loadbalancers", "services.nodeports"]),
        ("persistentvolumeclaims", ["gold.storageclass.storage.k8s.io/persistentvolumeclaims",
                                    "gold.storageclass.storage.k8s.io/requests.storage", "persistentvolumeclaims",
                                    "requests.storage"]),
        ("resourceclaims.resource.k8s.io", ["count/resourceclaims.resource.k8s.io",
                                            "gpu.deviceclass.resource.k8s.io/devices"]),
        ("configmaps", ["configmaps", "count/configmaps"]),
        ("deployments.apps", ["count/deployments.apps"]),
        ("endpoints", []),
    ],
)  # fmt: skip
def test_a_quotas_names_are_about_one_type_each(kind: str, about: list[str]) -> None:
    assert matching_resources(resource(kind), NAMES) == about


def test_under_a_compute_quota_every_container_has_to_say_what_it_needs() -> None:
    silent = pod({}, {"requests": {"cpu": "1"}, "limits": {"memory": "1"}}, initContainers=[{"name": "i"}])
    said = missing_requirements(PODS, silent, ["requests.cpu", "pods", "limits.memory", "memory"])
    assert said == ("must specify limits.memory for: c0,i; memory for: c0,c1,i; requests.cpu for: c0,i")
    assert missing_requirements(PODS, silent, ["pods", "ephemeral-storage"]) == ""
    assert missing_requirements(SERVICES, silent, ["cpu"]) == ""
    whole = pod({}, resources={"requests": {"cpu": "1"}})
    assert missing_requirements(PODS, whole, ["cpu"]) == "", "the pod speaks for all of its containers"
    nameless = {"spec": {"containers": [{"image": "nginx"}]}}
    assert missing_requirements(PODS, nameless, ["cpu"]) == "must specify cpu for: "  # Go's empty name


def quota(*scopes: str, selector: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    spec: dict[str, Any] = {"scopes": list(scopes)} if scopes else {}
    return {"spec": spec | ({"scopeSelector": {"matchExpressions": selector}} if selector else {})}


FAST = {"requests": {"cpu": "1"}}


@pytest.mark.parametrize(
    ("scope", "obj", "inside"),
    [
        ("Terminating", pod(activeDeadlineSeconds=0), True),
        ("Terminating", pod(activeDeadlineSeconds=9), True),
        ("Terminating", pod(), False),
        ("NotTerminating", pod(activeDeadlineSeconds=9), False),
        ("NotTerminating", pod(), True),
        ("BestEffort", pod({}), True),
        ("BestEffort", pod(FAST), False),
        ("NotBestEffort", pod({}), False),
        ("NotBestEffort", pod(FAST), True),
        ("PriorityClass", pod(priorityClassName="high"), True),
        ("PriorityClass", pod(), False),
        ("CrossNamespacePodAffinity", pod(), False),
        ("Unknown", pod(), False),
    ],
)
def test_a_pod_is_inside_a_scope_or_not(scope: str, obj: dict[str, Any], inside: bool) -> None:
    assert matches_scopes(quota(scope), PODS, obj) is inside
    assert matches_scopes(quota(), PODS, obj), "without scopes a quota is about all"


REQUIRED, PREFERRED = (f"{word}DuringSchedulingIgnoredDuringExecution" for word in ("required", "preferred"))


@pytest.mark.parametrize("side", ["podAffinity", "podAntiAffinity"])
@pytest.mark.parametrize("looks", [{"namespaces": ["other"]}, {"namespaceSelector": {}}])
def test_a_pod_that_looks_into_other_namespaces_is_inside_the_scope_for_that(side: str, looks: dict[str, Any]) -> None:
    scoped = quota("CrossNamespacePodAffinity")
    assert matches_scopes(scoped, PODS, pod(affinity={side: {REQUIRED: [{}, looks]}}))
    assert matches_scopes(scoped, PODS, pod(affinity={side: {PREFERRED: [{"podAffinityTerm": looks}]}}))
    assert not matches_scopes(scoped, PODS, pod(affinity={side: {REQUIRED: [{}], PREFERRED: [{"weight": 1}]}}))


@pytest.mark.parametrize(
    ("operator", "values", "high", "none"),
    [
        ("In", ["high"], True, False), ("In", ["low"], False, False), ("NotIn", ["low"], True, True),
        ("NotIn", ["high"], False, True), ("Exists", [], True, False), ("DoesNotExist", [], False, True),
        ("Like", [], False, False),
    ],
)  # fmt: skip
def test_a_scope_may_choose_priority_classes_and_classes_of_attributes(
    operator: str, values: list[str], high: bool, none: bool
) -> None:
    def choosing(scope: str) -> dict[str, Any]:
        return quota(selector=[{"scopeName": scope, "operator": operator, "values": values}])

    priority, attributes = choosing("PriorityClass"), choosing("VolumeAttributesClass")
    assert matches_scopes(priority, PODS, pod(priorityClassName="high")) is high
    assert matches_scopes(priority, PODS, pod()) is none
    claims: list[dict[str, Any]] = [
        {"spec": {"volumeAttributesClassName": "high"}},
        {"status": {"currentVolumeAttributesClassName": "high"}},
        {"status": {"modifyVolumeStatus": {"targetVolumeAttributesClassName": "high"}}},
    ]
    for claim in claims:
        assert matches_scopes(attributes, CLAIMS, claim) is high
        assert not matches_scopes(priority, CLAIMS, claim)
    assert matches_scopes(attributes, CLAIMS, {}) is none


def test_all_scopes_must_hold_and_other_types_are_inside_none() -> None:
    short = pod(activeDeadlineSeconds=1)
    assert matches_scopes(quota("Terminating", "BestEffort"), PODS, short)
    assert not matches_scopes(quota("Terminating", "NotBestEffort"), PODS, short)
    assert not matches_scopes(quota("Terminating"), SERVICES, {"spec": {}})
    assert not matches_scopes(quota("Terminating"), DEVICES, {"spec": {}})


def test_only_a_deadline_that_is_not_negative_ends_a_pod() -> None:
    assert not is_terminating(pod(activeDeadlineSeconds=-1))
