"""Large work is done beside the loop, and on virtual time here and now."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

import pytest

from lifecycle.api import freed_memory
from lifecycle.api.freed_memory import MUCH
from lifecycle.api.loop import worker
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.loop.worker import HELD, LARGE, LONGEST_REST, PIECES, OnDemand, Turn, beside, let_go, one_by_one

_said: ContextVar[str] = ContextVar("said", default="")


def test_the_loop_goes_on_while_the_worker_works() -> None:
    async def scene() -> None:
        going_on = threading.Event()

        def work() -> str:
            assert going_on.wait(20)  # only the loop can set it
            return threading.current_thread().name

        working = asyncio.create_task(beside(LARGE + 1, work))
        await asyncio.sleep(0)
        going_on.set()
        assert (await working).startswith("worker")

    asyncio.run(scene())


def test_there_is_one_worker_that_takes_one_thing_at_a_time() -> None:
    async def scene() -> None:
        running, most = 0, 0

        def work() -> None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            sum(range(100_000))
            running -= 1

        await asyncio.gather(*(beside(LARGE + 1, work) for _ in range(5)))
        assert most == 1

    asyncio.run(scene())


def test_small_work_and_all_work_on_virtual_time_is_done_at_once() -> None:
    async def here(size: int) -> bool:
        return await beside(size, threading.current_thread) is threading.current_thread()

    assert asyncio.run(here(LARGE))
    assert not asyncio.run(here(LARGE + 1))
    assert run_virtual(here(LARGE + 1))


def test_the_worker_raises_what_the_work_raises_and_knows_its_context() -> None:
    def work() -> None:
        raise ValueError(_said.get())

    async def scene() -> None:
        _said.set("by the caller")
        with pytest.raises(ValueError, match=r"by the caller$"):
            await beside(LARGE + 1, work)

    asyncio.run(scene())


def test_what_is_cancelled_before_its_turn_is_not_begun() -> None:
    async def scene() -> None:
        free, begun = threading.Event(), []
        blocking = asyncio.create_task(beside(LARGE + 1, free.wait, 20))
        waiting = asyncio.create_task(beside(LARGE + 1, begun.append, 1))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        free.set()
        assert await blocking
        await beside(LARGE + 1, sum, ())
        assert not begun

    asyncio.run(scene())


def test_pieces_are_done_here_until_they_have_taken_a_turn_together(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene() -> None:
        loop, now = asyncio.get_running_loop(), 0.0
        monkeypatch.setattr(loop, "time", lambda: now)
        turn, here = Turn(), threading.current_thread()

        def piece(seconds: float) -> threading.Thread:
            nonlocal now
            now += seconds
            return threading.current_thread()

        assert await turn.work(piece, PIECES / 2) is here
        now += 9  # what others do meanwhile does not count
        assert await turn.work(piece, PIECES) is here
        assert turn.over
        assert (await turn.work(piece, 0)).name.startswith("worker")
        assert await Turn().work(piece, 0) is here

    asyncio.run(scene())


def test_a_piece_that_fails_has_taken_its_time_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene() -> None:
        loop, now = asyncio.get_running_loop(), 0.0
        monkeypatch.setattr(loop, "time", lambda: now)

        def piece() -> None:
            nonlocal now
            now += 2 * PIECES
            raise ValueError("no")

        turn = Turn()
        with pytest.raises(ValueError, match=r"no$"):
            await turn.work(piece)
        assert turn.over

    asyncio.run(scene())


def test_what_is_made_on_demand_is_made_once_by_the_worker_however_many_want_it() -> None:
    makers: list[str] = []

    def make(number: int) -> list[int]:
        makers.append(threading.current_thread().name.partition("_")[0])
        return [number]

    async def scene() -> None:
        made = OnDemand(make, 7)
        assert not makers
        first, second = await asyncio.gather(made.get(), made.get())
        assert first == [7]
        assert first is second is await made.get()
        assert makers == ["worker"]

    asyncio.run(scene())


def test_what_could_not_be_made_is_tried_again_by_who_asks_next() -> None:
    results = iter([None, 1])

    def make() -> int:
        if (result := next(results)) is None:
            raise ValueError("not yet")
        return result

    async def scene() -> None:
        made = OnDemand(make)
        with pytest.raises(ValueError, match=r"not yet$"):
            await made.get()
        assert await made.get() == 1

    run_virtual(scene())


def test_large_work_leaves_something_to_give_back_and_so_does_much_together(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[int]()
    monkeypatch.setattr(freed_memory, "_used", [0])
    monkeypatch.setattr(freed_memory, "give_back_soon", lambda: asked.append(1))
    half = MUCH // 2
    for size, times in ((MUCH - 1, 0), (LARGE, 0), (MUCH, 1), (MUCH + 1, 2), (half, 2), (half, 3), (half, 3)):
        asyncio.run(beside(size, int))  # type: ignore[arg-type]
        assert len(asked) == times


def test_on_virtual_time_what_was_freed_stays_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()
    monkeypatch.setattr(freed_memory, "_c_library", asked.append)

    async def scene() -> None:
        freed_memory.give_back_soon()
        await asyncio.sleep(10 * freed_memory.MOMENT)

    run_virtual(scene())
    assert asked == []


def test_between_calls_that_hold_the_interpreter_the_worker_rests_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    rests = list[float]()
    now = [0.0]
    monkeypatch.setattr(worker, "sleep", rests.append)
    monkeypatch.setattr(worker, "perf_counter", lambda: now[0])

    def work(seconds: float) -> float:
        now[0] += seconds
        return seconds

    things = [HELD / 2, 3 * HELD, 10.0]
    assert asyncio.run(beside(LARGE + 1, one_by_one, work, things)) == things
    assert rests == [pytest.approx(3 * HELD), LONGEST_REST]
    rests.clear()
    assert one_by_one(work, things) == things
    assert rests == [], "whoever is no worker is waited for"


def test_what_is_let_go_is_freed_by_the_worker_a_moment_later(monkeypatch: pytest.MonkeyPatch) -> None:
    class Thing:
        def __del__(self) -> None:
            freed.append(threading.current_thread().name)
            gone.set()

    freed, gone = list[str](), threading.Event()
    monkeypatch.setattr(worker, "SOON", 0)

    async def scene(size: int) -> None:
        things = [Thing()]
        done = let_go(things, size)
        assert freed == []
        if size > LARGE:
            assert done is not None
            await done
            assert things == []

    asyncio.run(scene(LARGE + 1))
    assert gone.wait(20)
    assert [name.startswith("worker") for name in freed] == [True]
    freed.clear()
    asyncio.run(scene(LARGE))
    assert freed == [threading.current_thread().name]


def test_what_takes_long_to_free_goes_back_to_the_machine_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now, given = [0.0], list[float]()

    class Thing:
        def __init__(self, seconds: float) -> None:
            self.seconds = seconds

        def __del__(self) -> None:
            now[0] += self.seconds

    monkeypatch.setattr(worker, "SOON", 0)
    monkeypatch.setattr(worker, "sleep", lambda _: None)
    monkeypatch.setattr(worker, "perf_counter", lambda: now[0])
    monkeypatch.setattr(worker, "give_back", lambda: given.append(now[0]))

    async def scene() -> None:
        done = let_go([Thing(HELD / 2), Thing(2 * HELD), Thing(3 * HELD)], LARGE + 1)
        assert done is not None
        await done

    asyncio.run(scene())
    assert given == [3 * HELD, 5 * HELD]
