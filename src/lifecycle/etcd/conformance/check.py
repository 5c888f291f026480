"""How a check is kept and run, and what the checks of every chapter of the contract
need.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from lifecycle.etcd.store import Event, Store, Watch, prefix_end

E = TypeVar("E", bound=Exception)
StoreFactory = Callable[[], Awaitable[Store]]
Check = Callable[[Store, str], Awaitable[None]]

CHECKS: dict[str, Check] = {}
"""All checks, by name. A check gets an open store and a prefix that is its own."""

PATIENCE = 10.0
"""Seconds that a check may take. A store that loses an event is found out by this."""


def check(function: Check) -> Check:
    """Add a function to CHECKS, under its own name."""
    CHECKS[function.__name__] = function
    return function


async def run_check(name: str, open_store: StoreFactory) -> None:
    """Run one check on a store opened for it. Raises AssertionError; TimeoutError if
    the store leaves it waiting.
    """
    async with asyncio.timeout(PATIENCE), _opened(open_store) as store:
        prefix = f"/registry/{name}/"
        for kv in (
            await store.range(prefix, prefix_end(prefix))
        ).kvs:  # left by an earlier run
            await store.delete(kv.key)
        await CHECKS[name](store, prefix)


@asynccontextmanager
async def _opened(open_store: StoreFactory) -> AsyncIterator[Store]:
    store = await open_store()
    try:
        yield store
    finally:
        await store.close()


async def next_events(watch: Watch, count: int) -> list[Event]:
    """The next `count` events."""
    events: list[Event] = []
    async for batch in watch:
        events += batch
        if len(events) >= count:
            break
    assert len(events) == count, f"{len(events)} events instead of {count}"
    return events


def flat(event: Event) -> tuple[str, str, bytes, int, bytes | None]:
    """Type, key, value, revision and the value before."""
    return (
        event.type,
        event.kv.key,
        event.kv.value,
        event.kv.mod_revision,
        event.prev.value if event.prev else None,
    )


async def refusal(attempt: Awaitable[object], kind: type[E]) -> E:
    """The error that an attempt must raise."""
    try:
        await attempt
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


async def write(store: Store, key: str, value: bytes) -> int:
    """An unconditional put; its revision."""
    revision = await store.put(key, value)
    assert revision is not None, "an unconditional write was refused"
    return revision
