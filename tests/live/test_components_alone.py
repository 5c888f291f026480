"""Our components, each a process of its own, at work for the real kube-apiserver. Runs where `KUBE_BIN` is set."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.cluster.alone.connection import Connection, Target
from tests.cli.run.lone_component import PATIENCE, LoneComponent, deployment, running, until
from tests.live.real_programs import RealControlPlane, kube_bin, real_controller_manager, real_scheduler

T = TypeVar("T")


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealControlPlane]:
    kube_bin("kube-apiserver", "kube-controller-manager")
    with RealControlPlane(tmp_path_factory.mktemp("real"), "real", controllers=False) as running:
        yield running


def as_admin(plane: RealControlPlane, scene: Callable[[Client], Awaitable[T]]) -> T:
    """Play a scene as the real server's administrator."""

    async def main() -> T:
        connection = await Connection.open(Target(str(plane.kubeconfig)), {})
        try:
            async with asyncio.timeout(PATIENCE):
                return await scene(connection.client("kubectl"))
        finally:
            await connection.close()

    return asyncio.run(main())


async def make_node(client: Client, name: str) -> None:
    """A node that is Ready, because nobody has doubted it yet."""
    await client.create(resource("nodes"), {"metadata": {"name": name}})
    capacity = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "none"}
    status = {"status": {"capacity": capacity, "allocatable": capacity, "conditions": [ready]}}
    await client.patch(resource("nodes"), name, "", status, subresource="status")


def test_our_scheduler_gives_nodes_to_pods_of_the_real_controllers(plane: RealControlPlane, tmp_path: Path) -> None:
    manager = plane.identity("system:kube-controller-manager")

    async def scene(client: Client) -> None:
        for name in ("a", "b"):
            await make_node(client, name)
        # what the real node lifecycle controller does once it has seen that they are Ready
        await until(client, "nodes", "", lambda items: not any(node["spec"].get("taints") for node in items))
        await client.create(resource("namespaces"), {"metadata": {"name": "scheduler"}})
        await client.create(resource("deployments.apps"), deployment("nginx", 4), "scheduler")
        pods = await until(
            client, "pods", "scheduler", lambda items: sum("nodeName" in pod["spec"] for pod in items) == 4
        )
        assert {pod["spec"]["nodeName"] for pod in pods} == {"a", "b"}
        assert {pod["spec"]["schedulerName"] for pod in pods} == {"default-scheduler"}
        events = await until(
            client,
            "events",
            "scheduler",
            lambda items: sum(each["reason"] == "Scheduled" for each in items) == 4,
        )
        assert {e["source"]["component"] for e in events if e["reason"] == "Scheduled"} == {"default-scheduler"}
        lease = await client.get(resource("leases.coordination.k8s.io"), "kube-scheduler", "kube-system")
        assert lease["spec"]["holderIdentity"]
        for name in ("a", "b"):
            await client.delete(resource("nodes"), name)

    with (
        real_controller_manager(manager, tmp_path, plane.pki),
        LoneComponent("scheduler", "--kubeconfig", plane.identity("system:kube-scheduler")) as ours,
    ):
        as_admin(plane, scene)
        assert ours.get("/readyz") == (200, "ok")
        assert ours.stop() == 0
    assert [line for line in ours.said if not line.startswith("leading: ")] == []


def test_our_controllers_make_pods_for_the_real_scheduler_each_as_itself(
    plane: RealControlPlane, tmp_path: Path
) -> None:
    async def scene(client: Client) -> None:
        await make_node(client, "c")
        await until(client, "nodes", "", lambda items: not any(node["spec"].get("taints") for node in items))
        node = await client.get(resource("nodes"), "c")
        assert node["spec"]["podCIDR"] == "10.244.0.0/24"
        await client.create(resource("namespaces"), {"metadata": {"name": "controllers"}})
        await client.create(resource("deployments.apps"), deployment("nginx", 2), "controllers")
        await until(client, "pods", "controllers", lambda items: sum("nodeName" in pod["spec"] for pod in items) == 2)
        trusted = await client.get(resource("configmaps"), "kube-root-ca.crt", "controllers")
        assert trusted["data"]["ca.crt"] == (plane.pki / "ca.crt").read_text()
        accounts = await client.list(resource("serviceaccounts"), "kube-system")
        names = {account["metadata"]["name"] for account in accounts["items"]}
        assert {"deployment-controller", "replicaset-controller", "node-controller"} <= names
        await client.create(resource("namespaces"), {"metadata": {"name": "passing"}})
        await until(client, "configmaps", "passing", lambda items: len(items) == 1)  # what pods shall trust
        await client.delete(resource("namespaces"), "passing")
        await until(
            client, "namespaces", "", lambda items: all(each["metadata"]["name"] != "passing" for each in items)
        )
        await client.delete(resource("nodes"), "c")

    manager = plane.identity("system:kube-controller-manager")
    with (
        LoneComponent("controllers", "--kubeconfig", manager) as ours,
        real_scheduler(plane.identity("system:kube-scheduler"), tmp_path),
    ):
        as_admin(plane, scene)
        assert ours.get("/readyz") == (200, "ok")
        assert ours.stop() == 0
    assert [line for line in ours.said if not line.startswith("leading: ")] == []


def test_three_processes_of_ours_make_a_deployment_run_on_the_real_server(plane: RealControlPlane) -> None:
    """And the real server reaches our kubelet's port: its log is read through it."""
    node = plane.identity("system:node:lone", "system:nodes")

    async def scene(client: Client) -> None:
        await client.create(resource("namespaces"), {"metadata": {"name": "three"}})
        await client.create(resource("deployments.apps"), deployment("nginx", 3), "three")
        pods = await until(client, "pods", "three", running(3))
        assert {pod["spec"]["nodeName"] for pod in pods} == {"lone"}
        name = pods[0]["metadata"]["name"]
        answer = await client.request("GET", f"/api/v1/namespaces/three/pods/{name}/log")
        assert answer.status == 200
        await client.delete(resource("namespaces"), "three")
        await until(client, "pods", "three", lambda items: not items)

    with (
        LoneComponent("controllers", "--kubeconfig", plane.identity("system:kube-controller-manager")) as one,
        LoneComponent("scheduler", "--kubeconfig", plane.identity("system:kube-scheduler")) as two,
        LoneComponent("kubelet", "--kubeconfig", node, "--hostname-override", "lone", "--port", "0") as three,
    ):
        as_admin(plane, scene)
        for each in (three, two, one):
            assert each.stop() == 0
            assert [line for line in each.said if not line.startswith("leading: ")] == []
