"""Stores that break a promise now and then, each in its own way."""

from __future__ import annotations

import random
from typing import Any

from lifecycle.etcd.store import KeyValue, RangeResult, Store


class Sabotaged:
    """A store that passes everything on."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        self.chance = random.Random(1)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class StaleRead(Sabotaged):
    """Every fifth read is answered with what the key held at the read before."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self._before: dict[str, KeyValue | None] = {}

    async def get(self, key: str, revision: int = 0) -> KeyValue | None:
        kept = self._before.get(key)
        if key in self._before and self.chance.random() < 0.2:
            return kept
        self._before[key] = await self.inner.get(key, revision)
        return self._before[key]


class LostUpdate(Sabotaged):
    """Every fifth change of what is there already does not look whether it is still the same."""

    async def put(self, key: str, value: bytes, *, expected: int | None = None, lease: int = 0) -> int | None:
        if expected and self.chance.random() < 0.2:
            expected = None
        return await self.inner.put(key, value, expected=expected, lease=lease)


class LostDelete(Sabotaged):
    """Every fifth deletion is acknowledged, and not done."""

    async def delete(self, key: str, *, expected: int | None = None) -> int | None:
        if self.chance.random() < 0.2 and (held := await self.inner.get(key)) is not None:
            return held.mod_revision + 1 if expected in (None, held.mod_revision) else None
        return await self.inner.delete(key, expected=expected)


class TwiceDone(Sabotaged):
    """Every fifth creation is repeated later, as a client does that tries again though the first time has succeeded."""

    async def put(self, key: str, value: bytes, *, expected: int | None = None, lease: int = 0) -> int | None:
        revision = await self.inner.put(key, value, expected=expected, lease=lease)
        if expected == 0 and revision is not None and self.chance.random() < 0.5:
            await self.inner.delete(key)
            await self.inner.put(key, value, expected=0, lease=lease)
        return revision


class TornList(Sabotaged):
    """The first half of a list is older than the second."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self._before: list[KeyValue] = []

    async def range(self, start: str, end: str, *, revision: int = 0, limit: int = 0) -> RangeResult:
        answer = await self.inner.range(start, end, revision=revision, limit=limit)
        half = len(answer.kvs) // 2
        old = [kv for kv in self._before if half and kv.key < answer.kvs[half].key]
        self._before = answer.kvs
        return RangeResult([*old, *answer.kvs[half:]], answer.revision, answer.count, answer.more)


class CacheBehind(Sabotaged):
    """Whoever asks whether the caches are as new as the store is told yes at once: a list can be behind what another server wrote."""

    remote = True

    async def catch_up(self) -> None:
        return
