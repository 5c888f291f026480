"""When what a command asked for is there, and how the journey says what it was followed through."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.resources import resource
from lifecycle.api.tracing import span
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.follow import DEFAULT_COMMAND, _provenance, _wrote, has_pods, is_settled
from lifecycle.cri.hollow.step_times import RECORDED
from lifecycle.trace import SpanRecorder


def workload(generation: int | None = 1, wanted: int | None = 3, **status: int) -> dict[str, Any]:
    metadata = {} if generation is None else {"generation": generation}
    spec = {} if wanted is None else {"replicas": wanted}
    return {"kind": "Deployment", "metadata": metadata, "spec": spec, "status": status}


def pod(phase: str = "Running", **conditions: str) -> dict[str, Any]:
    listed = [{"type": name, "status": status} for name, status in conditions.items()]
    return {"kind": "Pod", "metadata": {}, "spec": {}, "status": {"phase": phase, "conditions": listed}}


@pytest.mark.parametrize(
    ("obj", "settled"),
    [
        (workload(observedGeneration=1, readyReplicas=3, replicas=3), True),
        (workload(observedGeneration=2, readyReplicas=3, replicas=3), True),
        (workload(2, observedGeneration=1, readyReplicas=3, replicas=3), False),
        (workload(readyReplicas=3, replicas=3), False),
        (workload(None, readyReplicas=3, replicas=3), True),
        (workload(observedGeneration=1, readyReplicas=2, replicas=3), False),
        (workload(observedGeneration=1, readyReplicas=3, replicas=4), False),
        (workload(observedGeneration=1, readyReplicas=3), False),
        (workload(observedGeneration=1, replicas=3), False),
        (workload(1, 0, observedGeneration=1), True),
        (workload(1, None, observedGeneration=1, readyReplicas=1, replicas=1), True),
        (workload(1, None, observedGeneration=1), False),
        ({"kind": "ReplicaSet", "metadata": {"generation": 1}, "spec": {"replicas": 1}}, False),
        (pod(Ready="True"), True),
        (pod(Ready="False"), False),
        (pod(PodScheduled="True"), False),
        (pod(PodScheduled="False", Ready="True"), True),
        (pod("Succeeded", Ready="False"), True),
        (pod("Failed"), True),
        (pod("Pending"), False),
        ({"kind": "Pod", "metadata": {}, "spec": {}}, False),
    ],
)
def test_a_workload_is_settled_with_all_its_pods_and_a_pod_when_it_is_ready_or_has_ended(
    obj: Any, settled: bool
) -> None:
    assert is_settled(obj) is settled


@pytest.mark.parametrize(
    ("name", "pods"),
    [
        ("deployments.apps", True),
        ("replicasets.apps", True),
        ("pods", True),
        ("services", False),
        ("daemonsets.apps", False),
        ("configmaps", False),
    ],
)
def test_some_objects_become_pods(name: str, pods: bool) -> None:
    assert has_pods(resource(name)) is pods


@pytest.mark.parametrize(
    ("component", "name", "attributes", "wrote"),
    [
        ("kubectl", "request", {"method": "POST", "uid": "u"}, True),
        ("kubectl", "request", {"method": "PUT", "uid": "u"}, True),
        ("kubectl", "request", {"method": "PATCH", "uid": "u"}, True),
        ("kubectl", "request", {"method": "DELETE", "uid": "u"}, False),
        ("kubectl", "request", {"method": "GET", "uid": "u"}, False),
        ("kubectl", "request", {"method": "POST", "uid": ""}, False),
        ("kubectl", "request", {"method": "POST"}, False),
        ("kubectl", "request", {"uid": "u"}, False),
        ("kubectl", "print", {"method": "POST", "uid": "u"}, False),
        ("scheduler", "request", {"method": "POST", "uid": "u"}, False),
    ],
)
def test_what_kubectl_has_written_is_followed(component: str, name: str, attributes: Any, wrote: bool) -> None:

    with SpanRecorder() as recorder, span(component, name, **attributes):
        pass
    (recorded,) = recorder.spans
    assert _wrote(recorded) is wrote


@pytest.mark.parametrize(
    ("latency", "words"),
    [
        (RECORDED, "the embedded cluster, at a recorded pace"),
        (0.0, "the embedded cluster"),
        (0.05, "the embedded cluster, 0.05 s a step"),
        (2.0, "the embedded cluster, 2 s a step"),
    ],
)
def test_a_journey_says_at_which_pace_it_went(latency: Any, words: str) -> None:
    assert _provenance(ClusterConfig(latency=latency)) == words


def test_the_books_own_command_is_followed_unless_another_is_named() -> None:
    assert " ".join(DEFAULT_COMMAND) == "create deployment nginx --image=nginx --replicas=3"
