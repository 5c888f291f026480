"""Many who wait for etcd's revision share one question, and whoever leaves takes it along from nobody."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.etcd import follower
from lifecycle.etcd.follower import Follower


class _Following(Follower):
    """One that has not begun to watch."""

    async def _follow(self) -> None:
        await asyncio.Event().wait()


def test_who_gives_up_waiting_leaves_the_question_to_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[float]()

    async def current_revision(gateway: Any) -> int:
        asked.append(asyncio.get_running_loop().time())
        await asyncio.sleep(5)
        return 7

    async def main() -> list[object]:
        following = _Following(cast(Any, None), 7)
        waiting = [asyncio.create_task(following.catch_up()) for _ in range(3)]
        await asyncio.sleep(1)
        waiting[0].cancel()
        return await asyncio.gather(*waiting, return_exceptions=True)

    monkeypatch.setattr(follower, "current_revision", current_revision)
    first, *others = on_virtual_time(main())
    assert isinstance(first, asyncio.CancelledError)
    assert others == [None, None]
    assert len(asked) == 1


def test_who_comes_while_it_is_on_its_way_asks_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer may be older than the asker."""
    asked = list[float]()

    async def current_revision(gateway: Any) -> int:
        asked.append(asyncio.get_running_loop().time())
        await asyncio.sleep(5)
        return 7

    async def main() -> list[float]:
        loop, ended = asyncio.get_running_loop(), list[float]()
        began, following = loop.time(), _Following(cast(Any, None), 7)

        async def at(second: float) -> None:
            await asyncio.sleep(second)
            await following.catch_up()
            ended.append(loop.time() - began)

        await asyncio.gather(*map(at, (0, 0, 1, 2, 4)))
        return ended

    monkeypatch.setattr(follower, "current_revision", current_revision)
    assert on_virtual_time(main()) == pytest.approx([5, 5, 10, 10, 10])
    assert len(asked) == 2
