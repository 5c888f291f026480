"""A pod on a hollow node is given more, or less, while it runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.cluster.rehearsal import rehearse
from lifecycle.kubelet.cm.cpumanager.policy_static import StaticPolicy
from lifecycle.kubelet.cm.cpumanager.topology import CPUTopology

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


def test_what_the_node_could_never_give_is_refused_and_changes_nothing() -> None:
    async def scene(node: Resized) -> tuple[str, Object, list[str]]:
        await node.create("a")
        with pytest.raises(StatusError) as refused:
            await node.resize("a", {"requests": {"cpu": "1000"}})
        return str(refused.value), await node.pod("a"), await node.events("a")

    message, pod, events = play(scene)
    assert "node didn't have enough allocatable resources: cpu, requested: 1000000, allocatable: " in message
    assert has(pod) == ("1", "1", 0)
    assert (conditions(pod), events) == ({}, [])


def test_a_guaranteed_pod_on_a_node_whose_cpus_have_owners_cannot_be_resized() -> None:
    amounts = {"cpu": "1", "memory": "64Mi"}
    more = {"cpu": "2", "memory": "64Mi"}

    async def scene(node: OneNode) -> Object:
        await node.run_pod("a", container={"resources": {"requests": amounts, "limits": amounts}})
        patch = {"spec": {"containers": [{"name": "c", "resources": {"requests": more, "limits": more}}]}}
        await node.admin.patch(PODS, "a", "default", patch, patch_type=STRATEGIC, subresource="resize")
        await asyncio.sleep(5)
        return await node.pod("a")

    policy = StaticPolicy(CPUTopology.regular(1, 4, 1), 1)
    pod = on_one_node(scene, dependencies={"cpu_policy": policy}, capacity={"cpu": "4", "memory": "4Gi", "pods": "9"})
    pending = conditions(pod)["PodResizePending"]
    assert (pending["reason"], pending["status"], pending["observedGeneration"]) == ("Infeasible", "True", 2)
    assert pending["message"] == ('Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"')


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
        await node.create("b")
        cpus = (await node.cluster.items("nodes"))[0]["status"]["allocatable"]["cpu"]
        assert conditions(await node.resize("a", {"requests": {"cpu": cpus}}))
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
