"""Pod ranges, taints, and which controllers run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.controllers.alone import alone
from tests.fake_api import FakeAPI

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.controllers.manager import CONTROLLERS, is_enabled
from lifecycle.controllers.node_lifecycle.labels import labels_to_update
from lifecycle.controllers.node_lifecycle.taints import desired_taints
from lifecycle.controllers.nodeipam import CIDRSet
from lifecycle.controllers.ttl import OBJECT_TTL_ANNOTATION, TTLController


def test_ranges_are_given_out_in_order_and_used_again_last() -> None:
    cidrs = CIDRSet("10.244.0.0/22")
    cidrs.occupy("10.244.1.0/24")
    assert [cidrs.allocate_next() for _ in range(4)] == ["10.244.0.0/24", "10.244.2.0/24", "10.244.3.0/24", None]
    cidrs.release("10.244.2.0/24")
    cidrs.release("192.168.0.0/24")  # not ours
    assert cidrs.allocate_next() == "10.244.2.0/24"


def a_node(taints: list[Any] | None = None, unschedulable: bool = False, **conditions: str) -> Object:
    spec: Object = {"taints": taints or []}
    if unschedulable:
        spec["unschedulable"] = True
    return {"spec": spec, "status": {"conditions": [{"type": t, "status": s} for t, s in conditions.items()]}}


CONTROL_PLANE = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (a_node([CONTROL_PLANE, NOT_READY]), ["control-plane"]),  # no condition, no reason for a taint
        (a_node([CONTROL_PLANE, NOT_READY], Ready="True"), ["control-plane"]),
        (a_node(Ready="False"), ["not-ready", "not-ready"]),  # NoSchedule and NoExecute
        (a_node([NOT_READY], Ready="Unknown"), ["unreachable", "unreachable"]),
        (a_node(Ready="True", MemoryPressure="True", DiskPressure="False"), ["memory-pressure"]),
        (a_node(Ready="True", unschedulable=True), ["unschedulable"]),
        (a_node(PIDPressure="True", NetworkUnavailable="True", Ready="True"), ["pid-pressure", "network-unavailable"]),
    ],
)
def test_taints_follow_conditions(node: Object, expected: list[str]) -> None:
    taints = desired_taints(node, "2026-01-01T00:00:00Z")
    assert [t["key"].partition("/")[2] for t in taints] == expected
    new = [t for t in taints if t not in node["spec"]["taints"]]
    assert all(t["timeAdded"] == "2026-01-01T00:00:00Z" for t in new)  # NoSchedule ones are dated too
    assert desired_taints({**node, "spec": {**node["spec"], "taints": taints}}, "later") == taints


def test_the_old_labels_of_a_node_follow_the_new_ones() -> None:
    def labelled(**labels: str) -> dict[str, str]:
        return labels_to_update({"metadata": {"labels": labels}})

    os, arch = "kubernetes.io/os", "kubernetes.io/arch"
    assert labelled(**{os: "linux", arch: "arm64"}) == {f"beta.{os}": "linux", f"beta.{arch}": "arm64"}
    assert labelled(**{os: "linux", f"beta.{os}": "plan9"}) == {f"beta.{os}": "linux"}
    assert labelled(**{f"beta.{os}": "linux"}) == {}
    assert labels_to_update({"metadata": {}}) == {}


def test_the_ttl_grows_with_the_cluster_and_does_not_flap() -> None:
    informers = SharedInformerFactory(Client(FakeAPI(), "x/1"))
    controller = TTLController(informers.client, informers, clock=Clock(), names=NameSource(1))
    indexer = informers.informer(resource("nodes")).indexer

    def after(count: int) -> int:
        indexer.replace([{"metadata": {"name": str(number)}} for number in range(count)])
        controller.cluster_size_changed()
        return controller.desired_ttl_seconds

    assert [after(count) for count in (1, 100, 101, 95, 90, 89)] == [0, 0, 15, 15, 15, 0]
    assert [after(count) for count in (101, 500, 501, 450, 449)] == [15, 15, 30, 30, 15]
    assert [after(count) for count in (501, 1000, 1001, 900, 899)] == [30, 30, 60, 60, 30]
    assert [after(count) for count in (1001, 2000, 2001, 1800, 1799)] == [60, 60, 300, 300, 60]
    assert [after(count) for count in (2001, 5000, 5001)] == [300] * 3, "there is no longer step"


def test_each_node_is_told_how_long_to_trust_and_only_if_it_is_not_what_it_was_told() -> None:
    async def main() -> None:
        told = {"annotations": {OBJECT_TTL_ANNOTATION: "0"}}
        nodes = [("nodes", {"metadata": {"name": f"n{number:02}"}}) for number in range(99)]
        old = ("nodes", {"metadata": {"name": "told", **told}})
        async with alone(TTLController, *nodes, old) as stage:
            assert len(stage.writes("PATCH")) == 99, "who knows it already is not told again"
            assert {node["metadata"]["annotations"][OBJECT_TTL_ANNOTATION] for node in stage.items("nodes")} == {"0"}
            new: Object = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "one-more"}}
            await stage.client.create(resource("nodes"), new)
            await asyncio.sleep(1)
            waits = {n["metadata"]["name"]: n["metadata"]["annotations"] for n in stage.items("nodes")}
            changed = [name for name, notes in waits.items() if notes != {OBJECT_TTL_ANNOTATION: "0"}]
            assert changed == ["one-more"], "the others are told when something else happens to them"
            assert waits["one-more"] == {OBJECT_TTL_ANNOTATION: "15"}
            await stage.client.patch(resource("nodes"), "told", "", {"spec": {"unschedulable": True}})
            await stage.client.delete(resource("nodes"), "n00", "")
            await asyncio.sleep(1)
            (found,) = [n for n in stage.items("nodes") if n["metadata"]["name"] == "told"]
            assert found["metadata"]["annotations"] == {OBJECT_TTL_ANNOTATION: "15"}

    run_virtual(main())


def test_controllers_can_be_chosen() -> None:
    assert is_enabled("deployment-controller", "*")
    assert not is_enabled("deployment-controller", "*,-deployment-controller")
    assert is_enabled("deployment-controller", ["deployment-controller"])
    assert not is_enabled("replicaset-controller", ["deployment-controller"])
    assert "replicaset-controller" in CONTROLLERS


def test_the_first_word_about_a_controller_decides() -> None:
    assert not is_enabled("job-controller", "-job-controller,job-controller")
    assert is_enabled("job-controller", "job-controller,-job-controller")
    assert not is_enabled("job-controller", "-job-controller,*")
