"""What was freed goes back to the machine, a moment later, once for all who ask meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api import freed_memory
from lifecycle.api.freed_memory import KEPT, LARGE_PIECE, MOMENT, give_back_soon, keep_little


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What the C library is asked for."""
    calls = list[tuple[object, ...]]()
    monkeypatch.setattr(freed_memory, "_c_library", lambda name: lambda *args: calls.append((name, *args)))
    return calls


class Waiting(asyncio.SelectorEventLoop):
    """A loop whose later calls are made by the test."""

    def __init__(self) -> None:
        super().__init__()
        self.later = list[tuple[float, Callable[..., object], tuple[Any, ...]]]()

    def call_later(self, delay: float, callback: Any, *args: Any, context: Any = None) -> Any:
        self.later.append((delay, callback, args))

    async def pass_by(self) -> None:
        [(_, callback, args)] = self.later
        self.later.clear()
        callback(*args)
        await self.run_in_executor(None, int)  # the default executor's threads have begun what came before


def test_a_moment_after_it_was_asked_and_once_for_all_who_ask_meanwhile(given: list[tuple[object, ...]]) -> None:
    async def scene(loop: Waiting) -> None:
        for number in (1, 2):
            for _ in range(3):
                give_back_soon()
            assert [delay for delay, _, _ in loop.later] == [MOMENT]
            assert len(given) == number - 1
            await loop.pass_by()

    with asyncio.Runner(loop_factory=Waiting) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, Waiting)
        runner.run(scene(loop))
    assert given == [("malloc_trim", 0)] * 2


def test_a_loop_that_is_ending_gives_nothing_back_and_says_nothing(given: list[tuple[object, ...]]) -> None:
    async def scene(loop: Waiting) -> None:
        give_back_soon()
        await loop.shutdown_default_executor()
        [(_, callback, args)] = loop.later
        callback(*args)

    with asyncio.Runner(loop_factory=Waiting) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, Waiting)
        runner.run(scene(loop))
    assert given == []


def test_a_server_keeps_one_stock_and_little_in_it(given: list[tuple[object, ...]]) -> None:
    keep_little()
    assert given == [("mallopt", -8, 1), ("mallopt", -1, 1 << 20), ("mallopt", -3, 512 << 10)]


def test_what_tls_takes_for_each_record_comes_out_of_the_stock() -> None:
    """uvloop offers the library so many bytes for each; a record may have one."""
    assert 256 << 10 < LARGE_PIECE < KEPT


def test_what_is_free_in_the_middle_goes_back() -> None:
    def held() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    kept = [bytes(2_000) for _ in range(50_000)][::1000]  # one in each two megabytes
    before = held()
    freed_memory._c_library("malloc_trim")(0)
    assert held() < before - 50e6
    assert len(kept) == 50


def test_another_c_library_has_nothing_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(_name: object) -> object:
        return object()

    def none(_name: object) -> object:
        raise OSError

    for library in (without, none):
        monkeypatch.setattr("ctypes.CDLL", library)
        assert freed_memory._c_library.__wrapped__("malloc_trim")(0) is None
