"""A pod that waits for a yes leaves no timer behind, however its waiting ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.scheduler.framework.runtime.waiting_pods_map import WaitingPodEntry, WaitingPodsMap
from lifecycle.scheduler.framework.status import Code
from tests.scheduler.cluster_model import make_pod

POD = make_pod("p")


class Timers:
    """Those that somebody started on the running loop, from now on."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._started: list[asyncio.TimerHandle] = []
        self._call_later = loop.call_later
        loop.call_later = self._start  # type: ignore[method-assign, assignment]

    def _start(self, delay: float, callback: Callable[..., object], *args: object) -> asyncio.TimerHandle:
        timer = self._call_later(delay, callback, *args)
        self._started.append(timer)
        return timer

    def left(self) -> int:
        return sum(not timer.cancelled() for timer in self._started)


def test_who_has_said_yes_cannot_be_late_while_another_is_still_waited_for() -> None:
    async def main() -> None:
        waiting = WaitingPodEntry(POD, {"A": 10, "B": 60})
        waiting.allow("A")
        answer = asyncio.create_task(waiting.settled())
        await asyncio.sleep(30)
        assert not answer.done()
        waiting.allow("B")
        assert await answer is None

    run_virtual(main())


@pytest.mark.parametrize(
    "end",
    [
        lambda waiting, waiters: [waiting.allow("A"), waiting.allow("B")],
        lambda waiting, waiters: waiting.reject("A", "no"),
        lambda waiting, waiters: waiting.preempt("A", "make room"),
        lambda waiting, waiters: waiters.reject("p"),
        lambda waiting, waiters: waiters.remove("p"),
    ],
    ids=["everybody says yes", "one says no", "preempted", "deleted", "not asked any more"],
)
def test_no_timer_is_left_when_the_waiting_ends(end: Callable[[WaitingPodEntry, WaitingPodsMap], object]) -> None:
    async def main() -> None:
        timers = Timers()
        waiters, waiting = WaitingPodsMap(), WaitingPodEntry(POD, {"A": 10, "B": 60})
        waiters.add(waiting)
        assert timers.left() == 2
        end(waiting, waiters)
        assert timers.left() == 0

    run_virtual(main())


def test_the_first_answer_counts_and_a_no_says_whether_it_came_in_time() -> None:
    async def main() -> None:
        waiting = WaitingPodEntry(POD, {"A": 10, "B": 60})
        assert waiting.reject("B", "no")
        assert not waiting.reject("A", "no as well")
        assert not waiting.preempt("A", "make room")
        answer = await waiting.settled()
        assert answer is not None
        assert (answer.code, answer.message, answer.plugin) == (Code.UNSCHEDULABLE, "no", "B")

    run_virtual(main())


def test_a_pod_that_does_not_wait_is_neither_found_nor_refused_and_can_be_removed_twice() -> None:
    async def main() -> None:
        waiters, waiting = WaitingPodsMap(), WaitingPodEntry(POD, {"A": 10})
        waiters.add(waiting)
        assert waiters
        assert waiters.get("p") is waiting
        waiters.remove("p")
        waiters.remove("p")
        assert not waiters
        assert waiters.get("p") is None
        assert not waiters.reject("p")

    run_virtual(main())
