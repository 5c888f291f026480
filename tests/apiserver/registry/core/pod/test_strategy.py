"""Pods: what the registry keeps and resets, and how long a deleted one may live on."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.apiserver.registry.core.pod.strategy import STRATEGY, check_graceful_delete
from lifecycle.apiserver.registry.rest.create import before_create
from lifecycle.apiserver.registry.rest.update import before_update


def pod(*resources: dict[str, Any], **spec: Any) -> dict[str, Any]:
    containers = [{"name": f"c{i}", "image": "i:1", "resources": r} for i, r in enumerate(resources)]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers, **spec}}


def test_a_held_back_pod_says_so_from_the_start() -> None:
    obj = pod({}, schedulingGates=[{"name": "example.com/wait"}])
    before_create(STRATEGY, obj)
    assert obj["status"]["phase"] == "Pending"
    assert obj["status"]["conditions"][0]["reason"] == "SchedulingGated"


def test_match_label_keys_are_written_into_the_selector_once() -> None:
    constraint = {
        "topologyKey": "zone",
        "matchLabelKeys": ["hash", "absent"],
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    obj = pod({}, topologySpreadConstraints=[constraint])
    obj["metadata"]["labels"] = {"hash": "abc"}
    before_create(STRATEGY, obj)
    selector = obj["spec"]["topologySpreadConstraints"][0]["labelSelector"]
    assert selector["matchExpressions"] == [{"key": "hash", "operator": "In", "values": ["abc"]}]


def test_a_kubelet_that_does_not_know_qos_or_generations_cannot_erase_them() -> None:
    old = pod({})
    old["status"] = {
        "qosClass": "BestEffort",
        "observedGeneration": 1,
        "conditions": [{"type": "Ready", "observedGeneration": 1}],
    }
    new = pod({})
    new["status"] = {"conditions": [{"type": "Ready", "status": "True"}]}
    before_update(STRATEGY, new, old, "status")
    assert new["status"]["qosClass"] == "BestEffort"
    assert new["status"]["observedGeneration"] == 1
    assert new["status"]["conditions"][0]["observedGeneration"] == 1


def test_ephemeral_containers_are_all_that_their_subresource_changes() -> None:
    old = pod({}, nodeName="worker") | {"status": {"phase": "Running"}}
    new = pod({}, nodeName="other", ephemeralContainers=[{"name": "debug"}])
    new["metadata"] = {"name": "p", "labels": {"a": "b"}, "resourceVersion": "7"}
    before_update(STRATEGY, new, old, "ephemeralcontainers")
    assert new["spec"] == old["spec"] | {"ephemeralContainers": [{"name": "debug"}]}
    assert "labels" not in new["metadata"]
    assert new["status"] == {"phase": "Running"}
    assert new["metadata"]["generation"] == 1


@pytest.mark.parametrize(
    ("spec", "status", "requested", "seconds"),
    [
        ({"nodeName": "w", "terminationGracePeriodSeconds": 5}, {}, None, 5),
        ({"nodeName": "w"}, {}, None, 30),
        ({"nodeName": "w", "terminationGracePeriodSeconds": 5}, {}, 60, 60),
        ({"nodeName": "w"}, {}, 0, 0),
        ({"nodeName": "w", "terminationGracePeriodSeconds": -1}, {}, None, 1),
        ({"terminationGracePeriodSeconds": 5}, {}, 60, 0),
        ({"nodeName": "w"}, {"phase": "Succeeded"}, 60, 0),
    ],
)
def test_a_pod_lives_on_as_long_as_a_kubelet_needs(
    spec: dict[str, Any], status: dict[str, Any], requested: int | None, seconds: int
) -> None:
    assert check_graceful_delete(pod({}, **spec) | {"status": status}, requested) == seconds


def test_the_node_and_the_phase_of_a_pod_can_be_selected_by() -> None:
    assert "spec.nodeName" in STRATEGY.field_labels.labels
    fields = STRATEGY.field_labels.selectable_fields(pod({}, nodeName="worker"))
    assert fields["spec.nodeName"] == "worker"
    assert fields["spec.hostNetwork"] == "false"
    assert fields["status.phase"] == ""
