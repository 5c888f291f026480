"""What a binding makes of a pod, and when it makes nothing of it."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.registry.core.pod.binding import assign_pod
from lifecycle.apiserver.registry.scope import RequestScope

THEN, NOW = "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"
SCHEDULED = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": NOW}
GATE = {"type": "example.com/gate", "status": "True", "lastTransitionTime": THEN}


def pod(meta: Object | None = None, spec: Object | None = None, status: Object | None = None) -> Object:
    named = {"name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "7", "creationTimestamp": THEN}
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {**named, **(meta or {})},
        "spec": {"containers": [], **(spec or {})},
        "status": status if status is not None else {"phase": "Pending"},
    }


def bound(to: Object, **meta: Any) -> Object:
    binding = {"metadata": {"name": "web", **meta}, "target": {"kind": "Node", "name": "one"}}
    return assign_pod(to, binding, RequestScope(resource("pods"), "shop", "web"), NOW)


REFUSED: dict[str, tuple[Object, Object, str]] = {
    "it goes": (
        pod({"deletionTimestamp": NOW}), {}, "pod web is being deleted, cannot be assigned to a host",
    ),
    "it has a node": (pod(spec={"nodeName": "two"}), {}, 'pod web is already assigned to node "two"'),
    "it has this node": (pod(spec={"nodeName": "one"}), {}, 'pod web is already assigned to node "one"'),
    "it waits for somebody": (
        pod(spec={"schedulingGates": [{"name": "g"}]}), {}, "pod web has non-empty .spec.schedulingGates",
    ),
    "it is another one": (
        pod(), {"uid": "other"},
        "Precondition failed: UID in precondition: other, UID in object meta: u",
    ),
    "it has changed": (
        pod(), {"resourceVersion": "6"},
        "Precondition failed: ResourceVersion in precondition: 6, ResourceVersion in object meta: 7",
    ),
    "it goes, and has a node": (
        pod({"deletionTimestamp": NOW}, {"nodeName": "two"}), {}, "pod web is being deleted, cannot be assigned to a host",
    ),
    "it is another one, and goes": (
        pod({"deletionTimestamp": NOW}), {"uid": "other"},
        "Precondition failed: UID in precondition: other, UID in object meta: u",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_pod_that_cannot_be_bound_is_a_conflict(case: str) -> None:
    """Upstream: `BindingREST.setPodNodeAndMetadata`, in this order."""
    to, meta, why = REFUSED[case]
    with pytest.raises(StatusError) as refused:
        bound(to, **meta)
    assert refused.value.code == 409
    assert why in str(refused.value)


@pytest.mark.parametrize("meta", [{}, {"uid": "u"}, {"resourceVersion": "7"}, {"uid": "u", "resourceVersion": "7"}])
@pytest.mark.parametrize("gates", [{}, {"schedulingGates": []}, {"schedulingGates": None}])
def test_one_that_is_as_it_was_thought_to_be_gets_its_node(meta: Object, gates: Object) -> None:
    to = pod(spec=gates)
    made = bound(to, **meta)
    assert made["spec"] == {**to["spec"], "nodeName": "one"}
    assert made["metadata"] == to["metadata"]
    assert {key: made[key] for key in ("kind", "apiVersion")} == {"kind": "Pod", "apiVersion": "v1"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"conditions": [SCHEDULED]}),
        ({"phase": "Pending", "nominatedNodeName": "two"}, {"phase": "Pending", "conditions": [SCHEDULED]}),
        ({"conditions": [GATE]}, {"conditions": [GATE, SCHEDULED]}),
        (
            {
                "conditions": [
                    {
                        "type": "PodScheduled",
                        "status": "False",
                        "reason": "Unschedulable",
                        "message": "no room",
                        "lastTransitionTime": THEN,
                    },
                    GATE,
                ]
            },
            {"conditions": [SCHEDULED, GATE]},
        ),
        (
            {"conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": THEN}]},
            {"conditions": [{**SCHEDULED, "lastTransitionTime": THEN}]},
        ),
    ],
)
def test_it_is_said_to_be_scheduled_and_what_others_say_stays(before: Object, after: Object) -> None:
    """In place of what was said of it before; and no node is kept for it any more."""
    to = pod(status=before)
    assert bound(to)["status"] == after
    assert to["status"] == before, "what is stored is not touched"


@pytest.mark.parametrize("key", ["labels", "annotations"])
@pytest.mark.parametrize(
    ("old", "new", "merged"),
    [
        (None, None, None),
        ({"a": "1"}, None, {"a": "1"}),
        ({"a": "1"}, {}, {"a": "1"}),
        (None, {"b": "2"}, {"b": "2"}),
        ({"a": "1", "b": "1"}, {"b": "2", "c": "3"}, {"a": "1", "b": "2", "c": "3"}),
    ],
)
def test_what_the_binding_says_of_it_goes_over_what_was_said(
    key: str, old: Object | None, new: Object | None, merged: Object | None
) -> None:
    to = pod({} if old is None else {key: old})
    made = bound(to, **({} if new is None else {key: new}))
    assert made["metadata"].get(key) == merged
    assert to["metadata"].get(key) == old
