"""An API server, and a kubelet of ours over a real runtime: the stage for the tests that need root."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.pods.dns import DNSConfig
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client
from lifecycle.cri.apis.runtime import Runtime
from lifecycle.cri.sandbox.cgroups import Cgroup
from lifecycle.etcd.memory import MemoryStore
from lifecycle.kubelet.kubelet import Kubelet, node_user
from lifecycle.kubelet.kubelet_configuration import KubeletConfiguration, LocalNode
from lifecycle.kubelet.local_pod_host import LocalPodHost
from lifecycle.kubelet.main_kubelet import Dependencies, new_main_kubelet
from lifecycle.kubelet.server.listener import Listen
from lifecycle.kubelet.volume.empty_dir import LinuxMounter
from tests.cri.private_containerd import private_containerd
from tests.cri.subjects import registry, sandbox_runtime
from tests.furnished import restored

NODE = "lifecycle-worker"
PATIENCE = 40.0


@dataclass
class RealNode:
    """`image`: a shell with the usual tools. `kubelets`: every kubelet that was started, the newest last."""

    server: GenericAPIServer
    admin: Client
    runtime: Runtime
    image: str
    where: Path
    clock: Clock
    kubelets: list[Kubelet] = field(default_factory=list)
    task: asyncio.Task[None] | None = None

    @property
    def kubelet(self) -> Kubelet:
        return self.kubelets[-1]

    def local_node(self) -> LocalNode:
        return LocalNode(
            self.where / "kubelet",
            Path("/sys/fs/cgroup"),
            cgroup_driver="cgroupfs",
            cgroup_root=f"/lifecycle-kubelet-test-{os.getpid()}",
            mounter=LinuxMounter(),
            cluster_dns=("10.96.0.10",),
            host_dns=DNSConfig(["192.0.2.1"], ["host.example"], []),
            node_hosts="127.0.0.1 localhost\n",
            pod_logs_dir=str(self.where / "log/pods"),
            container_logs_dir=str(self.where / "log/containers"),
        )

    async def start(self, **settings: Any) -> Kubelet:
        user, groups = node_user(NODE)
        client = Client(self.server.in_process_transport(UserInfo(user, groups)), "kubelet")
        given = {f.name for f in fields(Dependencies)} & settings.keys()
        dependencies = {name: settings.pop(name) for name in given}
        config = KubeletConfiguration(
            NODE,
            "127.0.0.1",
            "10.244.1.0/24",
            local=self.local_node(),
            listen=Listen(port=0),
            static_pod_path=self.where / "manifests",
            **settings,
        )
        kubelet = new_main_kubelet(config, Dependencies(client, self.runtime, self.clock, **dependencies))
        self.kubelets.append(kubelet)
        self.task = asyncio.create_task(kubelet.run())
        return kubelet

    async def stop(self) -> None:
        """The kubelet ends; what it started goes on."""
        if self.task is not None:
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)
            self.task = None

    async def remove_sandboxes(self) -> None:
        """All that the runtime still has."""
        for sandbox in await self.runtime.list_pod_sandbox():
            await self.runtime.remove_pod_sandbox(sandbox.id)

    def tear_down(self) -> None:
        """The kubelets' directories and cgroups."""
        for kubelet in self.kubelets[-1:]:
            assert isinstance(kubelet.host, LocalPodHost)
            kubelet.host.tear_down()

    async def until(self, name: str, done: Callable[[Object], bool]) -> Object:
        """The pod as soon as it is so. Raises AssertionError with its status if that takes too long."""
        pods, seen = resource("pods"), {}
        stream = await self.admin.watch(pods, "default", resource_version="0", field_selector=f"metadata.name={name}")
        try:
            async with asyncio.timeout(PATIENCE):
                async for frame in stream:
                    seen = frame.object
                    if frame.type in ("ADDED", "MODIFIED", "DELETED") and done(seen):
                        return seen
        except TimeoutError:
            pass
        raise AssertionError((seen.get("status"), await self.events(name)))

    async def until_looked_at(self, name: str, done: Callable[[Object], bool]) -> Object:
        """`until`, with a kubelet that looks all the time: why a start failed is only shown by the next look, ten seconds later."""
        uid = (await self.admin.get(resource("pods"), name, "default"))["metadata"]["uid"]

        async def look() -> None:
            while True:
                self.kubelet.pod_workers.sync(uid)
                await asyncio.sleep(0.2)

        looking = asyncio.create_task(look())
        try:
            return await self.until(name, done)
        finally:
            looking.cancel()

    async def gone(self, name: str) -> None:
        """Delete a pod and wait until nothing of it is left in the API."""
        pods = resource("pods")
        uid = (await self.admin.get(pods, name, "default"))["metadata"]["uid"]
        await self.admin.delete(pods, name, "default")
        async with asyncio.timeout(PATIENCE):
            while True:
                with suppress(StatusError):
                    if (await self.admin.get(pods, name, "default"))["metadata"]["uid"] == uid:
                        await asyncio.sleep(0.05)
                        continue
                return

    async def events(self, name: str) -> list[tuple[str, str]]:
        found = (await self.admin.list(resource("events"), "default"))["items"]
        return [(e["reason"], e["message"]) for e in found if e["involvedObject"]["name"] == name]

    async def create(self, plural: str, obj: Object) -> Object:
        return await self.admin.create(resource(plural), {"apiVersion": "v1", **obj}, "default")

    async def run_pod(self, name: str, *containers: Object, **spec: Any) -> Object:
        for container in [*containers, *spec.get("initContainers", ())]:
            container.setdefault("image", self.image)
        pod = {"metadata": {"name": name}, "spec": {"nodeName": NODE, "containers": list(containers), **spec}}
        pod["spec"].setdefault("terminationGracePeriodSeconds", 1)
        return await self.create("pods", pod)

    async def output(self, name: str, container: str, *command: str) -> str:
        """What a command in a container says."""
        pod = await self.admin.get(resource("pods"), name, "default")
        entries = pod["status"]["containerStatuses"] + pod["status"].get("initContainerStatuses", [])
        found = next(entry["containerID"] for entry in entries if entry["name"] == container)
        answer = await self.runtime.exec_sync(found.partition("://")[2], command, 10)
        assert answer.exit_code == 0, answer
        return answer.stdout


