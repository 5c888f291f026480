"""What a pod may know of itself, as text."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.kubelet.container.downward import (
    DownwardError,
    extract_field_path,
    field_value,
    find_container,
    format_map,
    resource_value,
)

POD = {
    "metadata": {
        "name": "web",
        "namespace": "shop",
        "uid": "u1",
        "labels": {"b": 'say "hi"', "a": "1"},
        "annotations": {"note": "two\nlines"},
    },
    "spec": {
        "nodeName": "n1",
        "serviceAccountName": "robot",
        "containers": [
            {"name": "one"},
            {"name": "two", "resources": {"limits": {"cpu": "2"}}},
            {"name": "zero", "resources": {"limits": {"cpu": "0"}}},
        ],
        "initContainers": [{"name": "first", "resources": {"limits": {"cpu": "3"}}}],
    },
}
STATUS = {
    "hostIP": "10.0.0.1",
    "podIP": "10.1.0.1",
    "hostIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}],
    "podIPs": [{"ip": "10.1.0.1"}, {"ip": "fd01::1"}],
}


def test_a_map_is_sorted_and_quoted() -> None:
    assert format_map({"b": 'say "hi"', "a": "1"}) == 'a="1"\nb="say \\"hi\\""'
    assert format_map({}) == ""


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("metadata.name", "web"),
        ("metadata.namespace", "shop"),
        ("metadata.uid", "u1"),
        ("metadata.labels", 'a="1"\nb="say \\"hi\\""'),
        ("metadata.annotations", 'note="two\\nlines"'),
        ("metadata.labels['a']", "1"),
        ("metadata.labels['none']", ""),
        ("metadata.annotations['note']", "two\nlines"),
        ("spec.nodeName", "n1"),
        ("spec.serviceAccountName", "robot"),
        ("status.hostIP", "10.0.0.1"),
        ("status.podIP", "10.1.0.1"),
        ("status.hostIPs", "10.0.0.1,fd00::1"),
        ("status.podIPs", "10.1.0.1,fd01::1"),
    ],
)
def test_a_field_is_what_the_pod_says_it_is(path: str, text: str) -> None:
    assert field_value(POD, path, STATUS) == text


@pytest.mark.parametrize(
    "path",
    [
        "metadata.uid", "metadata.labels", "metadata.annotations", "metadata.labels['a']", "spec.nodeName",
        "spec.serviceAccountName", "status.hostIP", "status.podIP", "status.hostIPs", "status.podIPs",
    ],
)  # fmt: skip
def test_what_is_not_known_yet_is_empty(path: str) -> None:
    assert field_value({"metadata": {}, "spec": {}}, path, {}) == ""


@pytest.mark.parametrize(
    "path", ["metadata.finalizers", "metadata.name['a']", "spec.hostname", "labels['a']", "xmetadata.labels['a']"]
)
def test_any_other_field_cannot_be_had(path: str) -> None:
    for ask in (lambda: extract_field_path(POD, path), lambda: field_value(POD, path, STATUS)):
        with pytest.raises(DownwardError) as refused:
            ask()
        assert str(refused.value) == f"unsupported fieldPath: {path}"


def test_a_container_is_found_by_its_name() -> None:
    assert [find_container(POD, name)["name"] for name in ("one", "two", "first")] == ["one", "two", "first"]
    with pytest.raises(DownwardError, match=r"^container three not found$"):
        find_container(POD, "three")
    with pytest.raises(DownwardError):
        find_container({"spec": {"containers": []}}, "one")


HAS = {"limits": {"cpu": "1500m", "memory": "100Mi"}, "requests": {"cpu": "250m", "memory": "64M"}}


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ({"resource": "limits.cpu"}, "2"),
        ({"resource": "limits.cpu", "divisor": "1m"}, "1500"),
        ({"resource": "limits.cpu", "divisor": "0"}, "2"),
        ({"resource": "requests.cpu"}, "1"),
        ({"resource": "requests.cpu", "divisor": "100m"}, "3"),
        ({"resource": "limits.memory"}, "104857600"),
        ({"resource": "limits.memory", "divisor": "1Mi"}, "100"),
        ({"resource": "requests.memory", "divisor": "1Mi"}, "62"),
        ({"resource": "limits.ephemeral-storage"}, "7000"),
        ({"resource": "requests.ephemeral-storage"}, "0"),
        ({"resource": "limits.hugepages-2Mi"}, "0"),
        ({"resource": "limits.cpu", "containerName": "two"}, "2"),
        ({"resource": "limits.cpu", "containerName": "first"}, "3"),
        ({"resource": "limits.cpu", "containerName": "one"}, "8"),
        ({"resource": "requests.cpu", "containerName": "one"}, "0"),
        ({"resource": "limits.hugepages-1Gi"}, "0"),
        ({"resource": "limits.cpu", "containerName": "zero"}, "8"),
        ({"resource": "requests.cpu", "containerName": "zero"}, "0"),
    ],
)
def test_what_a_container_may_use_is_rounded_up_in_the_unit_that_is_wished(selector: Any, text: str) -> None:
    allocatable = {"cpu": "8", "ephemeral-storage": "7k", "hugepages-1Gi": "2Gi"}
    assert resource_value(POD, selector, {"name": "c", "resources": HAS}, allocatable) == text


@pytest.mark.parametrize("resource", ["cpu", "limits", "limits.", "claims.cpu"])
def test_only_limits_and_requests_can_be_had(resource: str) -> None:
    with pytest.raises(DownwardError) as refused:
        resource_value(POD, {"resource": resource}, {"name": "c"}, {})
    assert str(refused.value) == f"unsupported container resource : {resource}"
