"""A real cluster's audit log and watch as a journey."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from lifecycle.trace.journey import Step
from lifecycle.trace.recorded import component_of, recorded_journey, requests_of


def stamp(seconds: float) -> str:
    return f"2026-11-21T01:58:{seconds:09.6f}Z"


def request(
    start: float, verb: str, resource: str, name: str, uid: str = "", owner: str = "", sub: str = "", **more: Any
) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "resourceVersion": f"{start}"}
    if uid:
        metadata["uid"] = uid
    if owner:
        metadata["ownerReferences"] = [{"uid": "stranger"}, {"uid": owner}]
    return {
        "stage": "ResponseComplete",
        "verb": verb,
        "userAgent": "kubectl/v1.36.2 (linux/amd64) kubernetes/abc",
        "objectRef": {"resource": resource, "name": name} | ({"subresource": sub} if sub else {}),
        "responseStatus": {"code": 201},
        "responseObject": {"metadata": metadata},
        "requestReceivedTimestamp": stamp(start),
        "stageTimestamp": stamp(start + 0.5),
    } | more


def by(account: str) -> dict[str, Any]:
    return {
        "user": {"username": f"system:serviceaccount:kube-system:{account}"},
        "userAgent": f"kube-controller-manager/v1.36.2 (linux/amd64) kubernetes/abc/system:serviceaccount:kube-system:{account}",
    }


KUBELET = {"userAgent": "kubelet/v1.36.2 (linux/amd64) kubernetes/abc"}
LOG = [
    request(1, "create", "deployments", "earlier", "d0"),
    request(9, "patch", "deployments", "nginx", "d1"),  # before its creation, as far as the clock goes
    {**request(10, "create", "deployments", "nginx", "d1"), "stage": "RequestReceived"},
    request(10, "create", "deployments", "nginx", "d1"),
    request(12, "create", "replicasets", "", "r1", "d1", **by("deployment-controller"))
    | {"objectRef": {"resource": "replicasets"}},
    request(11, "create", "replicasets", "earlier-1", "r0", "d0", **by("deployment-controller")),
    request(14, "create", "pods", "nginx-1-a", "p1", "r1", **by("replicaset-controller")),
    request(15, "get", "pods", "nginx-1-a", "p1"),
    request(15, "list", "pods", "nginx-1-a", "p1"),
    request(15, "watch", "pods", "nginx-1-a", "p1"),
    request(16, "create", "pods", "nginx-1-a", sub="binding", userAgent="kube-scheduler/v1.36.2 (x) y/scheduler")
    | {"responseObject": None},
    request(16, "create", "pods", "earlier-1-a", sub="binding", userAgent="kube-scheduler/v1.36.2 (x) y/scheduler"),
    request(17, "create", "events", "e1", "e1")
    | {"responseObject": {"metadata": {"uid": "e1"}, "involvedObject": {"uid": "p1"}}},
    request(17, "create", "events", "e0", "e0")
    | {"responseObject": {"metadata": {"uid": "e0"}, "involvedObject": {"uid": "p0"}}},
    request(18, "patch", "pods", "nginx-1-a", "p1", sub="status", **KUBELET),
    request(19, "update", "replicasets", "nginx-1", "r1", sub="status", **by("replicaset-controller")),
    request(20, "update", "leases", "node-1", "l1", **KUBELET),
    request(30, "delete", "deployments", "nginx", "d1"),
]
EXPECTED = [
    ("kubectl", "create Deployment", 0.0, "deployments/nginx"),
    ("deployment-controller", "create ReplicaSet", 2.0, "replicasets/"),
    ("replicaset-controller", "create Pod", 4.0, "pods/nginx-1-a"),
    ("scheduler", "bind", 6.0, "pods/nginx-1-a"),
    ("kubelet", "status", 8.0, "pods/nginx-1-a"),
    ("replicaset-controller", "status of ReplicaSet", 9.0, "replicasets/nginx-1"),
    ("kubectl", "delete Deployment", 20.0, "deployments/nginx"),
]


def shape(steps: list[Step]) -> list[tuple[str, str, float, str]]:
    return [(step.component, step.stage, round(step.start, 3), step.about) for step in steps]


def test_ownership_bindings_and_writes_make_a_journey():
    assert shape([step for step, _ in requests_of(LOG)]) == EXPECTED


def test_events_of_its_objects_belong_if_asked_for():
    assert shape([step for step, _ in requests_of(LOG, events=True)]) == [
        *EXPECTED[:4], ("kubectl", "create Event", 7.0, "events/e1"), *EXPECTED[4:]
    ]  # fmt: skip


def test_a_step_lasts_from_the_request_to_its_answer_and_keeps_the_code():
    step, entry = requests_of(LOG)[1]
    assert (round(step.end, 3), step.depth, step.attributes) == (2.5, 0, {"code": 201})
    assert entry["objectRef"] == {"resource": "replicasets"}


@pytest.mark.parametrize(
    ("entry", "component"),
    [
        (by("endpointslice-controller"), "endpointslice-controller"),
        (by("endpoint-controller"), "endpoint-controller"),
        (by("generic-garbage-collector"), "generic-garbage-collector"),
        (KUBELET, "kubelet"),
        ({"userAgent": "kubectl/v1.36.2"}, "kubectl"),
        ({"userAgent": "kube-scheduler/v1.36.2"}, "scheduler"),
        ({"userAgent": "coredns/1.14"}, "coredns"),
        ({}, ""),
    ],
)
def test_who_sent_a_request(entry, component):
    assert component_of(entry) == component


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The watch's clock began 100 seconds after the audit log's minute, give or take."""
    recording = tmp_path / "some-cluster"
    for part in ("audit", "watch"):
        (recording / part).mkdir(parents=True)
    write(recording, "audit", LOG)
    write(recording, "watch", WATCH)
    return recording


