"""The witness of scenes can say no: each kind of difference between two controllers is told, and what is chance is not."""

from __future__ import annotations

import base64
import copy
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from tests.live.witness import (
    Outcome,
    differences,
    of_a_namespace_that_ends,
    readable,
    untold,
    unwritten,
    writes,
)

POD: Object = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "set-4zkl7",
        "namespace": "scene",
        "generateName": "set-",
        "uid": "11111111-0000-4000-8000-000000000000",
        "labels": {"app": "set"},
    },
    "spec": {"nodeName": "lifecycle-worker", "containers": [{"name": "c", "image": "nginx:1.27"}]},
    "status": {"phase": "Running"},
}


def outcome(*pods: Object, writes: dict[Any, int] | None = None, told: tuple[Any, ...] = ()) -> Outcome:
    lists = {"pods": {"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": list(pods)}} if pods else {}
    return Outcome(lists, Counter(writes or {}), Counter(told))


def test_a_pod_of_another_name_is_the_same_pod() -> None:
    other = copy.deepcopy(POD)
    other["metadata"] |= {"name": "set-x9wd5", "uid": "22222222-0000-4000-8000-000000000000"}
    assert differences(outcome(POD), outcome(other)) == []


@pytest.mark.parametrize(
    ("part", "change"),
    [("metadata", {"labels": {"app": "other"}}), ("spec", {"priority": 1}), ("status", {"phase": "Pending"})],
)
def test_a_field_that_differs_is_told(part: str, change: Object) -> None:
    other = copy.deepcopy(POD)
    other[part] |= change
    assert len(differences(outcome(POD), outcome(other))) == 1


def test_an_object_that_only_one_side_has_is_told() -> None:
    assert differences(outcome(POD), outcome()) != []
    assert differences(outcome(), outcome(POD)) != []


def test_an_event_that_only_one_side_told_is_told_but_not_a_lost_race() -> None:
    event = ("job-controller", "Job", "work", "Normal Completed", "Job completed")
    race = (
        "statefulset-controller",
        "StatefulSet",
        "db",
        "Warning FailedUpdate",
        "the object has been modified; please",
    )
    lost = (*race[:4], "…: the object has been modified; please apply your changes to the latest version and try again")
    assert untold(outcome(told=(event,)), outcome()) == [f"ours only: {event}"]
    assert untold(outcome(), outcome(told=(event,))) == [f"theirs only: {event}"]
    assert untold(outcome(told=(lost,)), outcome()) == []
    assert untold(outcome(told=(race,)), outcome()) != []
    why = 'Failed to create endpoint for service ns/db: endpoints "db" already exists'
    early = ("endpoint-controller", "Endpoints", "db", "Warning FailedToCreateEndpoint", why)
    assert untold(outcome(told=(early,)), outcome()) == []
    for other in (
        ("other-controller", *early[1:]),
        (*early[:4], f"{why} or not"),
        (*early[:4], why.replace("already exists", "is forbidden")),
    ):
        assert untold(outcome(told=(other,)), outcome()) != []


@pytest.mark.parametrize(
    ("write", "ours", "theirs", "tells"),
    [
        (("rs", "create", "pods", "", 201), 3, 2, True),
        (("rs", "delete", "pods", "web-…", 200), 1, 2, True),
        (("rs", "create", "pods", "", 409), 3, 0, False),
        (("rs", "update", "replicasets.apps/status", "web-…", 200), 9, 3, False),
        (("rs", "update", "replicasets.apps/status", "web-…", 200), 10, 3, True),
        (("rs", "update", "replicasets.apps/status", "web-…", 200), 1, 0, True),
        (("generic-garbage-collector", "delete", "configmaps", "held", 200), 1, 2, False),
        (("generic-garbage-collector", "delete", "configmaps", "held", 200), 0, 1, True),
    ],
)
def test_writes_are_counted_as_far_as_they_are_no_chance(write: Any, ours: int, theirs: int, tells: bool) -> None:
    assert bool(unwritten(outcome(writes={write: ours}), outcome(writes={write: theirs}))) is tells


def test_writes_are_read_from_the_audit_log_without_generated_names(tmp_path: Path) -> None:
    def event(user: str, resource: str, name: str, **about: str) -> str:
        reference = {"resource": resource, "name": name, "namespace": "scene", **about}
        answer = {"username": user}
        return json.dumps({"verb": "update", "user": answer, "objectRef": reference, "responseStatus": {"code": 200}})

    log = tmp_path / "audit.log"
    account = "system:serviceaccount:kube-system:replicaset-controller"
    lines = [
        event(account, "replicasets", "web-64c6487bdf", apiGroup="apps", subresource="status"),
        event(account, "pods", "web-64c6487bdf-x9wd5"),
        event(account, "pods", "db-0"),
        event(account, "events", "web.18ea8bea704efa02"),
        event("kubernetes-admin", "pods", "db-0"),
    ]
    log.write_text("\n".join(lines))
    assert writes(log, (account,)) == {
        "scene": Counter(
            {
                ("replicaset-controller", "update", "replicasets.apps/status", "web-…", 200): 1,
                ("replicaset-controller", "update", "pods", "web-…", 200): 1,
                ("replicaset-controller", "update", "pods", "db-0", 200): 1,
            }
        )
    }


def test_who_of_two_clears_a_namespace_is_chance_and_what_only_one_is_after_is_not() -> None:
    cleared = ("namespace-controller", "deletecollection", "pods", "", 200)
    orphaned = ("generic-garbage-collector", "delete", "pods", "web-…", 200)
    kept = ("generic-garbage-collector", "delete", "secrets", "web", 200)
    assert of_a_namespace_that_ends(Counter({cleared: 1, orphaned: 2, kept: 1})) == Counter({cleared: 1, kept: 1})
    assert of_a_namespace_that_ends(Counter({orphaned: 2})) == Counter({orphaned: 2})


def test_a_token_is_read_and_subsets_are_put_in_order() -> None:
    def part(document: Object) -> str:
        return base64.urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")

    token = f"{part({'kid': 'k'})}.{part({'sub': 'robot'})}.signature"
    data = {"token": base64.b64encode(token.encode()).decode(), "ca.crt": base64.b64encode(b"x" * 40).decode()}
    subsets = [{"ports": [{"name": name}], "addresses": [{"ip": name}]} for name in ("http", "dns")]
    shown = readable({"secrets": {"items": [{"data": data}]}, "endpoints": {"items": [{"subsets": subsets}]}})
    assert shown["secrets"]["items"][0]["data"]["token"] == {"sub": "robot"}
    assert [s["addresses"][0]["ip"] for s in shown["endpoints"]["items"][0]["subsets"]] == ["dns", "http"]
    assert data["token"] != {"sub": "robot"}, "what was given is left as it is"


def test_how_often_a_slice_was_written_is_left_to_the_writes_and_what_stands_in_it_is_not() -> None:
    def with_a_slice(generation: int, port: int) -> Outcome:
        found: Object = {
            "metadata": {"name": "db-4zkl7", "namespace": "scene", "generation": generation},
            "ports": [{"port": port}],
        }
        kinds = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSliceList", "metadata": {}}
        return Outcome({"endpointslices.discovery.k8s.io": {**kinds, "items": [found]}})

    assert differences(with_a_slice(4, 80), with_a_slice(6, 80)) == []
    assert len(differences(with_a_slice(4, 80), with_a_slice(4, 81))) == 1
