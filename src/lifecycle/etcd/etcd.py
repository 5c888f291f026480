"""A real etcd behind our protocol.

Each read and write is one call; a conditional write is a transaction of one comparison
and one operation, as Kubernetes does it. What makes a remote store different from one
in this process – that its changes arrive a moment later – is `follower`'s business: a
write here returns only when its own change has come by.

Upstream: `apiserver/pkg/storage/etcd3/store.go` (`Create`, `GuaranteedUpdate`,
`GetList`), v1.36; when to compact, the API server says (`storage/compactor`). Left out:
what `client` leaves out; retrying (a client is told, and tries again).
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from lifecycle.etcd.client import COMPACTED, FUTURE, Client, current_revision
from lifecycle.etcd.follower import Follower
from lifecycle.etcd.messages import Message, key_value
from lifecycle.etcd.store import (
    CompactedError,
    FutureRevisionError,
    KeyValue,
    RangeResult,
    RequestTooLargeError,
    StoreError,
)
from lifecycle.etcd.watches import EventWatch

OLDEST = (3, 4)
PAGE = 1_000
LARGER = "larger than max"
"""What gRPC says of a message that is too large, on either way."""


class EtcdStore:
    """Implements `etcd.store.Store`. Made by `await EtcdStore.open(url)`."""

    remote = True

    def __init__(self, client: Client, revision: int) -> None:
        self._client = client
        self._follower = Follower(client, revision)

    @classmethod
    async def open(cls, url: str) -> EtcdStore:
        """Connect to `http://host:port`. Raises UnavailableError, StoreError if there
        is no etcd of version 3.4 or later.
        """
        client = Client(url)
        try:
            version = await client.version()
            if tuple(map(int, version.split(".")[:2])) < OLDEST:
                raise StoreError(f"etcd {version} is too old: 3.4 or later")
            return cls(client, await current_revision(client))
        except BaseException:
            await client.close()
            raise

    @property
    def revision(self) -> int:
        """The newest revision that has come by."""
        return self._follower.revision

    @property
    def problem(self) -> str:
        """Why nothing comes by; empty if all is well."""
        return self._follower.problem

    async def catch_up(self) -> None:
        """Wait until everything has come by that etcd holds now, whoever wrote it.
        Raises UnavailableError.
        """
        await self._follower.catch_up()

    # -- reads -------------------------------------------------------------------------

    async def get(self, key: str, revision: int = 0) -> KeyValue | None:
        """The key now or at a revision."""
        answer = await self._history_call(
            "Range", {"key": key.encode(), "revision": revision}
        )
        return key_value(answer.kvs[0]) if answer.kvs else None

    async def range(
        self, start: str, end: str, *, revision: int = 0, limit: int = 0
    ) -> RangeResult:
        """Keys in `[start, end)`, in order, of one consistent picture, fetched in pages
        of that picture.
        """
        kvs: list[KeyValue] = []
        size, now, count = PAGE, 0, 0
        while True:
            page_limit = min(size, limit - len(kvs)) if limit else size
            fields = {
                "key": (kvs[-1].key + "\0" if kvs else start).encode(),
                "range_end": end.encode(),
                "revision": revision,
                "limit": page_limit,
            }
            try:
                answer = await self._history_call("Range", fields)
            except StoreError as error:
                if LARGER not in str(error) or size == 1:
                    raise
                # what stands between may take no more than 4 MB at once
                size = max(size // 4, 1)
                continue
            if not now:
                now, count = answer.header.revision, answer.count
                revision = revision or now
            kvs += map(key_value, answer.kvs)
            if not answer.more or len(kvs) == limit:
                return RangeResult(kvs, now, count, len(kvs) < count)

    async def _history_call(self, name: str, fields: Mapping[str, Any]) -> Message:
        """A call with a revision in it. etcd says that one is gone or not there yet;
        our errors also say how far one can go.
        """
        try:
            return await self._client.call(name, fields)
        except StoreError as error:
            if FUTURE in str(error):
                raise FutureRevisionError(self.revision) from None
            if COMPACTED in str(error):
                raise CompactedError(await self._compact_revision()) from None
            raise

    async def _compact_revision(self) -> int:
        """A watch from the beginning is told where history begins now."""
        try:
            async with contextlib.aclosing(self._follower.history(1)) as history:
                await anext(history)
        except CompactedError as error:
            return error.compact_revision
        return 0

    # -- writes ------------------------------------------------------------------------

    async def put(
        self, key: str, value: bytes, *, expected: int | None = None, lease: int = 0
    ) -> int | None:
        """Compare and swap; the new revision, or None if the comparison failed."""
        fields = {"key": key.encode(), "value": value, "lease": lease}
        return await self._transaction(key, {"request_put": fields}, expected)

    async def delete(self, key: str, *, expected: int | None = None) -> int | None:
        """Compare and delete; the new revision, or None if absent or the comparison
        failed.
        """
        return await self._transaction(
            key, {"request_delete_range": {"key": key.encode()}}, expected
        )

    async def _transaction(
        self, key: str, request: Mapping[str, Any], expected: int | None
    ) -> int | None:
        fields: dict[str, Any] = {"success": [request]}
        if expected is not None:
            compared = {"key": key.encode(), "target": "MOD", "mod_revision": expected}
            fields["compare"] = [{**compared, "result": "EQUAL"}]
        with self._follower.writing(key):
            try:
                answer = await self._client.call("Txn", fields)
            except StoreError as error:
                raise (
                    RequestTooLargeError() if LARGER in str(error) else error
                ) from None  # gRPC was first to refuse
        revision: int = answer.header.revision
        await self._follower.until(
            revision
        )  # a refused write waits as well: then its caller sees what was faster
        if not answer.succeeded:
            return None
        done = answer.responses[0]
        if done.HasField("response_delete_range"):
            return revision if done.response_delete_range.deleted else None
        return revision

    # -- watches, leases, history ------------------------------------------------------

    def watch(
        self, start: str, end: str, *, revision: int = 0, progress: bool = False
    ) -> EventWatch:
        """Changes in `[start, end)` from a revision on (0: from now on)."""
        return self._follower.watch(start, end, revision)

    async def grant(self, ttl: int) -> int:
        """A lease of `ttl` seconds; etcd lets none be shorter than its election
        timeout.
        """
        return int((await self._client.call("LeaseGrant", {"TTL": ttl})).ID)

    async def revoke(self, lease: int) -> None:
        """End a lease and delete its keys. Raises LeaseNotFoundError."""
        answer = await self._client.call("LeaseRevoke", {"ID": lease})
        await self._follower.until(answer.header.revision)

    async def compact(self, revision: int) -> None:
        """Forget what was before a revision; the state at that revision stays
        readable.
        """
        await self._history_call("Compact", {"revision": revision, "physical": True})
        self._follower.forget(revision)

    async def close(self) -> None:
        """End all watches, close the connections."""
        await self._follower.close()
        await self._client.close()