def write(folder: Path, part: str, lines: list[dict[str, Any]]) -> None:
    (folder / part / "journey.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def seen(t: float, resource: str, version: str, **more: Any) -> dict[str, Any]:
    return {
        "t": t,
        "path": f"/apis/apps/v1/namespaces/default/{resource}?watch=1",
        "event": {"object": {"kind": "Other", "metadata": {"name": "nginx", "resourceVersion": version}} | more},
    }


def deployment(t: float, name: str, ready: int) -> dict[str, Any]:
    return {
        "t": t,
        "path": "/apis/apps/v1/deployments",
        "event": {
            "object": {
                "kind": "Deployment",
                "metadata": {"name": name},
                "spec": {"replicas": 1},
                "status": {"readyReplicas": ready},
            }
        },
    }


WATCH = [
    {"t": 0.0, "path": "/apis/apps/v1/deployments", "event": {"type": "BOOKMARK", "object": None}},
    seen(2.51, "replicasets", "12"),
    seen(4.52, "pods", "14"),
    seen(8.58, "pods", "18"),
    seen(0.1, "replicasets", "14"),  # another resource at this version
    deployment(5.0, "earlier", 1),
    deployment(8.0, "nginx", 0),
    deployment(8.8, "nginx", 1),
    deployment(9.8, "nginx", 1),
]


def test_a_journey_ends_when_all_pods_are_ready_by_the_watch_on_the_audit_logs_clock(folder):
    journey = recorded_journey(folder)
    assert (journey.title, journey.provenance) == ("deployments/nginx", "some-cluster (kubectl v1.36.2, recorded)")
    assert shape(list(journey.steps)) == [*EXPECTED[:5], ("watch", "all pods ready", 8.78, "nginx")]
    assert journey.duration == pytest.approx(8.78)


def test_without_a_common_version_the_clocks_are_taken_as_one(folder):
    creation = datetime.fromisoformat(stamp(10)).timestamp()
    write(folder, "watch", [deployment(creation + 5, "nginx", 1)])
    journey = recorded_journey(folder)
    assert shape(list(journey.steps)) == [*EXPECTED[:3], ("watch", "all pods ready", 5.0, "nginx")]


def test_a_journey_that_never_ends_has_all_its_steps(folder):
    write(folder, "watch", WATCH[:7])
    assert shape(list(recorded_journey(folder).steps)) == EXPECTED


def test_another_deployment_of_the_log_has_its_own_journey(folder):
    write(folder, "watch", WATCH[:5])
    journey = recorded_journey(str(folder), name="earlier")
    assert shape(list(journey.steps)) == [
        ("kubectl", "create Deployment", 0.0, "deployments/earlier"),
        ("deployment-controller", "create ReplicaSet", 10.0, "replicasets/earlier-1"),
        ("scheduler", "bind", 15.0, "pods/earlier-1-a"),
    ]
    assert journey.title == "deployments/earlier"


def test_a_recording_without_the_creation_is_named(folder):
    with pytest.raises(LookupError, match=r"some-cluster: no creation of deployment other in the audit log$"):
        recorded_journey(folder, name="other")
