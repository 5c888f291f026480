"""The scheduling queue, on virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.scheduler.backend.queue.scheduling_queue import SchedulingQueue
from lifecycle.scheduler.framework.events import FORCE_ACTIVATE
from lifecycle.scheduler.framework.interface import PreEnqueuePlugin
from lifecycle.scheduler.framework.status import Status, unresolvable
from lifecycle.scheduler.framework.types import ClusterEvent
from lifecycle.scheduler.profile import default_framework
from tests.scheduler.cluster_model import make_pod


def with_queue(body: Any, *gates: PreEnqueuePlugin) -> None:
    async def main() -> None:
        framework = default_framework()
        framework.pre_enqueue_plugins = {**framework.pre_enqueue_plugins, **{gate.name: gate for gate in gates}}
        queue = SchedulingQueue(framework, Clock())
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


def test_a_pod_whose_gate_stays_shut_is_not_asked_what_would_help_it() -> None:
    class Gate(PreEnqueuePlugin):
        name = "Gate"
        refuses = True
        asked = 0

        def pre_enqueue(self, pod: Object) -> Status | None:
            self.asked += 1
            return unresolvable(self.name, "no") if self.refuses else None

    gate = Gate()

    async def body(queue: SchedulingQueue) -> None:
        queue.add(make_pod("gated"))
        gate.asked = 0
        looked_at = list[str]()
        event = ClusterEvent("AssignedPod", "Delete")
        queue.move_all(event, None, None, lambda info: bool(looked_at.append(info.key)))
        assert (gate.asked, looked_at) == (1, [])
        gate.refuses = False
        queue.move_all(event, None, None)
        assert queue.pending_pods()["active"] == ["default/gated"]

    with_queue(body, gate)


def test_a_gate_that_has_a_list_is_asked_about_nobody_on_it() -> None:
    asked = list[str]()

    class Gate(PreEnqueuePlugin):
        name = "Gate"
        kept = frozenset("abc")

        def pre_enqueue(self, pod: Object) -> Status | None:
            name = pod["metadata"]["name"]
            asked.append(name)
            return unresolvable(self.name, "no") if name in self.kept else None

        def kept_out(self) -> Collection[str]:
            return self.kept

    gate = Gate()

    async def body(queue: SchedulingQueue) -> None:
        for name in "abc":
            queue.add(make_pod(name))
        assert queue.pending_pods()["gated"] == ["default/a", "default/b", "default/c"]
        asked.clear()
        gate.kept = frozenset("ab")
        queue.move_all(ClusterEvent("AssignedPod", "Delete"), None, None)
        assert set(asked) == {"c"}
        assert queue.pending_pods()["gated"] == ["default/a", "default/b"]
        assert queue.pending_pods()["active"] == ["default/c"]

    with_queue(body, gate)


def test_a_gate_is_tried_again_only_after_what_it_wants_to_hear_of() -> None:
    async def body(queue: SchedulingQueue) -> None:
        queue.add(make_pod("gated", schedulingGates=[{"name": "example.com/hold"}]))
        [waiting] = queue._unschedulable.values()
        waiting.info.pod["spec"].pop("schedulingGates")
        queue.move_all(ClusterEvent("AssignedPod", "Delete"), None, None)
        assert queue.pending_pods()["gated"] == ["default/gated"]
        queue.move_all(FORCE_ACTIVATE, None, None)
        assert queue.pending_pods()["active"] == ["default/gated"]

    with_queue(body)


def test_a_pod_that_is_activated_does_not_wait_for_its_back_off() -> None:
    async def body(queue: SchedulingQueue) -> None:
        for name in ("refused", "broken"):
            queue.add(make_pod(name))
        await fail(queue, "NodeResourcesFit")
        await fail(queue)
        for key in ("default/refused", "default/broken", "default/nobody"):
            queue.activate(key)
        assert sorted(queue.pending_pods()["active"]) == ["default/broken", "default/refused"]

    with_queue(body)


async def fail(queue: SchedulingQueue, *plugins: str) -> None:
    queued = await queue.pop()
    queued.unschedulable_plugins = set(plugins)
    queue.add_unschedulable(queued)


def node(cpu: str) -> Object:
    return {"metadata": {"name": "n", "labels": {}}, "spec": {}, "status": {"allocatable": {"cpu": cpu, "pods": "9"}}}


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


async def error(queue: SchedulingQueue) -> None:
    """Taken, and back without any plugin's refusal."""
    queue.add_unschedulable(await queue.pop())


