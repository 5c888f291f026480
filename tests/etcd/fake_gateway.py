"""etcd's answers without an etcd: messages of its gateway over a store in memory, and the ways in which it fails."""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator
from typing import Any

from lifecycle.etcd.gateway import COMPACTED, FUTURE, Message
from lifecycle.etcd.memory import MemoryStore
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


def _key(text: str) -> str:
    return b64decode(text).decode()


def _message(kv: KeyValue) -> Message:
    numbers = {
        "create_revision": kv.create_revision, "mod_revision": kv.mod_revision, "version": kv.version, "lease": kv.lease,
    }  # fmt: skip
    out = {"key": b64encode(kv.key.encode()).decode(), "value": b64encode(kv.value).decode()}
    return out | {name: str(number) for name, number in numbers.items() if number}  # as protobuf: no zeros


def _event(event: Event) -> Message:
    out: Message = {"kv": _message(event.kv)}
    if event.type != "PUT":
        out["type"] = event.type
    if event.prev is not None:
        out["prev_kv"] = _message(event.prev)
    return out


class FakeGateway:
    """In place of `Gateway`. `asked` has every call; `fail` is raised by the next ones, `cut` by open streams.

    `largest`: a range answer may hold so many keys, `fragments`: events come one a message, `delay`: so much later.
    """

    def __init__(self) -> None:
        self.store = MemoryStore(history=0)
        self.asked: list[tuple[str, Message]] = []
        self.streams: list[Message] = []
        self.times: list[float] = []
        self.fail: StoreError | None = None
        self.cut: list[Message | StoreError] = []
        self.largest, self.fragments, self.delay, self.closed = 10_000, False, 0.0, False
        self._bell = asyncio.Event()

    async def version(self) -> str:
        return "3.6.1"

    async def close(self) -> None:
        self.closed = True

    def interrupt(self, *how: Message | StoreError) -> None:
        """Open streams, and the next to be opened, end like this, one after the other."""
        self.cut += how
        self._ring()

    def _ring(self) -> None:
        self._bell.set()
        self._bell = asyncio.Event()

    async def call(self, path: str, message: Message) -> Message:
        self.asked.append((path, message))
        await asyncio.sleep(0)
        if self.fail is not None:
            raise self.fail
        try:
            answer = await self._answer(path, message)
        except CompactedError:
            raise StoreError(COMPACTED) from None
        except FutureRevisionError:
            raise StoreError(FUTURE) from None
        self._ring()
        return {"header": {"revision": str(self.store.revision)}, **answer}

    async def _answer(self, path: str, message: Message) -> Message:
        match path:
            case "/v3/kv/range" if message.get("count_only"):
                return {}
            case "/v3/kv/range":
                return await self._range(message)
            case "/v3/kv/txn":
                return await self._txn(message)
            case "/v3/kv/compaction":
                assert message["physical"] is True
                await self.store.compact(int(message["revision"]))
                return {}
            case "/v3/lease/grant":
                return {"ID": str(await self.store.grant(int(message["TTL"])))}
            case "/v3/lease/revoke":
                await self.store.revoke(int(message["ID"]))
                return {}
        raise AssertionError(path)

    async def _range(self, message: Message) -> Message:
        key, revision = _key(message["key"]), int(message["revision"])
        if "range_end" not in message:
            kv = await self.store.get(key, revision)
            return {"kvs": [_message(kv)], "count": "1"} if kv else {}
        page = await self.store.range(key, _key(message["range_end"]), revision=revision, limit=int(message["limit"]))
        if len(page.kvs) > self.largest:
            raise StoreError("rpc error: received message larger than max (5 vs. 4)")
        kvs = {"kvs": [_message(kv) for kv in page.kvs]} if page.kvs else {}
        return kvs | {"count": str(page.count)} | ({"more": True} if page.more else {})

    async def _txn(self, message: Message) -> Message:
        (request,) = message["success"]
        put, deletion = request.get("request_put"), request.get("request_delete_range")
        expected = None
        key = _key((put or deletion)["key"])
        for compare in message.get("compare", ()):
            assert (_key(compare["key"]), compare["target"], compare["result"]) == (key, "MOD", "EQUAL")
            expected = int(compare["mod_revision"])
        held = await self.store.get(key)
        if expected is not None and expected != (held.mod_revision if held else 0):
            return {}
        if put is not None:
            value = b64decode(put["value"])
            check_request_size(key, value)
            await self.store.put(key, value, lease=int(put["lease"]))
            return {"succeeded": True, "responses": [{"response_put": {}}]}
        done = await self.store.delete(key)
        return {"succeeded": True, "responses": [{"response_delete_range": {"deleted": "1"} if done else {}}]}

    async def stream(self, path: str, message: Message) -> AsyncGenerator[Message, None]:
        self.times.append(asyncio.get_running_loop().time())
        request: dict[str, Any] = message["create_request"]
        self.streams.append({"path": path, **request})
        if self.fail is not None:
            raise self.fail
        header = {"header": {"revision": str(self.store.revision)}}
        yield {**header, "created": True}
        watch = self.store.watch("\0", LAST, revision=int(request["start_revision"]))
        try:
            while True:
                if self.cut:
                    how = self.cut.pop(0)
                    if isinstance(how, StoreError):
                        raise how
                    yield {**header, **how}
                    return
                bell = self._bell
                try:
                    events = watch.take() or ([] if not watch.ended else await anext(aiter(watch)))
                except CompactedError as error:
                    yield {**header, "canceled": True, "compact_revision": str(error.compact_revision)}
                    return
                if not events:
                    await bell.wait()
                    continue
                if self.delay:
                    await asyncio.sleep(self.delay)
                for event in events:  # each has a revision of its own here
                    if self.fragments:
                        yield {**header, "fragment": True}
                    yield {**header, "events": [_event(event)]}
        finally:
            await watch.close()


AWAY = UnavailableError("rpc error: code = Unavailable desc = away")
