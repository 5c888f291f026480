"""An API server, all controllers, and a stand-in for scheduler and kubelets, on virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from tests.furnished import restored

from lifecycle.api.http.wire import Object, Request, Response, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import Resource, resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH, Client, Transport
from lifecycle.controllers.manager import ControllerManager
from lifecycle.etcd.memory import MemoryStore

DEPLOYMENTS, REPLICA_SETS = resource("deployments.apps"), resource("replicasets.apps")
PODS, SERVICES, NODES, NAMESPACES = (resource(name) for name in ("pods", "services", "nodes", "namespaces"))
SLICES, ENDPOINTS, EVENTS = resource("endpointslices.discovery.k8s.io"), resource("endpoints"), resource("events")


class Witness:
    """A transport that writes down every write: (component, method, path, status, object sent)."""

    def __init__(self, inner: Transport) -> None:
        self.inner = inner
        self.writes: list[tuple[str, str, str, int, Any]] = []

    async def round_trip(self, request: Request) -> Response:
        response = await self.inner.round_trip(request)
        if request.method != "GET":
            component = request.headers.get("user-agent", "").rpartition(":")[2]
            self.writes.append((component, request.method, request.path, response.status, request.obj))
        return response

    async def close(self) -> None:
        await self.inner.close()


class FakeKubelets:
    """Binds pods to nodes in turn, makes them ready after `start_seconds`, removes them `stop_seconds` after their deletion."""

    def __init__(self, client: Client, manager: ControllerManager, clock: Clock, nodes: list[str]) -> None:
        self.client, self.clock, self.nodes = client, clock, nodes
        self.start_seconds, self.stop_seconds = 1.0, 1.0
        self.broken_images: set[str] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        self.seen = 0
        self.indexer = manager.informers.informer(PODS).indexer
        manager.informers.informer(PODS).add_event_handler(add=self._add, update=self._update)

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def _add(self, pod: Object) -> None:
        if not pod["spec"].get("nodeName") and "deletionTimestamp" not in pod["metadata"]:
            self.seen += 1
            self._spawn(self._start(pod, self.seen))

    def _update(self, old: Object, new: Object) -> None:
        if "deletionTimestamp" in new["metadata"] and "deletionTimestamp" not in old["metadata"]:
            self._spawn(self._stop(new))

    async def _start(self, pod: Object, number: int) -> None:
        meta = pod["metadata"]
        node = self.nodes[number % len(self.nodes)]
        binding = {
            "kind": "Binding",
            "apiVersion": "v1",
            "metadata": {"name": meta["name"]},
            "target": {"kind": "Node", "name": node},
        }
        try:
            await self.client.create(PODS, binding, meta["namespace"], name=meta["name"], subresource="binding")
            if pod["spec"]["containers"][0]["image"] in self.broken_images:
                return
            await asyncio.sleep(self.start_seconds)
            ip = f"10.244.{number >> 8 & 255}.{number & 255}"
            conditions = [
                {"type": t, "status": "True", "lastTransitionTime": self.clock.timestamp()}
                for t in ("Ready", "ContainersReady")
            ]
            status = {"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}], "conditions": conditions}
            await self.client.patch(
                PODS,
                meta["name"],
                meta["namespace"],
                {"status": status},
                subresource="status",
                patch_type=STRATEGIC_MERGE_PATCH,
            )
        except StatusError:
            pass  # deleted meanwhile

    async def _stop(self, pod: Object) -> None:
        await asyncio.sleep(self.stop_seconds)
        with suppress(StatusError):
            await self.client.delete(PODS, pod["metadata"]["name"], pod["metadata"]["namespace"], grace_period=0)


class SmallCluster:
    """What a test works with. `client` is an administrator's."""

    def __init__(
        self, client: Client, witness: Witness, manager: ControllerManager, kubelets: FakeKubelets, clock: Clock
    ) -> None:
        self.client, self.witness, self.manager, self.kubelets, self.clock = client, witness, manager, kubelets, clock

    async def items(self, res: Resource, namespace: str = "ns") -> list[Object]:
        return list((await self.client.list(res, namespace)).get("items") or [])

    async def messages(self, name: str) -> list[str]:
        found = [e for e in await self.items(EVENTS) if e["involvedObject"]["name"] == name]
        return [e["message"] for e in sorted(found, key=lambda e: str(e["metadata"]["name"]))]

    async def set_image(self, image: str) -> None:
        patch = {"spec": {"template": {"spec": {"containers": [{"name": "nginx", "image": image}]}}}}
        await self.client.patch(DEPLOYMENTS, "nginx", "ns", patch, patch_type=STRATEGIC_MERGE_PATCH)


@asynccontextmanager
async def small_cluster(*, nodes: int = 2, controllers: str = "*") -> AsyncIterator[SmallCluster]:
    clock = Clock()
    server = create_server_chain(MemoryStore(), clock=clock, names=NameSource(1))
    await server.start(restored)
    admin = UserInfo("admin", ("system:masters", "system:authenticated"))
    witness = Witness(server.in_process_transport(admin))
    client = Client(witness, "test/v0")
    manager = ControllerManager(client, clock=clock, names=NameSource(2), root_ca="PEM", controllers=controllers)
    names = [f"n{number}" for number in range(1, nodes + 1)]
    kubelets = FakeKubelets(client, manager, clock, names)
    running = asyncio.create_task(manager.run())
    try:
        for name in names:
            await client.create(NODES, {"kind": "Node", "apiVersion": "v1", "metadata": {"name": name}})
        await client.create(NAMESPACES, {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "ns"}})
        await asyncio.sleep(1)
        yield SmallCluster(client, witness, manager, kubelets, clock)
    finally:
        for task in (running, *kubelets.tasks):
            task.cancel()
        await asyncio.gather(running, *kubelets.tasks, return_exceptions=True)
        await server.stop()


def deployment(replicas: int = 3, image: str = "nginx:1.27", **spec: Any) -> Object:
    """What `kubectl create deployment nginx` sends, more or less."""
    labels = {"app": "nginx"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "nginx", "image": image}]}}
    return {
        "kind": "Deployment",
        "apiVersion": "apps/v1",
        "metadata": {"name": "nginx", "labels": labels},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template, **spec},
    }


def service() -> Object:
    """What `kubectl expose` sends, more or less."""
    ports = [{"port": 80, "protocol": "TCP", "targetPort": 80}]
    return {
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": {"name": "nginx"},
        "spec": {"selector": {"app": "nginx"}, "ports": ports},
    }
