"""When a controller may look again after its own writes, and who comes next in its queue."""

from __future__ import annotations

import asyncio

import pytest

from lifecycle.api.loop.clock import Clock
from lifecycle.client.workqueue import WorkQueue
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.controllers.expectations import EXPECTATIONS_TIMEOUT, ControllerExpectations


@pytest.mark.parametrize(
    ("creations", "deletions", "seen_creations", "seen_deletions", "satisfied"),
    [
        (0, "", 0, "", True),
        (2, "", 1, "", False),
        (2, "", 2, "", True),
        (2, "", 3, "", True),  # one more than expected
        (0, "ab", 0, "a", False),
        (0, "ab", 0, "aa", False),  # a deletion is seen twice
        (0, "ab", 0, "ba", True),
        (1, "a", 1, "", False),  # both have to come
        (1, "a", 0, "a", False),
        (1, "a", 1, "a", True),
        (1, "", 0, "x", False),
    ],
)
def test_all_that_was_asked_for_has_to_be_seen(
    creations: int, deletions: str, seen_creations: int, seen_deletions: str, satisfied: bool
) -> None:
    async def main() -> tuple[bool, bool]:
        expectations = ControllerExpectations(Clock())
        expectations.expect("key", creations=creations, deletions=deletions)
        for _ in range(seen_creations):
            expectations.creation_observed("key")
        for name in seen_deletions:
            expectations.deletion_observed("key", name)
        at_once = expectations.satisfied("key")
        await asyncio.sleep(EXPECTATIONS_TIMEOUT - 1)
        assert expectations.satisfied("key") is at_once  # five minutes are not over yet
        await asyncio.sleep(2)
        return at_once, expectations.satisfied("key")

    assert on_virtual_time(main()) == (satisfied, True)  # an event that never comes does not block for ever


def test_what_is_wanted_again_while_it_is_worked_on_goes_to_the_end() -> None:
    async def main() -> list[str]:
        queue, order = WorkQueue[str](), list[str]()
        for key in ("a", "b", "c"):
            queue.add(key)
        first = await queue.get()
        assert first is not None
        queue.add(first)
        queue.add(first)  # once is enough
        assert len(queue) == 2  # not before it is done
        queue.done(first)
        order.append(first)
        while len(queue):
            key = await queue.get()
            assert key is not None
            order.append(key)
            queue.done(key)
        return order

    assert on_virtual_time(main()) == ["a", "b", "c", "a"]


def test_who_waits_is_told_of_what_has_to_be_done_again() -> None:
    """Also if whoever was at it does not come back."""

    async def main() -> str | None:
        queue = WorkQueue[str]()
        queue.add("a")
        taken = await queue.get()
        assert taken is not None
        waiting = asyncio.create_task(queue.get())
        await asyncio.sleep(1)
        queue.add(taken)
        await asyncio.sleep(1)
        assert not waiting.done(), "two at one key would be in each other's way"
        queue.done(taken)
        async with asyncio.timeout(1):
            return await waiting

    assert on_virtual_time(main()) == "a"


def test_what_is_done_and_not_wanted_again_does_not_come_back() -> None:
    async def main() -> list[int]:
        queue, sizes = WorkQueue[str](), list[int]()
        queue.add("a")
        queue.add("a")
        sizes.append(len(queue))
        taken = await queue.get()
        assert taken is not None
        sizes.append(len(queue))
        queue.done(taken)
        sizes.append(len(queue))
        queue.add("a")  # but may be wanted later
        sizes.append(len(queue))
        return sizes

    assert on_virtual_time(main()) == [1, 0, 0, 1]
