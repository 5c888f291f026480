"""A pod on a hollow node is given more, or less, while it runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.resources import resource
from lifecycle.api.wire import Object
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.rehearsal import rehearse

PODS, STRATEGIC = resource("pods"), "application/strategic-merge-patch+json"


class Resized:
    """A cluster of one node with 4 CPUs, and what happened to its pods."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.user = cluster.client("kubectl")

    async def create(self, name: str, *, limits: Object | None = None, **more: Any) -> None:
        resources: Object = {"requests": {"cpu": "1", "memory": "64Mi"}}
        if limits:
            resources["limits"] = limits
        container = {"name": "nginx", "image": "nginx", "resources": resources, **more}
        await self.user.create(PODS, {"metadata": {"name": name}, "spec": {"containers": [container]}}, "default")
        await asyncio.sleep(10)

    async def resize(self, name: str, resources: Object) -> Object:
        patch = {"spec": {"containers": [{"name": "nginx", "resources": resources}]}}
        await self.user.patch(PODS, name, "default", patch, patch_type=STRATEGIC, subresource="resize")
        await asyncio.sleep(5)
        return await self.pod(name)

    async def pod(self, name: str) -> Object:
        found: Object = await self.user.get(PODS, name, "default")
        return found

    async def events(self, name: str) -> list[str]:
        return [
            f"{event['reason']} {event['message']}"
            for event in await self.cluster.items("events")
            if event["involvedObject"]["name"] == name and event["reason"].startswith("Resize")
        ]


def play(scene: Any) -> Any:
    return rehearse(lambda cluster: scene(Resized(cluster)), nodes=1)


def conditions(pod: Object) -> dict[str, Object]:
    return {c["type"]: c for c in pod["status"]["conditions"] if "Resize" in c["type"]}


def has(pod: Object) -> tuple[str, str, int]:
    """CPU that was promised, CPU that the container has, and restarts."""
    [status] = pod["status"]["containerStatuses"]
    return status["allocatedResources"]["cpu"], status["resources"]["requests"]["cpu"], status["restartCount"]


def test_a_container_that_wants_more_has_it_without_starting_anew() -> None:
    async def scene(node: Resized) -> tuple[Object, list[str]]:
        await node.create("a")
        return await node.resize("a", {"requests": {"cpu": "2"}}), await node.events("a")

    pod, events = play(scene)
    assert has(pod) == ("2", "2", 0)
    assert conditions(pod) == {}
    summary = '{"containers":[{"name":"nginx","resources":{"requests":{"cpu":"2","memory":"64Mi"}}}],"generation":2}'
    assert events == [
        f"ResizeStarted Pod resize started: {summary}",
        f"ResizeCompleted Pod resize completed: {summary}",
    ]


def test_what_the_node_could_never_give_is_infeasible_and_changes_nothing() -> None:
    async def scene(node: Resized) -> tuple[Object, list[str]]:
        await node.create("a")
        return await node.resize("a", {"requests": {"cpu": "1000"}}), await node.events("a")

    pod, [event] = play(scene)
    assert has(pod) == ("1", "1", 0)
    pending = conditions(pod)["PodResizePending"]
    assert (pending["reason"], pending["status"], pending["observedGeneration"]) == ("Infeasible", "True", 2)
    assert pending["message"].startswith("Node didn't have enough capacity: cpu, requested: 1000000, capacity: ")
    assert event.startswith('ResizeInfeasible Pod resize Infeasible: {"containers":[')


def test_what_another_has_is_waited_for_and_given_when_that_one_goes() -> None:
    async def scene(node: Resized) -> list[Object]:
        await node.create("a")
        await node.create("b")
        cpus = int((await node.cluster.items("nodes"))[0]["status"]["allocatable"]["cpu"])
        waiting = await node.resize("a", {"requests": {"cpu": str(cpus)}})
        await node.user.delete(PODS, "b", "default")
        await asyncio.sleep(60)
        return [waiting, await node.pod("a")]

    waiting, given = play(scene)
    assert conditions(waiting)["PodResizePending"]["reason"] == "Deferred"
    assert conditions(waiting)["PodResizePending"]["message"].startswith("Node didn't have enough resource: cpu, ")
    assert has(waiting)[0] == "1"
    assert conditions(given) == {}
    assert has(given)[0] == given["spec"]["containers"][0]["resources"]["requests"]["cpu"]


def test_a_wish_that_is_taken_back_is_not_spoken_of_any_more() -> None:
    async def scene(node: Resized) -> Object:
        await node.create("a")
        await node.resize("a", {"requests": {"cpu": "1000"}})
        return await node.resize("a", {"requests": {"cpu": "1"}})

    assert conditions(play(scene)) == {}


@pytest.mark.parametrize(("policy", "restarts"), [("RestartContainer", 1), ("NotRequired", 0)])
def test_a_program_that_has_to_be_told_starts_anew(policy: str, restarts: int) -> None:
    async def scene(node: Resized) -> Object:
        await node.create("a", limits={"cpu": "1"}, resizePolicy=[{"resourceName": "cpu", "restartPolicy": policy}])
        return await node.resize("a", {"requests": {"cpu": "2"}, "limits": {"cpu": "2"}})

    pod = play(scene)
    [status] = pod["status"]["containerStatuses"]
    assert status["resources"]["limits"]["cpu"] == "2"
    assert status["restartCount"] == restarts
    assert conditions(pod) == {}
