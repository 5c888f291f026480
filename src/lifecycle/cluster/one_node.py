"""One node with a disk: an API server, a kubelet of ours, and ordinary directories for
its root and its cgroup tree.

For scenes about what the kubelet does on its machine. Nothing else of a cluster is
there: pods name their node. Runs on virtual time; the directories are temporary and
gone afterwards.

Upstream: none; what comes closest is the hollow node of `cmd/kubemark`.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from lifecycle.api.http.wire import Object, Request, Response, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.client.rest import Client, Transport
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.cri.apis.container import ContainerConfig
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.etcd.memory import MemoryStore
from lifecycle.kubelet.eviction.thresholds import KIND_EVICTION_HARD, parse_thresholds
from lifecycle.kubelet.kubelet import Kubelet, node_user
from lifecycle.kubelet.kubelet_configuration import KubeletConfiguration, LocalNode
from lifecycle.kubelet.main_kubelet import Dependencies, new_main_kubelet
from lifecycle.kubelet.sync_pod import OnStep

T = TypeVar("T")
NODE = "lifecycle-worker"


class NotingRuntime(HollowRuntime):
    """Keeps every configuration it is given: the newest sandbox by pod, the newest
    container by pod and name.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.sandbox_configs: dict[str, PodSandboxConfig] = {}
        self.container_configs: dict[tuple[str, str], ContainerConfig] = {}

    async def run_pod_sandbox(self, config: PodSandboxConfig) -> str:
        """Noted, then run."""
        self.sandbox_configs[config.metadata.name] = config
        return await super().run_pod_sandbox(config)

    async def create_container(
        self,
        pod_sandbox_id: str,
        config: ContainerConfig,
        sandbox_config: PodSandboxConfig | None = None,
    ) -> str:
        """Noted, then created."""
        self.container_configs[
            config.labels["io.kubernetes.pod.name"], config.metadata.name
        ] = config
        return await super().create_container(pod_sandbox_id, config, sandbox_config)


class _Noting:
    """A transport that keeps what was asked: method and URL."""

    def __init__(self, transport: Transport, asked: list[tuple[str, str]]) -> None:
        self._transport = transport
        self._asked = asked

    async def round_trip(self, request: Request) -> Response:
        """Noted, then sent."""
        query = getattr(request, "query", "")
        self._asked.append(
            (request.method, f"{request.path}?{query}" if query else request.path)
        )
        return await self._transport.round_trip(request)

    async def close(self) -> None:
        """See `Transport`."""
        await self._transport.close()


@dataclass(slots=True)
class OneNode:
    """What a scene plays with. `steps` are those of syncPod, in order; a scene may put
    a `watcher` of its own beside. `asked` are the kubelet's requests.
    """

    admin: Client
    kubelet: Kubelet
    runtime: NotingRuntime
    directory: Path
    clock: Clock
    steps: list[tuple[str, str]] = field(default_factory=list)
    watchers: list[OnStep] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def create(
        self, plural: str, obj: Object, namespace: str = "default"
    ) -> Object:
        """As an administrator."""
        return await self.admin.create(
            resource(plural), {"apiVersion": "v1", **obj}, namespace
        )

    async def run_pod(
        self, name: str, *, seconds: float = 5.0, node: str = NODE, **spec: Any
    ) -> Object:
        """A pod on the node, some seconds later. `spec` may hold `container`: fields of
        its one container, which mounts every volume if it does not say which.
        """
        mounts = [
            {"name": each["name"], "mountPath": f"/{each['name']}"}
            for each in spec.get("volumes") or ()
        ]
        container = {
            "name": "c",
            "image": "nginx:1.27",
            "volumeMounts": mounts,
            **spec.pop("container", {}),
        }
        pod: Object = {
            "kind": "Pod",
            "metadata": {"name": name},
            "spec": {"nodeName": node, "containers": [container], **spec},
        }
        if not node:
            del pod["spec"]["nodeName"]
        await self.create("pods", pod)
        await asyncio.sleep(seconds)
        return await self.pod(name)

    async def pod(self, name: str) -> Object:
        """As the API server knows it."""
        return await self.admin.get(resource("pods"), name, "default")

    async def delete_pod(self, name: str, seconds: float = 60.0) -> None:
        """Delete it and wait."""
        await self.admin.delete(resource("pods"), name, "default")
        await asyncio.sleep(seconds)

    async def events(self, reason: str = "") -> list[str]:
        """Messages of events, of one reason or all."""
        events = (await self.admin.list(resource("events"), "default"))["items"]
        return [event["message"] for event in events if reason in ("", event["reason"])]

    def pod_directory(self, pod: Object) -> Path:
        """Where the pod is on the node's disk."""
        return self.directory / "kubelet/pods" / pod["metadata"]["uid"]


