"""The scheduling queue, on virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from lifecycle.api.clock import Clock, run_virtual
from lifecycle.api.wire import Object
from lifecycle.scheduler.framework import ClusterEvent
from lifecycle.scheduler.profile import default_framework
from lifecycle.scheduler.queue.scheduling_queue import SchedulingQueue
from tests.scheduler.cluster_model import make_pod


def with_queue(body: Any) -> None:
    async def main() -> None:
        queue = SchedulingQueue(default_framework(), Clock())
        work: Coroutine[Any, Any, None] = body(queue)
        await work
        queue.close()

    run_virtual(main())


def test_priority_comes_first_then_age() -> None:
    async def body(queue: SchedulingQueue) -> None:
        for name, priority in (("low", 0), ("old", 5), ("high", 10), ("young", 5)):
            queue.add(make_pod(name, priority=priority))
            await asyncio.sleep(1)
        names = [(await queue.pop()).info.pod["metadata"]["name"] for _ in range(4)]
        assert names == ["high", "old", "young", "low"]

    with_queue(body)


def test_a_gated_pod_waits_until_the_gate_is_lifted() -> None:
    async def body(queue: SchedulingQueue) -> None:
        gated = make_pod("gated", schedulingGates=[{"name": "example.com/hold"}])
        queue.add(gated)
        assert queue.pending_pods()["gated"] == ["default/gated"]
        assert queue.try_pop() is None
        queue.update(gated, make_pod("gated"))
        assert (await queue.pop()).key == "default/gated"

    with_queue(body)


async def fail(queue: SchedulingQueue, *plugins: str) -> None:
    queued = await queue.pop()
    queued.unschedulable_plugins = set(plugins)
    queue.add_unschedulable(queued)


def node(cpu: str) -> Object:
    return {"metadata": {"name": "n", "labels": {}}, "spec": {}, "status": {"allocatable": {"cpu": cpu}}}


def test_only_an_event_that_could_help_wakes_a_pod() -> None:
    async def body(queue: SchedulingQueue) -> None:
        queue.add(make_pod("big", requests={"cpu": "8"}))
        await fail(queue, "NodeResourcesFit")
        await asyncio.sleep(20)
        queue.move_all(ClusterEvent("Node", "UpdateNodeLabel"), node("4"), node("4"))
        queue.move_all(ClusterEvent("Node", "Add"), None, node("4"))
        assert queue.pending_pods()["unschedulable"] == ["default/big"]
        queue.move_all(ClusterEvent("Node", "Add"), None, node("16"))
        assert queue.pending_pods()["active"] == ["default/big"]

    with_queue(body)


def test_back_off_grows_from_one_second_to_ten() -> None:
    async def body(queue: SchedulingQueue) -> None:
        queue.add(make_pod("p"))
        queued = await queue.pop()
        periods = []
        for _ in range(6):
            queued.unschedulable_count += 1
            periods.append(queue.backoff_duration(queued))
        assert periods == [1, 2, 4, 8, 10, 10]

    with_queue(body)


def test_a_pod_in_back_off_is_taken_if_nothing_else_is_ready() -> None:
    async def body(queue: SchedulingQueue) -> None:
        queue.add(make_pod("p"))
        await fail(queue, "NodeResourcesFit")
        queue.move_all(ClusterEvent("Node", "Add"), None, node("16"))
        assert queue.pending_pods()["backoff"] == ["default/p"]
        assert (await queue.pop()).attempts == 2

    with_queue(body)


def test_after_five_minutes_everything_is_tried_again() -> None:
    async def body(queue: SchedulingQueue) -> None:
        queue.add(make_pod("p"))
        await fail(queue, "NodeResourcesFit")
        await asyncio.sleep(290)
        assert queue.try_pop() is None
        await asyncio.sleep(60)
        assert (await queue.pop()).key == "default/p"

    with_queue(body)


def test_a_deleted_pod_is_not_popped() -> None:
    async def body(queue: SchedulingQueue) -> None:
        queue.add(make_pod("a"))
        queue.add(make_pod("b"))
        queue.delete("default/a")
        assert (await queue.pop()).key == "default/b"
        assert queue.try_pop() is None

    with_queue(body)
