"""Requests from outside go first; when nobody outside asks, nobody inside waits."""

from __future__ import annotations

import asyncio
import itertools
from unittest.mock import patch

from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.loop.pauses import TURN
from lifecycle.apiserver.server.precedence import ATTENTION, Precedence


def test_nobody_waits_while_it_is_quiet_outside() -> None:
    async def main() -> None:
        precedence = Precedence()
        turn = precedence.turn()
        try:
            turn.send(None)
        except StopIteration:
            return
        raise AssertionError("the turn had to be waited for")

    run_virtual(main())


def test_while_somebody_outside_asks_one_goes_each_round_in_order() -> None:
    async def main() -> list[tuple[int, int]]:
        precedence = Precedence()
        precedence.outside()
        rounds = 0
        went: list[tuple[int, int]] = []

        async def inside(number: int) -> None:
            await precedence.turn()
            went.append((number, rounds))

        tasks = [asyncio.ensure_future(inside(number)) for number in range(4)]
        while len(went) < 4:
            rounds += 1
            precedence.outside()
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        return went

    went = run_virtual(main())
    assert [number for number, _ in went] == [0, 1, 2, 3]
    assert len({round_ for _, round_ in went}) == 4


def test_all_go_on_once_it_becomes_quiet() -> None:
    async def main() -> None:
        precedence = Precedence()
        precedence.outside()
        waiting = [asyncio.ensure_future(precedence.turn()) for _ in range(100)]
        await asyncio.sleep(2 * ATTENTION)
        await asyncio.wait_for(asyncio.gather(*waiting), timeout=1)

    run_virtual(main())


def test_a_cancelled_request_takes_no_turn() -> None:
    async def main() -> None:
        precedence = Precedence()
        precedence.outside()
        first = asyncio.ensure_future(precedence.turn())
        second = asyncio.ensure_future(precedence.turn())
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait_for(second, timeout=1)

    run_virtual(main())


def looks_between(work: int, workers: int, *, outside: bool) -> list[int]:
    """Each request takes two milliseconds and waits for nothing; how many are there between two looks at the sockets?
    `outside`: somebody asks when they begin.
    """
    looks: list[int] = []

    async def main() -> None:
        loop, precedence, now, done = asyncio.get_running_loop(), Precedence(), 0.0, 0

        async def worker() -> None:
            nonlocal now, done
            for _ in range(work):
                await precedence.turn()
                now += 0.002
                done += 1

        def look() -> None:
            looks.append(done)
            if done < work * workers:
                loop.call_soon(look)

        with patch.object(loop, "time", lambda: now):
            if outside:
                precedence.outside()
            loop.call_soon(look)
            await asyncio.gather(*(worker() for _ in range(workers)))

    asyncio.run(main())
    return [later - earlier for earlier, later in itertools.pairwise(looks)]


def test_nobody_within_goes_on_for_longer_than_a_round_without_the_loop_going_round() -> None:
    assert max(looks_between(100, 4, outside=False)) <= TURN / 0.002 + 1


def test_those_who_have_waited_do_not_all_go_on_in_one_round() -> None:
    """A hundred pods are created at the same time."""
    assert max(looks_between(2, 100, outside=True)) <= TURN / 0.002 + 1
