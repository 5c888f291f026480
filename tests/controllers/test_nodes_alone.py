"""Nodes and their pods with nobody else there: taints that come and go, evictions, garbage."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.controllers.alone import Alone, alone, refusing

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, format_time, run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import failure
from lifecycle.controllers.node_lifecycle.node_lifecycle_controller import NodeLifecycleController
from lifecycle.controllers.nodeipam import CIDRSet, NodeIPAMController
from lifecycle.controllers.podgc.gc_controller import PodGCController
from lifecycle.controllers.taint_eviction.taint_eviction_controller import TaintEvictionController

NODES, PODS = resource("nodes"), resource("pods")
EVICT = {"key": "k", "effect": "NoExecute"}


def node(
    name: str = "a", *taints: Object, ready: str = "True", labels: Object | None = None, **spec: Any
) -> tuple[str, Object]:
    stamp = format_time(VIRTUAL_EPOCH)
    condition = {"type": "Ready", "status": ready, "lastHeartbeatTime": stamp, "lastTransitionTime": stamp}
    return "nodes", {
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"taints": list(taints), **spec} if taints else spec,
        "status": {"conditions": [condition]},
    }


def pod(name: str, on: str = "a", *tolerations: Object, phase: str = "Running", **meta: Any) -> tuple[str, Object]:
    spec = {"tolerations": list(tolerations), **({"nodeName": on} if on else {})}
    status = {"phase": phase, **meta.pop("status", {})}
    return "pods", {"metadata": {"name": name, "namespace": "ns", **meta}, "spec": spec, "status": status}


def names(stage: Alone) -> list[str]:
    return sorted(each["metadata"]["name"] for each in stage.items("pods"))


async def change(stage: Alone, name: str, **spec: Any) -> None:
    body = await stage.client.get(NODES, name, "")
    await stage.client.update(NODES, {**body, "spec": {**body["spec"], **spec}})
    await asyncio.sleep(0.1)


def keys(stage: Alone, name: str = "a") -> list[str]:
    (found,) = [each for each in stage.items("nodes") if each["metadata"]["name"] == name]
    return [f"{each['key']}:{each['effect']}" for each in found["spec"].get("taints") or ()]


def test_a_node_that_takes_no_new_pods_has_a_taint_until_it_does_again() -> None:
    async def main() -> None:
        async with alone(NodeLifecycleController, node()) as stage:
            assert keys(stage) == []
            await change(stage, "a", unschedulable=True)
            assert keys(stage) == ["node.kubernetes.io/unschedulable:NoSchedule"]
            await change(stage, "a", unschedulable=None)
            assert keys(stage) == []

    run_virtual(main())


def test_a_condition_of_a_node_is_a_taint_and_a_heartbeat_is_none() -> None:
    async def main() -> None:
        async with alone(NodeLifecycleController, node()) as stage:
            body = await stage.client.get(NODES, "a", "")
            pressed = {"type": "MemoryPressure", "status": "True"}
            status = {"conditions": [*body["status"]["conditions"], pressed]}
            await stage.client.update(NODES, {**body, "status": status}, subresource="status")
            await asyncio.sleep(0.1)
            assert keys(stage) == ["node.kubernetes.io/memory-pressure:NoSchedule"]
            asked: list[str] = []
            stage.controller._queue.add = asked.append
            body = await stage.client.get(NODES, "a", "")
            beat = [{**each, "lastHeartbeatTime": "later"} for each in body["status"]["conditions"]]
            await stage.client.update(NODES, {**body, "status": {"conditions": beat}}, subresource="status")
            await asyncio.sleep(0.1)
            assert asked == []

    run_virtual(main())


def test_the_old_labels_of_a_node_are_written() -> None:
    async def main() -> None:
        labels = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64"}
        async with alone(NodeLifecycleController, node(labels=labels)) as stage:
            (found,) = stage.items("nodes")
            old = {f"beta.{key}": value for key, value in labels.items()}
            assert found["metadata"]["labels"] == labels | old
            await stage.client.patch(NODES, "a", "", {"metadata": {"labels": {"beta.kubernetes.io/os": "plan9"}}})
            await asyncio.sleep(0.1)
            assert stage.items("nodes")[0]["metadata"]["labels"] == labels | old

    run_virtual(main())


def test_nodes_that_come_and_go_are_told() -> None:
    async def main() -> None:
        async with alone(NodeLifecycleController, node()) as stage:
            await stage.client.delete(NODES, "a", "")
            await asyncio.sleep(0.1)
            assert stage.told() == [
                ("Normal", "RegisteredNode", "Node a event: Registered Node a in Controller"),
                ("Normal", "RemovingNode", "Node a event: Removing Node a from Controller"),
            ]
            about = [event["involvedObject"] for event in stage.items("events")]
            assert about == [{"kind": "Node", "apiVersion": "v1", "name": "a", "uid": "a"}] * 2

    run_virtual(main())


def test_who_does_not_tolerate_goes_at_once_and_who_does_for_a_while_goes_then() -> None:
    async def main() -> None:
        ever = {"key": "k", "operator": "Exists", "effect": "NoExecute"}
        objects = (
            node("a", EVICT),
            node("b"),
            pod("no"),
            pod("other", "a", {"key": "other", "operator": "Exists"}),
            pod("while", "a", {**ever, "tolerationSeconds": 60}),
            pod("ever", "a", ever),
            pod("elsewhere", "b"),
            pod("nowhere", ""),
        )
        async with alone(TaintEvictionController, *objects) as stage:
            await asyncio.sleep(1)
            assert names(stage) == ["elsewhere", "ever", "nowhere", "while"]
            assert ("Normal", "TaintManagerEviction", "Marking for deletion Pod ns/no") in stage.told()
            await asyncio.sleep(57)
            assert "while" in names(stage)
            await asyncio.sleep(3)
            assert names(stage) == ["elsewhere", "ever", "nowhere"]

    run_virtual(main())


def test_pods_that_come_to_a_tainted_node_or_lose_patience_there_go_too() -> None:
    async def main() -> None:
        ever = {"key": "k", "operator": "Exists", "effect": "NoExecute"}
        async with alone(TaintEvictionController, node("a", EVICT), pod("late", ""), pod("ever", "a", ever)) as stage:
            _, new = pod("new")
            await stage.client.create(PODS, new, "ns")
            await asyncio.sleep(1)
            assert names(stage) == ["ever", "late"]
            late = await stage.client.get(PODS, "late", "ns")
            await stage.client.update(PODS, {**late, "spec": {**late["spec"], "nodeName": "a"}})
            await asyncio.sleep(1)
            assert names(stage) == ["ever"]
            body = await stage.client.get(PODS, "ever", "ns")
            await stage.client.update(PODS, {**body, "spec": {**body["spec"], "tolerations": []}})
            await asyncio.sleep(1)
            assert names(stage) == []

    run_virtual(main())


def test_an_eviction_is_called_off_when_the_taint_goes_and_nothing_is_left_of_a_node_that_goes() -> None:
    async def main() -> None:
        wait = {"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}
        async with alone(TaintEvictionController, node("a", EVICT), pod("p", "a", wait)) as stage:
            await asyncio.sleep(30)
            await change(stage, "a", taints=[])
            await asyncio.sleep(60)
            assert names(stage) == ["p"]
            assert stage.told() == [("Normal", "TaintManagerEviction", "Cancelling deletion of Pod ns/p")]
            await change(stage, "a", taints=[EVICT])
            await stage.client.delete(NODES, "a", "")
            await stage.client.delete(PODS, "p", "ns")
            _, new = pod("new")
            await stage.client.create(PODS, new, "ns")
            await asyncio.sleep(100)
            assert names(stage) == ["new"]

    run_virtual(main())


def test_a_refused_eviction_is_tried_a_few_times_more() -> None:
    async def main() -> None:
        refuse = refusing("DELETE", "/pods/p")
        async with alone(TaintEvictionController, node("a", EVICT), pod("p"), refuse=refuse) as stage:
            await asyncio.sleep(0.015)
            stage.api.refuse = lambda request: None
            await asyncio.sleep(1)
            assert names(stage) == []
        gone = refusing("DELETE", "/pods/p", failure(404, "NotFound", "gone"))
        async with alone(TaintEvictionController, node("a", EVICT), pod("p"), refuse=gone) as stage:
            await asyncio.sleep(5)
            assert len(stage.writes("DELETE")) == 1

    run_virtual(main())


def test_pods_of_nodes_that_are_gone_and_those_that_never_came_are_cleared_away() -> None:
    async def main() -> None:
        going = {"deletionTimestamp": format_time(VIRTUAL_EPOCH)}
        objects = (
            node("a"),
            pod("here"),
            pod("orphan", "gone"),
            pod("done", "gone", phase="Succeeded"),
            pod("waits", ""),
            pod("never came", "", **going),
        )
        async with alone(PodGCController, *objects) as stage:
            await asyncio.sleep(10)
            assert "orphan" in names(stage), "the node may come back"
            await asyncio.sleep(120)
            assert names(stage) == ["here", "waits"]

    run_virtual(main())


def test_why_a_pod_of_a_node_that_is_gone_has_to_go_is_written_on_it_first() -> None:
    async def main() -> None:
        stays = refusing("DELETE", "/pods/orphan", failure(409, "Conflict", "it has changed", {}))
        async with alone(PodGCController, node("a"), pod("orphan", "gone"), refuse=stays) as stage:
            await asyncio.sleep(130)
            (orphan,) = stage.items("pods")
            (said,) = [each for each in orphan["status"]["conditions"] if each["type"] == "DisruptionTarget"]
            assert (said["status"], said["reason"], said["message"]) == (
                "True",
                "DeletionByPodGC",
                "PodGC: node no longer exists",
            )

    run_virtual(main())


def test_of_finished_pods_beyond_the_limit_evicted_ones_go_first_and_one_that_changed_holds_up_nobody() -> None:
    class Few(PodGCController):
        def __init__(self, *arguments: Any, **more: Any) -> None:
            super().__init__(*arguments, **more)
            self.terminated_pod_threshold = 1

    def ended(name: str, created: str, **status: Any) -> tuple[str, Object]:
        meta = {"name": name, "namespace": "ns", "creationTimestamp": f"2026-01-0{created}T00:00:00Z"}
        return "pods", {"metadata": meta, "spec": {}, "status": {"phase": "Failed", **status}}

    async def main() -> None:
        pods = ended("old", "1"), ended("new", "3"), ended("evicted", "4", reason="Evicted")
        async with alone(Few, *pods) as stage:
            await asyncio.sleep(1)
            assert [each["metadata"]["name"] for each in stage.items("pods")] == ["new"]
        changed = failure(409, "Conflict", "it has changed", {})
        async with alone(Few, *pods, refuse=refusing("DELETE", "/pods/evicted", changed)) as stage:
            await asyncio.sleep(1)
            assert sorted(each["metadata"]["name"] for each in stage.items("pods")) == ["evicted", "new"]

    run_virtual(main())


def test_a_range_that_was_given_back_is_used_last() -> None:
    cidrs = CIDRSet("10.0.0.0/22")
    assert [cidrs.allocate_next() for _ in range(3)] == ["10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/24"]
    cidrs.release("10.0.0.0/24")
    assert [cidrs.allocate_next() for _ in range(3)] == ["10.0.3.0/24", "10.0.0.0/24", None]


def test_a_range_of_a_node_that_went_before_it_was_told_is_another_one_s() -> None:
    def narrow(*arguments: Any, **more: Any) -> NodeIPAMController:
        controller = NodeIPAMController(*arguments, **more)
        controller.set_cluster_cidr("10.0.0.0/24")
        return controller

    async def main() -> None:
        async with alone(narrow, node("a"), refuse=refusing("PATCH", "/nodes/a")) as stage:
            await stage.client.delete(NODES, "a", "")
            _, other = node("b")
            await stage.client.create(NODES, other, "")
            await asyncio.sleep(5)
            (found,) = stage.items("nodes")
            assert found["spec"]["podCIDR"] == "10.0.0.0/24"

    run_virtual(main())
