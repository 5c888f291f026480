"""A store that can be slow, out of reach, full, or forgetful, in front of one that is none of these."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from typing import Any

from lifecycle.etcd.store import NoSpaceError, Store, UnavailableError, Watch
from tests.chaos.faulty_transport import NOTICED
from tests.chaos.scenario import Fault


class FaultyStore:
    """Implements `Store`. `weather` gives the faults that there are now."""

    def __init__(self, inner: Store, weather: Callable[[str], Iterator[Fault]], rng: random.Random) -> None:
        self.inner = inner
        self._weather = weather
        self._rng = rng
        self._watches: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def get(self, key: str, revision: int = 0) -> Any:
        """See `Store`."""
        return await self._ask(False, lambda: self.inner.get(key, revision))

    async def range(self, start: str, end: str, *, revision: int = 0, limit: int = 0) -> Any:
        """See `Store`."""
        return await self._ask(False, lambda: self.inner.range(start, end, revision=revision, limit=limit))

    async def put(self, key: str, value: bytes, *, expected: int | None = None, lease: int = 0) -> int | None:
        """See `Store`."""
        return await self._ask(True, lambda: self.inner.put(key, value, expected=expected, lease=lease))  # type: ignore[no-any-return]

    async def delete(self, key: str, *, expected: int | None = None) -> int | None:
        """See `Store`."""
        return await self._ask(True, lambda: self.inner.delete(key, expected=expected))  # type: ignore[no-any-return]

    def watch(self, start: str, end: str, *, revision: int = 0, progress: bool = False) -> Watch:
        """See `Store`."""
        watch = self.inner.watch(start, end, revision=revision, progress=progress)
        self._watches.append(watch)
        return watch

    def lose_watches(self) -> None:
        """Every watch fails: whoever follows has to read anew."""
        watches, self._watches = self._watches, []
        for watch in watches:
            if not watch.ended:
                watch.end_of_events(UnavailableError("etcdserver: connection lost"))

    async def _ask(self, writes: bool, do: Callable[[], Any]) -> Any:
        for fault in self._weather("slow"):
            await asyncio.sleep(fault.amount)
        if writes and any(self._weather("full")):
            raise NoSpaceError
        for fault in self._weather("unavailable"):
            if self._rng.random() < fault.amount:
                if writes and self._rng.random() < 0.5:
                    await do()
                await asyncio.sleep(NOTICED)
                raise UnavailableError("etcdserver: request timed out")
        return await do()
