"""The writes of a journey: what each request made of its object, and who owns the fields."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lifecycle.inspector import open_recording
from lifecycle.trace.recorded import component_of, requests_of
from lifecycle.trace.writes import Write, owners_of, writes_of


def entry(verb: str, resource: str, answer: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "stage": "ResponseComplete",
        "verb": verb,
        "userAgent": "kubectl/v1.36.2",
        "objectRef": {"resource": resource, "name": answer["metadata"]["name"]} | more.pop("ref", {}),
        "responseStatus": {"code": 200},
        "responseObject": answer,
        "requestReceivedTimestamp": "2026-11-21T01:58:59.000000Z",
        "stageTimestamp": "2026-11-21T01:58:59.010000Z",
    } | more


def deployment(**spec: Any) -> dict[str, Any]:
    return {"kind": "Deployment", "metadata": {"name": "nginx", "uid": "1"}, "spec": {"replicas": 3} | spec}


def marks(write: Write) -> list[str]:
    return [f"{line.change}{'  ' * line.depth}{line.text}" for line in write.lines if line.change]


@pytest.fixture(scope="module")
def recorded() -> list[Write]:
    log = [json.loads(line) for line in open_recording().text("audit/journey.jsonl").splitlines()]
    return list(writes_of(requests_of(log)))


def test_the_first_write_is_all_new_and_its_fields_belong_to_kubectl(recorded):
    first = recorded[0]
    assert {line.change for line in first.lines} == {"+"}
    assert {line.owner for line in first.lines} == {"", "kubectl-create"}
    assert [line.text for line in first.lines if line.text.startswith("replicas")] == ["replicas: 3"]


def test_a_binding_changes_nothing_of_its_pod_but_the_node(recorded):
    bindings = [write for write in recorded if write.stage == "bind"]
    assert len(bindings) == 3
    for binding in bindings:
        assert [mark.partition(":")[0] for mark in marks(binding)] == ["+  nodeName"]


def test_the_last_write_is_the_one_that_says_all_are_ready(recorded):
    assert "readyReplicas: 3" in [line.text for line in recorded[-1].lines]
    assert all("readyReplicas: 3" not in [x.text for x in w.lines] or "replicaset" in w.about for w in recorded[:-1])


def test_changes_are_told_apart_new_other_and_gone():
    before = deployment(paused=True, template={"containers": [{"name": "a"}, {"name": "b"}]})
    after = deployment(replicas=4, strategy={}, template={"containers": [{"name": "a"}]})
    log = [entry("create", "deployments", before), entry("update", "deployments", after)]
    _, update = writes_of(requests_of(log))
    assert marks(update) == ["~  replicas: 4", "+  strategy: {}", "-      - name: b", "-  paused: true"]


def test_owners_are_found_through_keys_and_values_of_lists():
    obj = {
        "spec": {"containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}], "finalizers": ["f"]},
        "metadata": {
            "managedFields": [
                {
                    "manager": "me",
                    "fieldsV1": {
                        "f:spec": {
                            "f:containers": {'k:{"name":"b"}': {"f:image": {}}},
                            "f:finalizers": {'v:"f"': {}},
                            "f:gone": {},
                        }
                    },
                }
            ]
        },
    }
    assert owners_of(obj) == {("spec", "containers", "1", "image"): "me", ("spec", "finalizers", "0"): "me"}


def test_the_youngest_owner_is_named():
    entries = [
        {"manager": "late", "time": "2026-02-01T00:00:00Z", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
        {"manager": "early", "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
    ]
    assert owners_of({"spec": {"replicas": 1}, "metadata": {"managedFields": entries}}) == {
        ("spec", "replicas"): "late"
    }


def test_a_field_belongs_to_whoever_owns_the_nearest_part_around_it():
    made = deployment(template={"spec": {"hostNetwork": True}})
    made["metadata"]["managedFields"] = [
        {"manager": "of-it-all", "fieldsV1": {"f:spec": {}}},
        {"manager": "of-the-template", "fieldsV1": {"f:spec": {"f:template": {}}}},
    ]
    (write,) = writes_of(requests_of([entry("create", "deployments", made)]))
    owners = {line.text.partition(":")[0]: line.owner for line in write.lines}
    assert owners["replicas"] == "of-it-all"
    assert owners["hostNetwork"] == "of-the-template"
    assert owners["kind"] == ""


def test_a_log_without_the_creation_is_said():
    with pytest.raises(LookupError, match=r"no creation of deployment web in the audit log$"):
        requests_of([entry("create", "deployments", deployment())], "web")


def test_a_controller_is_known_by_its_account():
    account = {"username": "system:serviceaccount:kube-system:replicaset-controller"}
    assert component_of({"user": account, "userAgent": "kube-controller-manager/v1.36.2"}) == "replicaset-controller"
    assert component_of({"userAgent": "kube-scheduler/v1.36.2 (linux/amd64)/scheduler"}) == "scheduler"
