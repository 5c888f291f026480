"""A store with latencies on both ways, and answers that get lost: on virtual time, from a seed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from typing import Any

from lifecycle.etcd.store import Store
from tests.chaos.faulty_store import FaultyStore
from tests.chaos.scenario import Fault

LATENCY = 0.02
LOST = 0.08
"""The share of reads and writes that fail; half of these writes are done all the same."""


class Weather(FaultyStore):
    """Implements `Store`."""

    def __init__(self, inner: Store, seed: int, lost: float = LOST) -> None:
        self._chance = random.Random(seed)
        self.lost = lost
        super().__init__(inner, self._now, self._chance)

    def _now(self, kind: str) -> Iterator[Fault]:
        if kind == "slow":
            yield Fault(0, kind, "store", 0, self._chance.random() * LATENCY)
        if kind == "unavailable":
            yield Fault(0, kind, "store", 0, self.lost)

    async def _ask(self, writes: bool, do: Callable[[], Any]) -> Any:
        answer = await super()._ask(writes, do)
        await asyncio.sleep(self._chance.random() * LATENCY)
        return answer
