"""Large work is done beside the loop, and on virtual time here and now."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from lifecycle.api import freed_memory, worker
from lifecycle.api.clock import run_virtual
from lifecycle.api.freed_memory import MOMENT, MUCH, FreedMemory
from lifecycle.api.worker import LARGE, PIECES, OnDemand, Pauses, Turn, beside

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
        with pytest.raises(ValueError, match="by the caller"):
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
        with pytest.raises(ValueError, match="no"):
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
        with pytest.raises(ValueError, match="not yet"):
            await made.get()
        assert await made.get() == 1

    run_virtual(scene())


@pytest.mark.parametrize(("seconds", "turns"), [(PIECES / 3, 2), (2 * PIECES, 10), (0.0, 0)])
def test_work_that_never_waits_pauses_when_it_has_gone_on_for_long(seconds: float, turns: int) -> None:
    async def scene() -> int:
        loop, had, now = asyncio.get_running_loop(), 0, 0.0

        def turn() -> None:
            nonlocal had
            had += 1
            loop.call_soon(turn)

        with patch.object(loop, "time", lambda: now):
            pauses = Pauses()
            loop.call_soon(turn)
            for _ in range(10):
                now += seconds
                await pauses.pause()
            return had

    assert run_virtual(scene()) == turns


def test_a_moment_after_it_was_asked_and_once_for_all_who_ask_meanwhile_free_memory_goes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(freed_memory, "_malloc_trim", lambda: given.append)
    given, submitted = list[int](), list[Callable[[], object]]()

    async def scene() -> None:
        loop, freed = asyncio.get_running_loop(), FreedMemory(submitted.append)
        for number in (1, 2):
            freed.give_back_soon(loop)
            await asyncio.sleep(MOMENT / 2)
            freed.give_back_soon(loop)
            assert len(submitted) == number - 1
            await asyncio.sleep(MOMENT)
            assert len(submitted) == number

    run_virtual(scene())
    for work in submitted:
        work()
    assert given == [0, 0]


def test_only_large_work_leaves_something_to_give_back_and_on_virtual_time_it_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = list[object]()
    monkeypatch.setattr(worker, "_freed_memory", lambda: SimpleNamespace(give_back_soon=asked.append))

    async def scene(size: int) -> None:
        await beside(size, int)

    for size, times in ((MUCH - 1, 0), (MUCH, 1), (MUCH + 1, 2)):
        asyncio.run(scene(size))
        assert len(asked) == times
    run_virtual(scene(MUCH))
    assert len(asked) == 2


def test_what_the_c_library_keeps_goes_back_to_the_machine() -> None:
    def held() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    kept = [bytes(2_000) for _ in range(50_000)][::1000]  # one in each two megabytes
    before = held()
    freed_memory._malloc_trim()(0)
    assert held() < before - 50e6
    assert len(kept) == 50


def test_another_c_library_has_nothing_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freed_memory.ctypes, "CDLL", lambda _name: object())
    assert freed_memory._malloc_trim.__wrapped__()(0) == 0
