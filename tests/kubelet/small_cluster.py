"""A small cluster on virtual time for the tests of kubelet and scheduler: real API server, no controllers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.cri.hollow.step_times import Latency
from lifecycle.etcd.memory import MemoryStore
from lifecycle.kubelet.eviction.thresholds import KIND_EVICTION_HARD, parse_thresholds
from lifecycle.kubelet.kubelet import USER_AGENT, Kubelet, node_user
from lifecycle.kubelet.kubelet_configuration import KubeletConfiguration
from lifecycle.kubelet.main_kubelet import Dependencies, new_main_kubelet
from lifecycle.kubelet.stats.summary import Summary
from lifecycle.scheduler import scheduler as scheduler_module
from lifecycle.scheduler.scheduler import Scheduler
from tests.asked_first import AskedFirst, First, lets_pass
from tests.furnished import restored

NODES = ("lifecycle-control-plane", "lifecycle-worker", "lifecycle-worker2")
CONTROL_PLANE_TAINT = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}


@dataclass
class SmallCluster:
    server: GenericAPIServer
    clock: Clock
    names: NameSource
    admin: Client
    first: First = lets_pass
    scheduler: Scheduler | None = None
    kubelets: dict[str, Kubelet] = field(default_factory=dict)
    runtimes: dict[str, HollowRuntime] = field(default_factory=dict)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def client(self, user_agent: str, name: str, groups: tuple[str, ...] = ("system:authenticated",)) -> Client:
        return Client(AskedFirst(self.server.in_process_transport(UserInfo(name, groups)), self.first), user_agent)

    def run(self, component: Any) -> None:
        self.tasks.append(asyncio.create_task(component.run()))

    async def namespace(self, name: str) -> None:
        """A namespace as the controllers would leave it: with its service account."""
        if name != "default":
            await self.admin.create(
                resource("namespaces"), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            )
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        await self.admin.create(resource("serviceaccounts"), account, name)

    async def untaint(self) -> None:
        """What the node lifecycle controller does with nodes that are Ready."""
        nodes = resource("nodes")
        for node in (await self.admin.list(nodes))["items"]:
            taints = [t for t in node["spec"].get("taints", []) if "not-ready" not in t["key"]]
            await self.admin.patch(nodes, node["metadata"]["name"], "", {"spec": {"taints": taints or None}})

    async def create_pod(self, pod: Object, namespace: str = "default") -> Object:
        return await self.admin.create(resource("pods"), pod, namespace)

    async def pod(self, name: str, namespace: str = "default") -> Object:
        return await self.admin.get(resource("pods"), name, namespace)

    async def pods(self, namespace: str) -> dict[str, Object]:
        return {p["metadata"]["name"]: p for p in (await self.admin.list(resource("pods"), namespace))["items"]}

    async def events(self, namespace: str) -> list[Object]:
        return list((await self.admin.list(resource("events"), namespace))["items"])


@asynccontextmanager
async def small_cluster(
    *,
    latency: Latency = 0.0,
    nodes: tuple[str, ...] = NODES,
    summary: Callable[[], Awaitable[Summary]] | None = None,
    first: First = lets_pass,
) -> AsyncIterator[SmallCluster]:
    """`first`: is asked about every request of a component."""
    clock, names = Clock(), NameSource(1)
    server = create_server_chain(MemoryStore(), clock=clock, names=names)
    await server.start(restored)
    admin = Client(
        server.in_process_transport(UserInfo("admin", ("system:masters", "system:authenticated"))), "tests/v1"
    )
    cluster = SmallCluster(server, clock, names, admin, first)
    client = cluster.client(scheduler_module.USER_AGENT, scheduler_module.USER)
    cluster.scheduler = Scheduler.new(client, SharedInformerFactory(client), clock=clock, rng_seed=1)
    cluster.run(cluster.scheduler)
    for i, name in enumerate(nodes):
        user, groups = node_user(name)
        runtime = cluster.runtimes[name] = HollowRuntime(clock=clock, names=names, latency=latency)
        config = KubeletConfiguration(
            name,
            f"172.19.0.{2 + (i - 1) % len(nodes)}",
            f"10.244.{i}.0/24",
            taints=[CONTROL_PLANE_TAINT] if "control-plane" in name else [],
            provider_id=f"kind://docker/lifecycle/{name}",
            eviction_hard=parse_thresholds(KIND_EVICTION_HARD) if summary is None else parse_thresholds(),
        )
        client = cluster.client(USER_AGENT, user, groups)
        kubelet = new_main_kubelet(
            config, Dependencies(client, runtime, clock, summary=summary, volume_files=runtime.volumes)
        )
        cluster.kubelets[name] = kubelet
        cluster.run(kubelet)
    await asyncio.sleep(1)
    await cluster.untaint()
    await cluster.namespace("default")
    try:
        yield cluster
        for task in cluster.tasks:
            if task.done():
                task.result()
    finally:
        for task in cluster.tasks:
            task.cancel()
        await asyncio.gather(*cluster.tasks, return_exceptions=True)
        await server.stop()