def test_after_an_error_a_pod_sits_its_back_off_out_though_nothing_else_is_ready() -> None:
    async def body(queue: SchedulingQueue) -> None:
        queue.add(make_pod("p"))
        await error(queue)
        assert queue.pending_pods()["backoff"] == ["default/p"]
        await asyncio.sleep(0.9)
        assert queue.try_pop() is None
        await asyncio.sleep(0.2)
        assert queue.pending_pods()["active"] == ["default/p"]

    with_queue(body)


def test_errors_in_a_row_have_their_own_count_which_a_refusal_ends() -> None:
    async def body(queue: SchedulingQueue) -> None:
        queue.add(make_pod("p"))
        waited = []
        for refused in (True, False, False, True, True, False):
            queued = await queue.pop()
            queued.unschedulable_plugins = {"NodeResourcesFit"} if refused else set()
            queue.add_unschedulable(queued)
            waited.append(queue.backoff_duration(queued))
            await asyncio.sleep(20)
            queue.move_all(FORCE_ACTIVATE, None, None)
        # refused once: 1; errors 1, 2: 1, 2; refused twice, three times: 2, 4; one error: 1
        assert waited == [1, 1, 2, 2, 4, 1]

    with_queue(body)


def test_a_short_back_off_does_not_wait_for_a_long_one_begun_before() -> None:
    async def body(queue: SchedulingQueue) -> None:
        queue.add(make_pod("often"))
        queued = await queue.pop()
        queued.consecutive_errors = 9
        queue.add_unschedulable(queued)  # ten seconds
        queue.add(make_pod("once"))
        await error(queue)  # one second
        await asyncio.sleep(1.1)
        assert queue.pending_pods()["active"] == ["default/once"]
        await asyncio.sleep(9)
        assert queue.pending_pods()["active"] == ["default/once", "default/often"]

    with_queue(body)


def test_only_an_update_that_a_refusing_plugin_cares_for_wakes_the_pod() -> None:
    async def body(queue: SchedulingQueue) -> None:
        before = make_pod("p", requests={"cpu": "8"})
        queue.add(before)
        await fail(queue, "NodeResourcesFit")
        await asyncio.sleep(20)
        annotated = {**before, "metadata": {**before["metadata"], "annotations": {"a": "b"}}}
        labelled = {**annotated, "metadata": {**before["metadata"], "labels": {"a": "b"}}}
        tolerant = make_pod("p", requests={"cpu": "8"}, tolerations=[{"operator": "Exists"}])
        for old, new in ((before, annotated), (annotated, labelled), (labelled, tolerant)):
            queue.update(old, new)
            assert queue.pending_pods()["unschedulable"] == ["default/p"]
        queue.update(tolerant, make_pod("p", requests={"cpu": "1"}))
        assert queue.pending_pods()["active"] == ["default/p"]
        assert (await queue.pop()).info.requests == {"cpu": 1000}

    with_queue(body)


def test_a_pod_stays_gated_until_its_last_gate_is_lifted() -> None:
    async def body(queue: SchedulingQueue) -> None:
        two, one = (make_pod("p", schedulingGates=[{"name": n} for n in names]) for names in ("ab", "b"))
        queue.add(two)
        queue.update(two, one)
        assert queue.pending_pods()["gated"] == ["default/p"]
        queue.update(one, make_pod("p"))
        assert queue.pending_pods()["active"] == ["default/p"]

    with_queue(body)


def test_a_pod_that_two_changes_help_at_once_comes_back_once() -> None:
    async def body(queue: SchedulingQueue) -> None:
        before = make_pod("p", requests={"cpu": "2"})
        queue.add(before)
        queued = await queue.pop()
        queued.unschedulable_plugins = {"NodeResourcesFit", "TaintToleration"}
        queue.add_unschedulable(queued)
        after = make_pod("p", requests={"cpu": "1"}, tolerations=[{"operator": "Exists"}])
        queue.update(before, after)
        places = queue.pending_pods()
        assert places["unschedulable"] == []
        assert places["active"] + places["backoff"] == ["default/p"]

    with_queue(body)
