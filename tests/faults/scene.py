"""A whole cluster on virtual time whose parts can be killed and started again, and what a user looks at when something is wrong."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from lifecycle.api.http.wire import MASTERS, Object, UserInfo
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.client.leader_election import LeaderElector
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.nodes import kind_nodes
from lifecycle.cluster.rehearsal import RehearsedCluster
from lifecycle.controllers.manager import ControllerManager
from lifecycle.kubelet.kubelet_configuration import KubeletConfiguration
from lifecycle.kubelet.main_kubelet import Dependencies, new_main_kubelet
from lifecycle.scheduler.scheduler import Scheduler

T = TypeVar("T")
PODS, EVENTS, NODES = resource("pods"), resource("events"), resource("nodes")
DEPLOYMENTS, REPLICA_SETS = resource("deployments.apps"), resource("replicasets.apps")


class Accident(RehearsedCluster):
    """The cluster. `user` is an administrator's client."""

    user: Client

    def named(self, name: str) -> asyncio.Task[None]:
        """The running component of a name: `scheduler`, `controllers`, `kubelet lifecycle-worker`."""
        return next(task for task in self.supervisor.tasks if task.get_name() == name and not task.done())

    async def kill(self, name: str) -> None:
        """End a component; what it ran on the node goes on running."""
        task = self.named(name)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        self.supervisor.tasks.remove(task)

    def restart_kubelet(self, name: str) -> None:
        """A new kubelet over the containers that the old one has left."""
        shape = next(shape for shape in kind_nodes(self.config.nodes) if shape.name == name)
        user = UserInfo(f"system:node:{name}", ("system:nodes", "system:authenticated"))
        config = KubeletConfiguration(
            name, shape.address, shape.pod_cidr, taints=list(shape.taints), capacity=dict(shape.capacity),
            machine_info=shape.machine_info,
        )  # fmt: skip
        kubelet = self.kubelets[name] = new_main_kubelet(
            config, Dependencies(self.client("kubelet", user), self.runtimes[name], self.clock)
        )
        self.supervisor.run(f"kubelet {name}", kubelet.run)

    def start_controllers(self, identity: str = "") -> None:
        """One more controller manager; with an identity, it works only while it leads."""

        async def work() -> None:
            client = self.client("kube-controller-manager", UserInfo("system:kube-controller-manager"))
            manager = ControllerManager(
                client, clock=self.clock, names=NameSource(len(self.supervisor.tasks)), root_ca="PEM", client_for=self._controller_client
            )  # fmt: skip
            if not identity:
                return await manager.run()
            elector = LeaderElector(client, "kube-controller-manager", identity, clock=self.clock)
            await elector.acquire()
            working = asyncio.create_task(manager.run(), name=f"working {identity}")
            try:
                await elector.renew()
            finally:
                working.cancel()
                await asyncio.gather(working, return_exceptions=True)

        self.supervisor.run(identity or "controllers", work)

    def start_scheduler(self) -> None:
        """One more scheduler."""
        client = self.client("kube-scheduler", UserInfo("system:kube-scheduler", ("system:authenticated",)))
        scheduler = Scheduler.new(client, SharedInformerFactory(client), clock=self.clock, rng_seed=1)
        self.supervisor.run("scheduler", scheduler.run)

    # -- what a user does and sees ------------------------------------------------------------------------------------

    async def pod(self, name: str) -> Object:
        """As `kubectl get pod -o json` shows it."""
        return await self.user.get(PODS, name, "default")

    async def pods(self) -> dict[str, Object]:
        """By uid."""
        return {pod["metadata"]["uid"]: pod for pod in await self.items("pods")}

    async def container(self, name: str) -> Object:
        """The status of a pod's only container."""
        status: Object = (await self.pod(name))["status"]["containerStatuses"][0]
        return status

    async def events(self, name: str = "", reason: str = "") -> list[tuple[str, str, str, int]]:
        """(type, reason, message, count) of the events about objects whose names begin like this, in order of their first time."""
        found = [
            event
            for event in await self.items("events")
            if event["involvedObject"]["name"].startswith(name) and reason in ("", event["reason"])
        ]
        found.sort(key=lambda event: (event.get("firstTimestamp") or "", int(event["metadata"]["resourceVersion"])))
        return [(event["type"], event["reason"], event["message"], event.get("count") or 1) for event in found]

    async def until(self, name: str, holds: Callable[[Any], Any], seconds: float = 3600.0) -> list[Object]:
        """Follow a resource until `holds` of all its objects; those objects. Raises TimeoutError after so many virtual seconds."""
        row, known = resource(name), dict[str, Object]()
        namespace = "default" if row.namespaced else ""
        async with asyncio.timeout(seconds):
            listed = await self.user.list(row, namespace)
            known.update((item["metadata"]["uid"], item) for item in listed.get("items") or ())
            frames = await self.user.watch(row, namespace, resource_version=listed["metadata"]["resourceVersion"])
            async with contextlib.aclosing(frames):  # type: ignore[type-var]
                while not holds(list(known.values())):
                    frame = await anext(frames)
                    if frame.type == "DELETED":
                        known.pop(frame.object["metadata"]["uid"], None)
                    elif frame.type != "BOOKMARK":
                        known[frame.object["metadata"]["uid"]] = frame.object
        return list(known.values())


def happen(scene: Callable[[Accident], Awaitable[T]], *, nodes: int = 2, latency: float = 0.1, **options: Any) -> T:
    """Play a scene on a cluster of our own, on virtual time. Each step of a container's start takes `latency` seconds, as on real nodes.

    Without it some states would be over before anybody could be told of them.
    """

    async def main() -> T:
        cluster = Accident(ClusterConfig(nodes=nodes, seed=1, https=False, latency=latency, **options))
        try:
            await cluster.start()
            cluster.user = cluster.client("kubectl", UserInfo("kubernetes-admin", (MASTERS, "system:authenticated")))
            await cluster.until("serviceaccounts", bool) if "controllers" not in cluster.config.without else None
            return await scene(cluster)
        finally:
            await cluster.stop()

    return run_virtual(main())


def ready(pods: list[Object]) -> int:
    """How many pods are Ready."""
    return sum(condition(pod, "Ready")["status"] == "True" for pod in pods)


def condition(obj: Object, kind: str) -> Object:
    """A condition of an object's status; status `Unknown` if it has none."""
    found = (each for each in (obj.get("status") or {}).get("conditions") or () if each["type"] == kind)
    return next(found, {"status": "Unknown"})


def pod(name: str, image: str = "nginx:1.27", **container: Any) -> Object:
    """A pod of one container `c`; `spec` goes to the pod."""
    spec = container.pop("spec", {})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"containers": [{"name": "c", "image": image, **container}], **spec},
    }


def deployment(replicas: int, name: str = "web", **container: Any) -> Object:
    """A Deployment of nginx, or whatever `container` says."""
    template = pod(name, **container)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": template["spec"]},
        },
    }
