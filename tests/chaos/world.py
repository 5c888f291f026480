"""A cluster in which things go wrong when a scenario says so."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable
from typing import Any

from lifecycle.api.http.wire import Object, Request, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.etcd.store import CompactedError, Store
from tests.chaos.faulty_store import FaultyStore
from tests.chaos.faulty_transport import FaultyTransport
from tests.chaos.history import History
from tests.chaos.scenario import CONTROLLERS, EVERYBODY, NODES, SCHEDULER, Fault, Scenario

CLIENTS = {"kube-controller-manager": CONTROLLERS, "kube-scheduler": SCHEDULER}


class SkewedClock(Clock):
    """Shows what it shows, and what the faults add to that."""

    def __init__(self, skew: Callable[[], float]) -> None:
        self._skew = skew

    def now(self) -> float:
        """See `Clock`."""
        return super().now() + self._skew()


class ChaosCluster(Cluster):
    """A cluster whose components talk through `FaultyTransport`s to a server on a `FaultyStore`. Once `begin` was called, the
    faults of the scenario come and go; `history` has everything from the very first write.
    """

    store: FaultyStore

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(ClusterConfig(nodes=NODES, seed=1, https=False, latency=0.1))
        self.history = History()
        self.rng = random.Random(scenario.seed)
        self._faults = [fault for _, fault in scenario.faults]
        self._now: list[Fault] = []
        self._armed: dict[str, list[float]] = {}
        self._killing: set[asyncio.Task[None]] = set()
        self._down: dict[str, float] = {}
        self._ends: dict[str, list[Callable[[], None]]] = {}

    async def _open_store(self) -> Store:
        inner = await super()._open_store()
        self.store = FaultyStore(inner, lambda kind: iter(self.weather(kind)), self.rng)
        self.following = asyncio.create_task(self.history.follow(inner), name="the history")
        return self.store  # type: ignore[return-value]

    def clock_for(self, component: str) -> Clock:
        """One that may be wrong."""
        return SkewedClock(lambda: sum(fault.amount for fault in self.weather("skew", component)))

    def client(self, component: str, user: UserInfo | None = None) -> Client:
        """Components get one that may fail, users do not."""
        client = super().client(component, user)
        name = CLIENTS.get(component)
        if component == "kubelet" and user is not None:
            name = f"kubelet {user.name.removeprefix('system:node:')}"
        if name is not None:
            client.transport = FaultyTransport(client.transport, name, self)
        return client

    async def stop(self) -> None:
        """And nobody writes the history any more."""
        for task in (*self._killing, self.following):
            task.cancel()
        await asyncio.gather(*self._killing, self.following, return_exceptions=True)
        await super().stop()

    def beliefs(self) -> list[SharedInformer]:
        """The informers of the controllers and the scheduler that run now, those of whole resources."""
        return [
            informer
            for factory in self.informers.values()
            for (*_, namespace, labels, fields), informer in factory._informers.items()
            if not (namespace or labels or fields)
        ]

    # -- faults -------------------------------------------------------------------------------------------------------

    async def storm(self) -> None:
        """Play the faults, each in its time; returns when all are over and everything runs."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        moments = sorted({moment for fault in self._faults for moment in (fault.at, fault.ends)})
        for moment in moments:
            await asyncio.sleep(max(0.0, began + moment - loop.time()))
            for fault in self._faults:
                if fault.at == moment:
                    self._begin(fault)
                if fault.ends == moment:
                    self._end(fault)
        await asyncio.gather(*self._killing)

    def _begin(self, fault: Fault) -> None:
        match fault.kind:
            case "kill" if not fault.amount:
                self.die(fault.target, fault.ends - fault.at)
            case "kill":
                self._armed.setdefault(fault.target, []).append(fault.amount)
            case "drop":
                for component, ends in self._ends.items():
                    if fault.target in (EVERYBODY, component):
                        for end in list(ends):
                            end()
            case "forget":
                self.store.lose_watches()
                self._start_task(self._compact(), "compaction")
        self._now.append(fault)

    def _end(self, fault: Fault) -> None:
        self._now.remove(fault)
        if fault.kind == "kill":
            self._armed.pop(fault.target, None)

    async def _compact(self) -> None:
        with contextlib.suppress(CompactedError):
            await self.store.inner.compact(self.store.inner.revision)

    def _start_task(self, coroutine: Any, name: str) -> None:
        task = asyncio.create_task(coroutine, name=name)
        self._killing.add(task)
        task.add_done_callback(self._killing.discard)

    # -- what a transport asks (see `Way`) --------------------------------------------------------------------------------

    def weather(self, kind: str, component: str = "") -> list[Fault]:
        """See `Way`."""
        if not self._now:
            return []
        return [f for f in self._now if f.kind == kind and (not component or f.target in (component, EVERYBODY))]

    def step(self, component: str) -> bool:
        """See `Way`."""
        armed = self._armed.get(component)
        if not armed:
            return False
        armed[0] -= 1
        if armed[0] > 0:
            return False
        armed.pop(0)
        return True

    def die(self, component: str, lasts: float = 0.0) -> None:
        """It ends, and comes back when its time is over."""
        loop = asyncio.get_running_loop()
        down = max([lasts, *(f.ends - f.at for f in self.weather("kill", component))])
        if component in self._down:  # it is dead already: longer, then
            self._down[component] = max(self._down[component], loop.time() + down)
            return
        self._down[component] = loop.time() + down
        self.history.killed.setdefault(component, []).append(loop.time())
        self._start_task(self._kill(component), f"death of {component}")

    async def _kill(self, component: str) -> None:
        loop = asyncio.get_running_loop()
        await self.stop_component(component)
        while (left := self._down[component] - loop.time()) > 0:  # noqa: ASYNC110 -- longer, if it is killed again
            await asyncio.sleep(left)
        del self._down[component]
        self.start_component(component)

    def tell(self, component: str, path: str, obj: Object) -> None:
        """See `Way`."""
        if component == CONTROLLERS:
            self.history.tell(path, asyncio.get_running_loop().time(), obj)

    def doubt(self, request: Request) -> None:
        """See `Way`. What counts are pods that somebody may have made without knowing."""
        if request.method != "POST" or not request.path.endswith("/pods") or not isinstance(request.obj, dict):
            return
        for owner in request.obj["metadata"].get("ownerReferences") or ():
            doubtful = self.history.doubtful
            doubtful[owner["uid"]] = doubtful.get(owner["uid"], 0) + 1

    def watching(self, component: str, end: Callable[[], None]) -> Callable[[], None]:
        """See `Way`."""
        ends = self._ends.setdefault(component, [])
        ends.append(end)
        return lambda: ends.remove(end)