Scene = Callable[[OneNode], Awaitable[T]]


def on_one_node(
    scene: Scene[T],
    *,
    local: dict[str, Any] | None = None,
    runtime: Callable[..., NotingRuntime] = NotingRuntime,
    dependencies: dict[str, Any] | None = None,
    **settings: Any,
) -> T:
    """Play a scene. `local`: more of `LocalNode`'s settings; `runtime` makes the
    node's; `dependencies`: more of what the kubelet is given; `settings`: more of its
    own.
    """

    async def main() -> T:
        with TemporaryDirectory() as directory:
            place = Path(directory)
            return await _play(
                scene, place, local or {}, runtime, dependencies or {}, settings
            )

    return on_virtual_time(main())


async def _play(
    scene: Scene[T],
    directory: Path,
    local: dict[str, Any],
    make_runtime: Callable[..., NotingRuntime],
    dependencies: dict[str, Any],
    settings: dict[str, Any],
) -> T:
    clock, names = Clock(), NameSource(1)
    server = create_server_chain(MemoryStore(), clock=clock, names=names)
    await server.start()
    admin = Client(
        server.in_process_transport(
            UserInfo("admin", ("system:masters", "system:authenticated"))
        ),
        "scene/v1",
    )
    for controller in ("cpu", "memory", "pids"):
        (directory / "cgroup" / controller).mkdir(parents=True)
    options: dict[str, Any] = {
        "cgroup_tree": directory / "cgroup",
        "cgroup_version": 1,
        "cluster_dns": ("10.96.0.10",),
        **local,
    }
    rng = random.Random(1)
    options.setdefault("random_name", lambda: f"{rng.getrandbits(32):08x}")
    runtime = make_runtime(clock=clock, names=names)
    asked: list[tuple[str, str]] = []
    user, groups = node_user(NODE)
    transport = _Noting(server.in_process_transport(UserInfo(user, groups)), asked)
    settings.setdefault("provider_id", f"kind://docker/lifecycle/{NODE}")
    settings.setdefault("eviction_hard", parse_thresholds(KIND_EVICTION_HARD))
    config = KubeletConfiguration(
        NODE,
        "172.19.0.2",
        "10.244.1.0/24",
        local=LocalNode(directory / "kubelet", **options),
        **settings,
    )
    steps: list[tuple[str, str]] = []
    watchers: list[OnStep] = []

    def on_step(step: str, pod: Object) -> None:
        steps.append((step, pod["metadata"]["name"]))
        for watcher in watchers:
            watcher(step, pod)

    kubelet = new_main_kubelet(
        config,
        Dependencies(
            Client(transport, "kubelet"),
            runtime,
            clock,
            on_step=on_step,
            **dependencies,
        ),
    )
    stage = OneNode(
        admin, kubelet, runtime, directory, clock, steps, watchers, asked=asked
    )
    task = asyncio.create_task(kubelet.run())
    try:
        await asyncio.sleep(1)
        await stage.create(
            "serviceaccounts",
            {"kind": "ServiceAccount", "metadata": {"name": "default"}},
        )
        certificates = {
            "kind": "ConfigMap",
            "metadata": {"name": "kube-root-ca.crt"},
            "data": {"ca.crt": "certificates"},
        }
        await stage.create("configmaps", certificates)
        return await scene(stage)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await server.stop()
