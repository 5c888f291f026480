"""How a pod that was refused comes back: by what could help, or after a long time."""

from __future__ import annotations

import asyncio

import pytest

from lifecycle.agreements.claim_checks.scheduler import pod
from lifecycle.api.loop.clock import Clock
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.scheduler.backend.queue.scheduling_queue import SchedulingQueue
from lifecycle.scheduler.framework.plugins.scheduling_gates import SchedulingGates
from lifecycle.scheduler.framework.types import ClusterEvent
from lifecycle.scheduler.profile import default_framework

GONE = ClusterEvent("AssignedPod", "Delete")
FIT, NOBODY = "NodeResourcesFit", "SomebodyElses"


def places() -> dict[str, list[str]]:
    """Where two pods are that nobody wants just now: the one was refused for lack of
    room, the other is only to wait for somebody to say something. At once, when a pod
    goes that could have made room, after its pause, and where they are who wait while
    nothing happens: a little before five minutes are over, and after.
    """

    async def main() -> dict[str, list[str]]:
        queue = SchedulingQueue(default_framework(), Clock())
        for name in ("refused", "waiting"):
            queue.add(pod(name, "1"))
        taken = {queued.key: queued for queued in (queue.try_pop(), queue.try_pop()) if queued}
        taken["default/refused"].unschedulable_plugins = {FIT}
        taken["default/waiting"].pending_plugins = {NOBODY}

        def now() -> list[str]:
            by_key = {key: where for where, keys in queue.pending_pods().items() for key in keys}
            return [by_key.get(f"default/{name}", "") for name in ("refused", "waiting")]

        for queued in taken.values():
            queue.add_unschedulable(queued)
        seen = {"at once": now()}
        queue.move_all(GONE, pod("gone", "1", nodeName="n"), None)
        seen["a pod goes"] = now()
        await asyncio.sleep(2)
        seen["later"] = now()
        for _ in range(2):
            again = queue.try_pop()
            assert again is not None
            again.unschedulable_plugins = {FIT}
            queue.add_unschedulable(again)
        await asyncio.sleep(295)
        seen["nearly five minutes"] = now()
        await asyncio.sleep(60)
        seen["more than five minutes"] = now()
        queue.close()
        return seen

    return on_virtual_time(main())


PLACES = {
    "at once": ["unschedulable", "unschedulable"],
    "a pod goes": ["backoff", "active"],
    "later": ["active", "active"],
    "nearly five minutes": ["unschedulable", "unschedulable"],
    "more than five minutes": ["active", "active"],
}


def test_whom_nobody_takes_waits_for_what_could_help_and_not_for_ever() -> None:
    assert places() == PLACES


def _left_over() -> list[tuple[float, str]]:
    """When and where a pod is that is taken and refused again each time it comes back,
    with nothing else going on: what is seen every ten seconds, where it changes.
    """

    async def main() -> list[tuple[float, str]]:
        queue, loop = SchedulingQueue(default_framework(), Clock()), asyncio.get_running_loop()
        began, seen = loop.time(), list[tuple[float, str]]()
        queue.add(pod("refused", "1"))
        for _ in range(75):
            again = queue.try_pop()
            if again is not None:
                again.unschedulable_plugins = {FIT}
                queue.add_unschedulable(again)
                seen.append((loop.time() - began, "refused"))
            await asyncio.sleep(10)
        queue.close()
        return seen

    return on_virtual_time(main())


def test_the_five_minutes_begin_anew_with_each_refusal() -> None:
    first, second, third = (when for when, _ in _left_over())
    assert first == 0
    assert 300 < second <= 340
    assert 300 < third - second <= 340


def _woken(plugins: set[str], pending: set[str], event: ClusterEvent = GONE) -> str:
    """Where a pod is at once, after an event about a pod that could have made room."""

    async def main() -> str:
        queue = SchedulingQueue(default_framework(), Clock())
        queue.add(pod("refused", "1"))
        taken = queue.try_pop()
        assert taken is not None
        taken.unschedulable_plugins, taken.pending_plugins = plugins, pending
        queue.add_unschedulable(taken)
        queue.move_all(event, pod("gone", "1", nodeName="n"), None)
        [where] = [where for where, keys in queue.pending_pods().items() if keys]
        queue.close()
        return where

    return on_virtual_time(main())


