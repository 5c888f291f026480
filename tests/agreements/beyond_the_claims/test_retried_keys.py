"""A key whose sync fails, and for how long it comes back."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from lifecycle.api.status import internal_error
from lifecycle.client import keyed_worker
from lifecycle.client.keyed_worker import RetryError, run_workers
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.cluster.rehearsal import on_virtual_time
from tests.agreements.beyond_the_claims.logged import logged

TRIES = (
    [0, 5, 10, 20],
    [
        "DEBUG sets: sync of default/web: Internal error occurred: no",
        "ERROR sets: sync of default/web failed: ValueError",
        "ERROR sets: sync of default/web failed: ValueError",
        "WARNING sets: dropping default/web out of the queue: a bug",
    ],
    [0, 5],
)


def tried_again() -> tuple[list[int], list[str], list[int]]:
    """A key whose sync is refused, wants to be called again, and meets two bugs, where
    it may be tried four times: the pauses before each try in thousandths of a second,
    and what is logged; then those before a new try and its second one, when it has been
    given up and comes again.
    """

    async def main() -> tuple[list[int], list[str], list[int]]:
        queue: RateLimitingQueue[str] = RateLimitingQueue()
        queue.add("default/web")
        bug = ValueError("a bug")
        left = [internal_error("no"), RetryError("soon"), bug, bug]
        times: list[float] = []
        loop = asyncio.get_running_loop()

        async def sync(key: str) -> None:
            times.append(loop.time())
            if left:
                raise left.pop(0)

        with logged(keyed_worker.__name__) as lines:
            working = asyncio.create_task(run_workers(queue, sync, workers=1, name="sets", max_retries=3))
            began = loop.time()
            await asyncio.sleep(100)
            first, again = [began, *times], len(times)
            left.append(RetryError("soon"))
            began = loop.time()
            queue.add("default/web")
            await asyncio.sleep(100)
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        return _pauses(first), lines, _pauses([began, *times[again:]])

    return on_virtual_time(main())


def _pauses(times: list[float]) -> list[int]:
    return [round(1000 * (b - a)) for a, b in pairwise(times)]


def test_a_key_that_fails_comes_back_later_each_time_until_it_is_given_up() -> None:
    assert tried_again() == TRIES


def test_workers_go_home_when_the_queue_is_shut_down() -> None:
    async def main() -> list[str]:
        queue: RateLimitingQueue[str] = RateLimitingQueue()
        done = list[str]()

        async def sync(key: str) -> None:
            await asyncio.sleep(1)
            done.append(key)

        working = asyncio.create_task(run_workers(queue, sync, workers=2, name="sets"))
        for key in ("a", "b", "c"):
            queue.add(key)
        await asyncio.sleep(0.5)
        queue.shut_down()
        queue.add("too late")
        async with asyncio.timeout(100):
            await working
        return sorted(done)

    assert on_virtual_time(main()) == ["a", "b", "c"]
