"""All limit ranges of a namespace count; and the node's zone is the truth."""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.admission.limit_ranger import LimitRanger
from lifecycle.apiserver.admission.pod_topology_labels import PodTopologyLabels
from lifecycle.apiserver.storage.object_reader import StaticReader

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"


def _range(name: str, **limit: Object) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"limits": [{"type": "Container", **limit}]},
    }


def _pod(**resources: Object) -> Attributes:
    pod: Object = {
        "metadata": {"name": "p", "namespace": "shop"},
        "spec": {"containers": [{"name": "c", "image": "nginx", "resources": resources}]},
    }
    return Attributes(CREATE, resource("pods"), "", "shop", "p", pod)


CPU, MEMORY = _range("a", max={"cpu": "1"}), _range("b", max={"memory": "1Gi"})


@pytest.mark.parametrize(
    ("limits", "refused"),
    [
        ({"cpu": "1", "memory": "1Gi"}, ""),
        ({"cpu": "2", "memory": "1Gi"}, "cpu"),
        ({"cpu": "1", "memory": "2Gi"}, "memory"),
    ],
)
@pytest.mark.parametrize("ranges", [[CPU, MEMORY], [MEMORY, CPU]])
def test_a_pod_keeps_within_each_of_them(limits: Object, refused: str, ranges: list[Object]) -> None:
    asked = _pod(limits=limits, requests=limits)
    plugin = LimitRanger(StaticReader(ranges))
    if not refused:
        return plugin.validate(asked)
    with pytest.raises(StatusError, match=f"maximum {refused} usage per Container"):
        plugin.validate(asked)


@pytest.mark.parametrize(("going", "filled_in"), [(False, {"limits": {"cpu": "1"}}), (True, {})])
def test_whoever_goes_away_is_left_as_it_is(going: bool, filled_in: Object) -> None:
    created = _pod().obj
    assert created is not None
    ends = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if going else {}
    old = {**created, "metadata": {**created["metadata"], **ends}}
    asked = Attributes(UPDATE, resource("pods"), "resize", "shop", "p", created, old)
    plugin = LimitRanger(StaticReader([_range("a", default={"cpu": "1"}, max={"cpu": "2"})]))
    plugin.admit(asked)
    plugin.validate(asked)  # nothing of it is out of bounds, or nobody looks
    assert created["spec"]["containers"][0]["resources"] == filled_in


def test_what_one_does_not_say_the_next_fills_in() -> None:
    asked = _pod()
    first, second = _range("a", default={"cpu": "1"}), _range("b", default={"cpu": "2", "memory": "1Gi"})
    LimitRanger(StaticReader([first, second])).admit(asked)
    assert asked.obj is not None
    assert asked.obj["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "1", "memory": "1Gi"}


def test_what_a_pod_says_of_its_zone_is_put_right() -> None:
    node: Object = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "here", "labels": {ZONE: "z", "kubernetes.io/hostname": "here"}},
    }
    pod: Object = {
        "metadata": {"name": "p", "namespace": "shop", "labels": {ZONE: "wished", REGION: "own", "app": "web"}},
        "spec": {"nodeName": "here"},
    }
    PodTopologyLabels(StaticReader([node])).admit(Attributes(CREATE, resource("pods"), "", "shop", "p", pod))
    assert pod["metadata"]["labels"] == {ZONE: "z", REGION: "own", "app": "web"}


@pytest.mark.parametrize(
    ("subresource", "obj", "labels"),
    [
        ("binding", {"target": {"kind": "Node", "name": "here"}}, {ZONE: "z"}),
        (
            "binding",
            {"metadata": {"labels": {"a": "b"}}, "target": {"kind": "Node", "name": "here"}},
            {"a": "b", ZONE: "z"},
        ),
        ("binding", {"target": {"kind": "Node", "name": "nowhere"}}, {}),
        ("binding", {"target": {"kind": "Machine", "name": "here"}}, {}),  # as refused later on
        ("binding", {"target": {"name": "here"}}, {}),
        ("binding", {}, {}),
        ("", {"metadata": {}, "spec": {"nodeName": "here"}}, {ZONE: "z"}),
        ("", {"metadata": {}, "spec": {"nodeName": "nowhere"}}, {}),
        ("", {"metadata": {}, "spec": {}}, {}),
    ],
)
def test_a_pod_learns_its_zone_when_a_node_is_named(subresource: str, obj: Object, labels: Object) -> None:
    node: Object = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "here", "labels": {ZONE: "z", "c": "d"}}}
    PodTopologyLabels(StaticReader([node])).admit(Attributes(CREATE, resource("pods"), subresource, "shop", "p", obj))
    assert ((obj.get("metadata") or {}).get("labels") or {}) == labels