@asynccontextmanager
async def _runtime(kind: str, where: Path) -> AsyncIterator[Runtime]:
    if kind == "sandbox":
        async with sandbox_runtime(where) as (runtime, _):
            yield runtime
    else:
        async with private_containerd(where) as client:
            yield client


@asynccontextmanager
async def real_node(kind: str, where: Path) -> AsyncIterator[RealNode]:
    """A node with a running kubelet over `sandbox` or `containerd`. Nothing of it is left afterwards."""
    clock = Clock()
    server = create_server_chain(MemoryStore(), clock=clock, names=NameSource(1))
    await server.start(restored)
    admin = Client(
        server.in_process_transport(UserInfo("admin", ("system:masters", "system:authenticated"))), "tests/v1"
    )
    async with registry() as served, _runtime(kind, where) as runtime:
        node = RealNode(server, admin, runtime, served.name("library/shell:1"), where, clock)
        (where / "manifests").mkdir()
        async with AsyncExitStack() as left:  # each is done whatever becomes of the others, the last one first
            left.push_async_callback(server.stop)
            left.callback(Cgroup(f"/lifecycle-kubelet-test-{os.getpid()}").remove)
            left.callback(node.tear_down)
            left.push_async_callback(node.remove_sandboxes)
            left.push_async_callback(node.stop)
            await node.create("serviceaccounts", {"metadata": {"name": "default"}})
            await node.create(
                "configmaps", {"metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": "trust me\n"}}
            )
            await node.start()
            yield node
