"""One look of the eviction manager after the other: what the node says of itself, and whose turn it is."""

from __future__ import annotations

import asyncio
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.kubelet.eviction.eviction_manager import EvictionManager, NodePressure
from lifecycle.kubelet.eviction.storage_usage import LocalStorage
from lifecycle.kubelet.eviction.thresholds import parse_thresholds
from lifecycle.kubelet.stats.summary import ContainerUsage, Observation, PodUsage, Summary

Mi = 1 << 20
SHORT, PLENTY = Observation(1 * Mi, 1000 * Mi), Observation(900 * Mi, 1000 * Mi)


class Node:
    """What is measured on it, and what it did. It keeps the pods named in `held`."""

    def __init__(self, **memory: int) -> None:
        self.seen = {"memory.available": PLENTY}
        self.pods = [self.pod(name) for name in memory]
        self.usages = {name: PodUsage({"c": ContainerUsage(memory=size * Mi)}) for name, size in memory.items()}
        self.written: dict[str, int] = {}
        self.held: set[str] = set()
        self.events: list[str] = []
        self.told: list[list[str]] = []
        loop = asyncio.get_running_loop()
        self.pressure = NodePressure(loop.time)
        self.manager = EvictionManager(
            self.measure,
            lambda: self.pods,
            self.evict,
            self.pressure,
            events=self,  # type: ignore[arg-type]
            pressure_changed=self.changed,
            thresholds=parse_thresholds({"memory.available": "100Mi", "nodefs.available": "10%"}),
            measure_disk=lambda pod, usage: LocalStorage({"c": self.written.get(pod["metadata"]["name"], 0)}),
        )

    @staticmethod
    def pod(name: str) -> Object:
        limits = {"ephemeral-storage": "1Mi"} if "write" in name else {}
        container = {"name": "c", "resources": {"limits": limits}}
        return {"metadata": {"name": name, "uid": name, "namespace": "n"}, "spec": {"containers": [container]}}

    async def measure(self) -> Summary:
        return Summary(self.seen, self.usages)

    def evict(self, pod: Object, failed: Any, grace: float) -> bool:
        if pod["metadata"]["name"] in self.held:
            return False
        self.pods = [each for each in self.pods if each is not pod]
        return True

    async def changed(self) -> None:
        self.told.append(self.pressure.node_conditions())

    def node_event(self, kind: str, reason: str, message: str) -> None:
        self.events.append(message)

    def pod_event(self, pod: Object, kind: str, reason: str, message: str, container: str) -> None:
        self.events.append(f"{reason} {pod['metadata']['name']}")

    async def look(self) -> list[str]:
        return [pod["metadata"]["name"] for pod in await self.manager.synchronize()]


def test_a_pressure_is_told_when_it_comes_and_five_minutes_after_it_was_last_there_and_not_in_between() -> None:
    async def main() -> None:
        node = Node()
        await node.look()
        assert node.told == []
        node.seen = {"memory.available": SHORT}
        for _ in range(3):
            await node.look()
            await asyncio.sleep(10)
        assert node.told == [["MemoryPressure"]]
        node.seen = {"memory.available": PLENTY, "nodefs.available": SHORT}
        await node.look()
        assert node.told[1:] == [["DiskPressure", "MemoryPressure"]]
        node.seen = {"memory.available": PLENTY}
        await asyncio.sleep(279)  # memory was short for the last time 289 seconds ago
        await node.look()
        assert len(node.told) == 2
        await asyncio.sleep(12)
        await node.look()
        assert node.told[2:] == [["DiskPressure"]]
        await asyncio.sleep(8)
        await node.look()
        assert len(node.told) == 3
        await asyncio.sleep(2)
        await node.look()
        assert node.told[3:] == [[]]

    run_virtual(main())


def test_who_is_over_a_limit_of_its_own_goes_and_then_nobody_else_this_time() -> None:
    async def main() -> None:
        node = Node(greedy=500, writer=1, rewriter=2)
        node.seen = {"memory.available": SHORT}
        node.written = {"writer": 2 * Mi, "rewriter": 2 * Mi}
        assert await node.look() == ["writer", "rewriter"]
        assert node.events == ["Evicted writer", "Evicted rewriter"]
        assert await node.look() == ["greedy"]
        assert node.events[2:] == ["Attempting to reclaim memory", "Evicted greedy"]

    run_virtual(main())


def test_one_goes_at_a_time_and_if_it_is_not_to_be_had_the_next() -> None:
    async def main() -> None:
        node = Node(first=500, second=400, third=300)
        node.seen = {"memory.available": SHORT}
        node.held = {"first"}
        assert await node.look() == ["second"]
        node.held = {"first", "third"}
        assert await node.look() == []
        node.held = set()
        assert [await node.look() for _ in range(3)] == [["first"], ["third"], []]

    run_virtual(main())