@pytest.mark.parametrize(
    ("plugins", "pending", "where"),
    [
        ({FIT}, set(), "backoff"),
        ({NOBODY}, set(), "backoff"),  # a plugin that does not say what would help
        (set(), {NOBODY}, "active"),
        (set(), {FIT}, "active"),
        ({FIT}, {NOBODY}, "active"),  # one of those that are helped had only told it to wait
        ({NOBODY}, {FIT}, "active"),
        ({"NodeName"}, {FIT}, "active"),
        ({FIT}, {"NodeName"}, "backoff"),  # who told it to wait is not helped
        ({"NodeName"}, set(), "unschedulable"),
        (set(), {"NodeName"}, "unschedulable"),
    ],
)
def test_whoever_was_only_told_to_wait_need_not_back_off(plugins: set[str], pending: set[str], where: str) -> None:
    assert _woken(plugins, pending) == where


@pytest.mark.parametrize(
    ("failures", "seconds"),
    [
        ("", 0),
        ("u", 1),
        ("uu", 2),
        ("uuuu", 8),
        ("uuuuu", 10),
        ("uuuuuuuuuuuuuu", 10),
        ("e", 1),
        ("eee", 4),
        ("uue", 1),  # errors in a row count on their own
        ("uuuee", 2),
        ("eeu", 1),  # and are forgotten when the pod was only refused
        ("eeeuu", 2),
        ("eeeue", 1),
    ],
)
def test_the_pause_doubles_and_errors_in_a_row_count_on_their_own(failures: str, seconds: float) -> None:
    """`u`: the pod was refused; `e`: something went wrong."""

    async def main() -> float:
        queue = SchedulingQueue(default_framework(), Clock())
        queue.add(pod("p", "1"))
        taken = queue.try_pop()
        for failure in failures:
            assert taken is not None
            taken.unschedulable_plugins = {FIT} if failure == "u" else set()
            taken.pending_plugins = set()
            queue.add_unschedulable(taken)
            queue.activate(taken.key)
            taken = queue.try_pop()
        assert taken is not None
        queue.close()
        return queue.backoff_duration(taken)

    assert on_virtual_time(main()) == seconds


@pytest.mark.parametrize(("names", "told"), [(("b", "a"), "[b a]"), (("a", "b"), "[a b]"), (("only",), "[only]")])
def test_gates_are_told_in_the_order_in_which_they_stand(names: tuple[str, ...], told: str) -> None:
    gated = pod("p", schedulingGates=[{"name": name} for name in names])
    status = SchedulingGates().pre_enqueue(gated)
    assert status is not None
    assert status.message == f"waiting for scheduling gates: {told}"


def test_who_backs_off_comes_before_nobody_and_after_everybody_else() -> None:
    """But for who backs off from an error: that one is left alone until its time has come."""

    async def main() -> list[str]:
        queue = SchedulingQueue(default_framework(), Clock())
        for name in ("refused", "failed"):
            queue.add(pod(name, "1"))
        for queued in (queue.try_pop(), queue.try_pop()):
            assert queued is not None
            queued.unschedulable_plugins = {FIT} if "refused" in queued.key else set()
            queue.add_unschedulable(queued)
        queue.move_all(GONE, pod("gone", "1", nodeName="n"), None)  # both back off now
        queue.add(pod("new", "1"))
        order = []
        for pause in (0, 0, 0, 2):
            await asyncio.sleep(pause)
            queued = queue.try_pop()
            order.append(queued.key.partition("/")[2] if queued else "")
        queue.close()
        return order

    assert on_virtual_time(main()) == ["new", "refused", "", "failed"]


def test_who_is_taken_is_taken_with_a_clean_slate() -> None:
    async def main() -> list[tuple[int, set[str], set[str]]]:
        queue, seen = SchedulingQueue(default_framework(), Clock()), list[tuple[int, set[str], set[str]]]()
        queue.add(pod("p", "1"))
        for _ in range(3):
            queued = queue.try_pop()
            assert queued is not None
            seen.append((queued.attempts, queued.unschedulable_plugins, queued.pending_plugins))
            queued.unschedulable_plugins, queued.pending_plugins = {FIT}, {NOBODY}
            queue.add_unschedulable(queued)
            queue.activate(queued.key)
        queue.close()
        return seen

    assert on_virtual_time(main()) == [(1, set(), set()), (2, set(), set()), (3, set(), set())]
