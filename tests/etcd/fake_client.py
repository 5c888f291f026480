"""etcd's answers without an etcd: its messages over a store in memory, and the ways in which it fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from lifecycle.etcd.client import CALLS, COMPACTED, FUTURE
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.messages import Message, message_class, new
from lifecycle.etcd.store import (
    CompactedError,
    Event,
    FutureRevisionError,
    KeyValue,
    StoreError,
    UnavailableError,
    check_request_size,
)

LAST = "\U0010ffff"


Fields = Mapping[str, Any]


def _fields(kv: KeyValue) -> dict[str, Any]:
    numbers = {"create_revision": kv.create_revision, "mod_revision": kv.mod_revision, "version": kv.version}
    return {"key": kv.key.encode(), "value": kv.value, "lease": kv.lease, **numbers}


def _event(event: Event) -> dict[str, Any]:
    out: dict[str, Any] = {"type": event.type, "kv": _fields(event.kv)}
    if event.prev is not None:
        out["prev_kv"] = _fields(event.prev)
    return out


class FakeClient:
    """In place of `Client`. `asked` has every call; `fail` is raised by the next ones, `cut` by open streams.

    `largest`: a range answer may hold so many keys, `fragments`: events come one a message, `delay`: so much later.
    """

    def __init__(self) -> None:
        message_class("WatchResponse")  # where there is no library for messages, whoever makes this one is told
        self.store = MemoryStore(history=0)
        self.asked: list[tuple[str, Fields]] = []
        self.streams: list[Fields] = []
        self.times: list[float] = []
        self.fail: StoreError | None = None
        self.cut: list[Fields | StoreError] = []
        self.largest, self.fragments, self.delay, self.closed = 10_000, False, 0.0, False
        self._bell = asyncio.Event()

    async def version(self) -> str:
        return "3.6.1"

    async def close(self) -> None:
        self.closed = True

    def interrupt(self, *how: Fields | StoreError) -> None:
        """Open streams, and the next to be opened, end like this, one after the other."""
        self.cut += how
        self._ring()

    def _ring(self) -> None:
        self._bell.set()
        self._bell = asyncio.Event()

    async def call(self, name: str, fields: Fields) -> Message:
        new(CALLS[name][1], fields)  # a field that etcd does not know is an error
        self.asked.append((name, fields))
        await asyncio.sleep(0)
        if self.fail is not None:
            raise self.fail
        try:
            answer = await self._answer(name, fields)
        except CompactedError:
            raise StoreError(COMPACTED) from None
        except FutureRevisionError:
            raise StoreError(FUTURE) from None
        self._ring()
        return new(CALLS[name][2], {"header": self._header(), **answer})

    def _header(self) -> Fields:
        return {"revision": self.store.revision}

    async def _answer(self, name: str, fields: Fields) -> Fields:
        match name:
            case "Range" if fields.get("count_only"):
                return {}
            case "Range":
                return await self._range(fields)
            case "Txn":
                return await self._txn(fields)
            case "Compact":
                assert fields["physical"] is True
                await self.store.compact(fields["revision"])
                return {}
            case "LeaseGrant":
                return {"ID": await self.store.grant(fields["TTL"])}
            case "LeaseRevoke":
                await self.store.revoke(fields["ID"])
                return {}
        raise AssertionError(name)

    async def _range(self, fields: Fields) -> Fields:
        key, revision = fields["key"].decode(), fields["revision"]
        if "range_end" not in fields:
            kv = await self.store.get(key, revision)
            return {"kvs": [_fields(kv)], "count": 1} if kv else {}
        page = await self.store.range(key, fields["range_end"].decode(), revision=revision, limit=fields["limit"])
        if len(page.kvs) > self.largest:
            raise StoreError("rpc error: received message larger than max (5 vs. 4)")
        return {"kvs": list(map(_fields, page.kvs)), "count": page.count, "more": page.more}

    async def _txn(self, fields: Fields) -> Fields:
        (request,) = fields["success"]
        put, deletion = request.get("request_put"), request.get("request_delete_range")
        expected = None
        key = (put or deletion)["key"].decode()
        for compare in fields.get("compare", ()):
            assert (compare["key"].decode(), compare["target"], compare["result"]) == (key, "MOD", "EQUAL")
            expected = compare["mod_revision"]
        held = await self.store.get(key)
        if expected is not None and expected != (held.mod_revision if held else 0):
            return {}
        if put is not None:
            check_request_size(key, put["value"])
            await self.store.put(key, put["value"], lease=put["lease"])
            return {"succeeded": True, "responses": [{"response_put": {}}]}
        done = await self.store.delete(key)
        return {"succeeded": True, "responses": [{"response_delete_range": {"deleted": 1 if done else 0}}]}

    async def watch(self, create: Fields) -> AsyncGenerator[Message, None]:
        self.times.append(asyncio.get_running_loop().time())
        self.streams.append(create)
        if self.fail is not None:
            raise self.fail
        header = {"header": self._header()}
        yield new("WatchResponse", {**header, "created": True})
        watch = self.store.watch("\0", LAST, revision=create["start_revision"])
        try:
            while True:
                if self.cut:
                    how = self.cut.pop(0)
                    if isinstance(how, StoreError):
                        raise how
                    yield new("WatchResponse", {**header, **how})
                    return
                bell = self._bell
                try:
                    events = watch.take() or ([] if not watch.ended else await anext(aiter(watch)))
                except CompactedError as error:
                    yield new("WatchResponse", {**header, "canceled": True, "compact_revision": error.compact_revision})
                    return
                if not events:
                    await bell.wait()
                    continue
                if self.delay:
                    await asyncio.sleep(self.delay)
                for event in events:  # each has a revision of its own here
                    if self.fragments:
                        yield new("WatchResponse", {**header, "fragment": True})
                    yield new("WatchResponse", {**header, "events": [_event(event)]})
        finally:
            await watch.close()


AWAY = UnavailableError("rpc error: code = Unavailable desc = away")
