"""Defaulting, held against objects that a real cluster defaulted."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api import fast_json
from lifecycle.api.defaults.pods import image_tag, pull_policy
from lifecycle.api.schema import decode
from tests.api.test_decode import recorded_objects
from tests.apiserver.registry.by_kind import set_defaults


def defaulted(api_version: str, kind: str, obj: dict[str, Any]) -> dict[str, Any]:
    decoded, _ = decode(obj, api_version, kind)
    set_defaults(decoded)
    return decoded


def test_stored_objects_are_fully_defaulted_already() -> None:
    for obj in recorded_objects():
        if "k8s.io/initial-events-end" in (obj["metadata"].get("annotations") or ()):
            continue  # a bookmark: an empty object
        again = fast_json.loads(fast_json.dumps(obj))
        set_defaults(again)
        assert again == obj


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1.27", "IfNotPresent"),
        ("registry:5000/nginx", "Always"),
        ("registry:5000/a/b:v1", "IfNotPresent"),
        ("nginx@sha256:" + "0" * 64, "IfNotPresent"),
        ("Not An Image", "IfNotPresent"),
        ("", "IfNotPresent"),
    ],
)
def test_pull_policy_follows_the_tag(image: str, policy: str) -> None:
    assert pull_policy(image) == policy


def test_a_digest_without_a_tag_has_no_tag() -> None:
    assert image_tag("nginx") == "latest"
    assert image_tag("nginx@sha256:" + "a" * 64) == ""


def test_requests_follow_limits_in_pods_only() -> None:
    container = {"name": "c", "image": "i", "resources": {"limits": {"cpu": "1"}}}
    pod = defaulted("v1", "Pod", {"spec": {"containers": [container]}})
    assert pod["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1"}
    deployment = defaulted("apps/v1", "Deployment", {"spec": {"template": {"spec": {"containers": [container]}}}})
    assert "requests" not in deployment["spec"]["template"]["spec"]["containers"][0]["resources"]
    assert "enableServiceLinks" not in deployment["spec"]["template"]["spec"]


def test_amounts_are_rounded_up_to_thousandths() -> None:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1500u"}}}
    pod = defaulted("v1", "Pod", {"spec": {"containers": [container]}})
    assert pod["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "2m"}


def test_pod_level_requests_take_the_sum_of_the_containers() -> None:
    def container(name: str, cpu: str) -> dict[str, Any]:
        return {"name": name, "image": "i", "resources": {"requests": {"cpu": cpu}}}

    spec = {
        "containers": [container("a", "100m"), container("b", "200m")],
        "initContainers": [container("i", "1"), {**container("s", "50m"), "restartPolicy": "Always"}],
        "resources": {"limits": {"cpu": "2", "memory": "1Gi"}},
    }
    pod = defaulted("v1", "Pod", {"spec": spec})
    # running: 100m + 200m + 50m of the sidecar = 350m; before them the init container's peak of 1
    assert pod["spec"]["resources"]["requests"] == {"cpu": "1", "memory": "1Gi"}


def test_a_stateful_set_is_ordered_and_keeps_its_claims() -> None:
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    spec = defaulted("apps/v1", "StatefulSet", {"spec": {"volumeClaimTemplates": [claim]}})["spec"]
    assert spec["podManagementPolicy"] == "OrderedReady"
    assert spec["updateStrategy"] == {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Retain"}
    assert spec["volumeClaimTemplates"][0]["spec"]["volumeMode"] == "Filesystem"
    assert spec["volumeClaimTemplates"][0]["status"] == {"phase": "Pending"}


def test_a_kind_without_defaults_is_left_alone() -> None:
    obj = {"apiVersion": "example.com/v1", "kind": "Widget", "spec": {}}
    set_defaults(obj)
    assert obj == {"apiVersion": "example.com/v1", "kind": "Widget", "spec": {}}
