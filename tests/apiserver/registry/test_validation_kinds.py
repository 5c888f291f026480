"""Validation, kind by kind: one good object each, and what is said of a single mistake in it."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.apiserver.registry.by_kind import validate_create, validate_update
from tests.apiserver.registry.test_validation import prepared

GOOD: dict[str, tuple[str, str, dict[str, Any]]] = {
    "driver": ("storage.k8s.io/v1", "CSIDriver", {"spec": {}}),
    "csinode": ("storage.k8s.io/v1", "CSINode", {"spec": {"drivers": [{"name": "d", "nodeID": "n"}]}}),
    "attachment": (
        "storage.k8s.io/v1",
        "VolumeAttachment",
        {"spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "p"}}},
    ),
    "capacity": ("storage.k8s.io/v1", "CSIStorageCapacity", {"storageClassName": "s", "capacity": "1Gi"}),
    "attributes": ("storage.k8s.io/v1", "VolumeAttributesClass", {"driverName": "d", "parameters": {"a": "b"}}),
    "class": ("storage.k8s.io/v1", "StorageClass", {"provisioner": "example.com/x"}),
    "schema": (
        "flowcontrol.apiserver.k8s.io/v1",
        "FlowSchema",
        {"spec": {"priorityLevelConfiguration": {"name": "low"}}},
    ),
    "level": (
        "flowcontrol.apiserver.k8s.io/v1",
        "PriorityLevelConfiguration",
        {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}},
    ),
    "apiservice": (
        "apiregistration.k8s.io/v1",
        "APIService",
        {
            "metadata": {"name": "v1.g.example.com"},
            "spec": {
                "group": "g.example.com",
                "version": "v1",
                "groupPriorityMinimum": 1,
                "versionPriority": 1,
                "service": {"name": "s", "namespace": "n"},
            },
        },
    ),
    "revision": ("apps/v1", "ControllerRevision", {"revision": 1, "data": {"a": "b"}}),
    "event": ("v1", "Event", {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "n"}, "type": "Normal"}),
    "newevent": (
        "events.k8s.io/v1",
        "Event",
        {
            "eventTime": "2026-01-01T00:00:00.000000Z",
            "regarding": {"kind": "Pod", "name": "p", "namespace": "n"},
            "reportingController": "example.com/c",
            "reportingInstance": "i",
            "action": "a",
            "reason": "R",
            "type": "Normal",
        },
    ),
    "ingressclass": ("networking.k8s.io/v1", "IngressClass", {"spec": {"controller": "example.com/x"}}),
    "runtime": ("node.k8s.io/v1", "RuntimeClass", {"handler": "runc"}),
    "volume": (
        "v1",
        "PersistentVolume",
        {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}},
    ),
    "autoscaler": (
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        {"spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}},
    ),
    "node": ("v1", "Node", {"spec": {}}),
    "address": (
        "networking.k8s.io/v1",
        "IPAddress",
        {
            "metadata": {"name": "10.0.0.1"},
            "spec": {"parentRef": {"resource": "services", "namespace": "n", "name": "s"}},
        },
    ),
    "service": (
        "v1",
        "Service",
        {"spec": {"type": "LoadBalancer", "ports": [{"port": 80}], "clusterIP": "10.0.0.1", "ipFamilies": ["IPv4"]}},
    ),
    "slice": (
        "discovery.k8s.io/v1",
        "EndpointSlice",
        {"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}], "ports": [{"port": 80}]},
    ),
    "pod": ("v1", "Pod", {"spec": {"containers": [{"name": "c", "image": "i"}]}}),
}

NAMESPACED = {"slice", "capacity", "revision", "event", "newevent", "autoscaler", "pod", "service"}

DELETE = object()


def changed(obj: Any, path: str, value: Any) -> Any:
    """A copy with one field set, or taken out."""
    obj = copy.deepcopy(obj)
    *steps, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    holder = obj
    for step in steps:
        holder = holder.setdefault(step, {}) if isinstance(holder, dict) else holder[step]
    if value is DELETE:
        del holder[last]
    else:
        holder[last] = value
    return obj


def made(name: str, body: dict[str, Any]) -> dict[str, Any]:
    api_version, kind, _ = GOOD[name]
    scope = {} if name in NAMESPACED else {"namespace": ""}
    metadata = {**body.get("metadata", {}), **scope}
    return prepared(api_version, kind, **{**body, "metadata": metadata})


@pytest.mark.parametrize("name", GOOD)
def test_the_good_ones_are_fine(name: str) -> None:
    assert validate_create(made(name, GOOD[name][2])) == []


CASES = yaml.load(
    (Path(__file__).parent / "one_mistake.yaml").read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader)
)


def said(case: Any) -> str:
    """A case by what it changes."""
    return f"{case['of']} {next(iter(case['with'])) if 'with' in case else case['without']}"


def mistaken(obj: Any, case: Any) -> Any:
    if "without" in case:
        return changed(obj, case["without"], DELETE)
    ((path, value),) = case["with"].items()
    return changed(obj, path, value)


@pytest.mark.parametrize("case", CASES["creates"], ids=said)
def test_one_mistake_in_a_new_object(case: Any) -> None:
    name = case["of"]
    found = validate_create(made(name, mistaken(GOOD[name][2], case)))
    assert [str(error) for error in found] == case.get("says", [])


@pytest.mark.parametrize("case", CASES["updates"], ids=said)
def test_one_change_to_a_stored_object(case: Any) -> None:
    old = made(case["of"], GOOD[case["of"]][2])
    old["metadata"]["resourceVersion"] = "1"
    assert [str(error) for error in validate_update(mistaken(old, case), old)] == case.get("says", [])


# --- what a message shows of an update -----------------------------------------------------------------------------------------------


def detail(api_version: str, kind: str, body: dict[str, Any], path: str, value: Any) -> str:
    old = prepared(api_version, kind, **body)
    old["metadata"]["resourceVersion"] = "1"
    return validate_update(changed(old, path, value), old)[0].detail


def test_a_pod_update_shows_a_diff_of_the_internal_specs() -> None:
    body = {"spec": {"containers": [{"name": "c", "image": "i", "env": [{"name": "A", "value": "b"}]}]}}
    assert detail("v1", "Pod", body, "spec/containers/0/env/0/value", "<c>").partition("\n")[2] == (
        '@@ -13,7 +13,7 @@\n    "Env": [\n     {\n      "Name": "A",\n-     "Value": "b",\n'
        '+     "Value": "\\u003cc\\u003e",\n      "ValueFrom": null\n     }\n    ],\n'
    )
    shown = detail("v1", "Pod", body, "spec/hostNetwork", True)
    assert '-  "HostNetwork": false,\n+  "HostNetwork": true,\n   "HostPID": false,\n' in shown


def test_a_claim_and_a_volume_show_what_would_change() -> None:
    claim = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    shown = detail("v1", "PersistentVolumeClaim", claim, "spec/accessModes", ["ReadWriteMany"])
    assert '  "AccessModes": [\n-  "ReadWriteOnce"\n+  "ReadWriteMany"\n  ],\n' in shown
    volume = {**GOOD["volume"][2], "metadata": {"namespace": ""}}
    shown = detail("v1", "PersistentVolume", volume, "spec/hostPath/path", "/y")
    assert '  "HostPath": {\n-  "Path": "/x",\n+  "Path": "/y",\n' in shown


def test_a_bound_claim_may_grow() -> None:
    claim = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    old = prepared("v1", "PersistentVolumeClaim", **claim)
    old["metadata"]["resourceVersion"], old["status"] = "1", {"phase": "Bound"}
    assert validate_update(changed(old, "spec/resources/requests/storage", "2Gi"), old) == []
    (error,) = validate_update(changed(old, "spec/volumeMode", "Block"), old)[:1]
    assert error.field == "spec"


JOB = {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}


def test_a_job_shows_the_internal_template() -> None:
    old = prepared("batch/v1", "Job", **JOB)
    old["metadata"]["resourceVersion"] = "1"
    (error,) = validate_update(changed(old, "spec/template/spec/containers/0/image", "j"), old)
    assert (error.field, error.detail) == ("spec.template", "field is immutable")
    assert list(error.bad_value) == ["labels", "Spec"]
    assert error.bad_value["Spec"]["Containers"][0]["Image"] == "j"


def test_a_suspended_job_may_still_be_steered() -> None:
    old = prepared("batch/v1", "Job", **changed(JOB, "spec/suspend", True))
    old["metadata"]["resourceVersion"] = "1"
    steered = changed(old, "spec/template/spec/nodeSelector", {"zone": "a"})
    assert validate_update(steered, old) == []
    assert validate_update(changed(old, "spec/template/spec/hostNetwork", True), old)
    old["status"]["startTime"] = steered["status"]["startTime"] = "2026-01-01T00:00:00Z"
    assert validate_update(steered, old)


def test_a_job_with_another_selector_is_told_so_in_upstreams_order() -> None:
    old = prepared("batch/v1", "Job", **JOB)
    old["metadata"]["resourceVersion"] = "1"
    found = validate_update(changed(old, "spec/selector", {"matchLabels": {"z": "z"}}), old)
    details = list(dict.fromkeys(error.detail for error in found))
    assert details == [
        "`selector` not auto-generated",
        "`selector` does not match template `labels`",
        "field is immutable",
    ]
