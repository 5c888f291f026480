"""How a pod that was refused comes back: by what could help, or after a long time."""

from __future__ import annotations

import asyncio

from lifecycle.agreements.claim_checks.scheduler import pod
from lifecycle.api.clock import Clock
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.scheduler.backend.queue.scheduling_queue import SchedulingQueue
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
