"""What a write to a pod's `resize` may change."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.apiserver.registry.by_kind import prepare_for_update, validate_update
from tests.apiserver.registry.test_validation import prepared
from tests.apiserver.registry.test_validation_kinds import DELETE, changed

SMALL = {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "200m", "memory": "64Mi"}}
SPEC: dict[str, Any] = {
    "containers": [{"name": "c", "image": "i:1", "resources": SMALL}],
    "initContainers": [
        {"name": "i", "image": "i:1", "resources": SMALL},
        {"name": "s", "image": "i:1", "resources": SMALL, "restartPolicy": "Always"},
    ],
}


def resized(changes: dict[str, Any], stored: dict[str, Any] | None = None) -> tuple[dict[str, Any], list[str]]:
    """The pod that would be stored, and what is said of it."""
    old = prepared("v1", "Pod", copy.deepcopy(SPEC))
    old["metadata"]["resourceVersion"] = "1"
    for path, value in (stored or {}).items():
        old = changed(old, path, value)
    new = old
    for path, value in changes.items():
        new = changed(new, path, value)
    prepare_for_update(new, old, "resize")
    return new, [str(error) for error in validate_update(new, old, "resize")]


def test_cpu_and_memory_grow_and_nothing_else_is_looked_at() -> None:
    changes = {
        "spec/containers/0/resources/requests/cpu": "150m",
        "spec/initContainers/1/resources/limits/memory": "128Mi",
        "spec/containers/0/image": "j:1",
        "metadata/labels": {"a": "b"},
        "status/phase": "Failed",
    }
    pod, said = resized(changes)
    assert said == []
    assert pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "150m"
    assert pod["spec"]["initContainers"][1]["resources"]["limits"]["memory"] == "128Mi"
    assert (pod["spec"]["containers"][0]["image"], pod["metadata"].get("labels")) == ("i:1", None)
    assert (pod["status"].get("phase"), pod["metadata"]["generation"]) == ("Pending", 2)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"spec/containers/0/resources/requests/memory": DELETE},
         ["spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"]),
        ({"spec/initContainers/1/resources/limits": DELETE},
         ["spec.initContainers[1].resources.limits: Forbidden: resource limits cannot be removed"]),
        ({"spec/containers/0/resources/limits/ephemeral-storage": "1Gi"},
         ["spec: Forbidden: only cpu and memory resources are mutable"]),
        ({"spec/initContainers/0/resources/limits/ephemeral-storage": "1Gi"},
         ["spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable"]),
        ({"spec/initContainers/1/resources/limits/ephemeral-storage": "1Gi"},
         ["spec.initContainers[1]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable"]),
        ({"spec/containers/0/resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]},
         ["spec: Forbidden: only cpu and memory resources are mutable"]),
        ({"spec/containers/0/name": "d"},
         ["spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"]),
        ({"spec/initContainers": []},
         ["spec.initContainers: Forbidden: initContainers may not be added or removed on resize"]),
        ({"spec/containers/0/resources/requests/cpu": "300m"},
         ['spec.containers[0].resources.requests: Invalid value: "300m": must be less than or equal to cpu limit of 200m']),
    ],
)  # fmt: skip
def test_what_a_resize_may_not_do(changes: dict[str, Any], expected: list[str]) -> None:
    assert resized(changes)[1] == expected


def test_a_resize_keeps_the_quality_of_service() -> None:
    stored = {"spec/initContainers": []}
    (said,) = resized({"spec/containers/0/resources/requests": SMALL["limits"]}, stored)[1]
    assert said == 'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing'


def test_who_cannot_be_resized() -> None:
    grow = {"spec/containers/0/resources/requests/cpu": "150m"}
    mirror = {"metadata/annotations": {"kubernetes.io/config.mirror": "x"}}
    assert "[]: Forbidden: static pods cannot be resized" in resized(grow, mirror)[1]
    windows = {"spec/os": {"name": "windows"}}
    assert resized(grow, windows)[1] == ["[]: Forbidden: windows pods cannot be resized"]
    silent = {"status/containerStatuses": [{"name": "c", "state": {"running": {}}}]}
    assert resized(grow, silent)[1] == ["spec: Forbidden: Pod running on node without support for resize"]
