"""A scene played on a whole cluster, on virtual time: what chapters and labs run.

`rehearse(scene)` starts a cluster, lets the coroutine function `scene` play with it,
and stops it again. Minutes of timers pass in milliseconds, and a seed makes every name
the same each time, so a page can print what happened.

Two things help to see what controllers do. Every request that a component made is kept,
with its moment. And components can be made to live in a slower world: `latency` is how
long each write takes, `late_watches` how much later the controllers hear of a
resource's changes than they happened.

Upstream: none; what comes closest is client-go's `testing.Fake`, which also keeps the
actions it was asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from lifecycle.api.http.wire import Object, Request, Response, UserInfo, WatchFrame
from lifecycle.api.late_import import IN_A_TAB
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, run_virtual
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client, Transport
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig

T = TypeVar("T")

MANAGER = "kube-controller-manager"


@dataclass(slots=True, frozen=True)
class Asked:
    """One request and the status of its answer. `at` is virtual seconds since the loop
    began; `body` the object sent.
    """

    at: float
    component: str
    method: str
    path: str
    status: int
    body: Any


class RehearsedCluster(Cluster):
    """A cluster whose components' requests are written down in `asked`, watches left
    out.
    """

    def __init__(
        self,
        config: ClusterConfig,
        *,
        latency: float = 0.0,
        late_watches: Mapping[str, float] | None = None,
    ):
        super().__init__(config)
        self.asked: list[Asked] = []
        self.latency = latency
        self.late_watches = {
            resource(name).path(): lag for name, lag in (late_watches or {}).items()
        }

    def client(self, component: str, user: UserInfo | None = None) -> Client:
        """See `Cluster.client`; everything sent through it is written down under the
        component's own name.
        """
        client = super().client(component, user)
        account = (
            user.name.rpartition(":")[2]
            if user and user.name.startswith("system:serviceaccount:")
            else component
        )
        client.transport = _Stagehand(client.transport, account, self)
        return client

    async def items(self, name: str, namespace: str = "default") -> list[Object]:
        """All objects of a resource, as an administrator sees them now."""
        return list(
            (await self.client("audience").list(resource(name), namespace)).get("items")
            or []
        )

    def requests(self, component: str, method: str = "", part: str = "") -> list[Asked]:
        """What a component asked, in order: of one method, with `part` in the path."""
        return [
            asked
            for asked in self.asked
            if asked.component == component
            and method in ("", asked.method)
            and part in asked.path
        ]


class _Stagehand:
    """A transport that keeps requests, makes writes last, and lets the controllers'
    watches run late.
    """

    def __init__(
        self, inner: Transport, component: str, cluster: RehearsedCluster
    ) -> None:
        self._inner = inner
        self._component = component
        self._cluster = cluster

    async def round_trip(self, request: Request) -> Response:
        """Pass on; see the class."""
        cluster, at = self._cluster, asyncio.get_running_loop().time()
        if cluster.latency and request.method != "GET":
            await asyncio.sleep(cluster.latency)
        response = await self._inner.round_trip(request)
        if response.stream is None:
            asked = Asked(
                at,
                self._component,
                request.method,
                request.path,
                response.status,
                request.obj,
            )
            cluster.asked.append(asked)
            return response
        lag = (
            cluster.late_watches.get(request.path)
            if self._component == MANAGER
            else None
        )
        if lag:
            response.stream = _late(response.stream, lag)
        return response

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()


async def _late(
    frames: AsyncIterator[WatchFrame], lag: float
) -> AsyncIterator[WatchFrame]:
    """The same frames, each `lag` seconds after it came."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[tuple[float, WatchFrame | None]] = asyncio.Queue()

    async def read() -> None:
        async for frame in frames:
            waiting.put_nowait((loop.time() + lag, frame))
        waiting.put_nowait((loop.time() + lag, None))

    reading = asyncio.create_task(read(), name="late watch")
    try:
        while True:
            due, frame = await waiting.get()
            await asyncio.sleep(due - loop.time())
            if frame is None:
                return
            yield frame
    finally:
        reading.cancel()


def rehearse(
    scene: Callable[[RehearsedCluster], Awaitable[T]],
    *,
    nodes: int = 3,
    seed: int = 1,
    latency: float = 0.0,
    container_latency: float = 0.0,
    late_watches: Mapping[str, float] | None = None,
    **options: Any,
) -> T:
    """Play `scene(cluster)` and return what it returns. Further options are those of
    `ClusterConfig`.

    `container_latency` is what `ClusterConfig` calls latency: seconds for each step of
    a container's start.

    Works where a loop runs already, as in a notebook: the cluster's loop then gets a
    thread of its own.
    """

    async def main() -> T:
        config = ClusterConfig(
            nodes=nodes, seed=seed, https=False, latency=container_latency, **options
        )
        cluster = RehearsedCluster(config, latency=latency, late_watches=late_watches)
        try:
            await cluster.start()
            return await scene(cluster)
        finally:
            await cluster.stop()

    return on_virtual_time(main())


def on_virtual_time(coroutine: Coroutine[Any, Any, T], at: float = VIRTUAL_EPOCH) -> T:
    """`run_virtual`, also where a loop runs already: then in a thread of its own, where
    there are threads. The caller waits.
    """
    if IN_A_TAB or asyncio._get_running_loop() is None:
        return run_virtual(coroutine, at)
    with ThreadPoolExecutor(1, "rehearsal") as pool:
        return pool.submit(run_virtual, coroutine, at).result()
