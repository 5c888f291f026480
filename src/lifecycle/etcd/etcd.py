"""A real etcd behind our protocol.

Each read and write is one call; a conditional write is a transaction of one comparison
and one operation, as Kubernetes does it. What makes a remote store different from one
in this process – that its changes arrive a moment later – is `follower`'s business: a
write here returns only when its own change has come by.

Upstream: `apiserver/pkg/storage/etcd3/store.go` (`Create`, `GuaranteedUpdate`,
`GetList`), v1.36; when to compact, the API server says (`storage/compactor`). Left out:
what `gateway` leaves out; retrying (a client is told, and tries again).
"""

from __future__ import annotations

import contextlib

from lifecycle.etcd.follower import Follower
from lifecycle.etcd.gateway import (
    COMPACTED,
    FUTURE,
    Gateway,
    Message,
    current_revision,
    encoded,
    encoded_bytes,
    key_value,
    revision_of,
)
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

    def __init__(self, gateway: Gateway, revision: int) -> None:
        self._gateway = gateway
        self._follower = Follower(gateway, revision)

    @classmethod
    async def open(cls, url: str) -> EtcdStore:
        """Connect to `http://host:port`. Raises UnavailableError, StoreError if there
        is no etcd of version 3.4 or later.
        """
        gateway = Gateway(url)
        try:
            version = await gateway.version()
            if tuple(map(int, version.split(".")[:2])) < OLDEST:
                raise StoreError(f"etcd {version} is too old: 3.4 or later")
            return cls(gateway, await current_revision(gateway))
        except BaseException:
            await gateway.close()
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
            "/v3/kv/range", {"key": encoded(key), "revision": str(revision)}
        )
        return key_value(answer["kvs"][0]) if answer.get("kvs") else None

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
            message = {
                "range_end": encoded(end),
                "revision": str(revision),
                "limit": str(page_limit),
            }
            message["key"] = encoded(kvs[-1].key + "\0" if kvs else start)
            try:
                answer = await self._history_call("/v3/kv/range", message)
            except StoreError as error:
                if LARGER not in str(error) or size == 1:
                    raise
                # the gateway of some versions takes no more than 4 MB at once
                size = max(size // 4, 1)
                continue
            if not now:
                now, count = revision_of(answer), int(answer.get("count", 0))
                revision = revision or now
            kvs += map(key_value, answer.get("kvs") or ())
            if not answer.get("more") or len(kvs) == limit:
                return RangeResult(kvs, now, count, len(kvs) < count)

    async def _history_call(self, path: str, message: Message) -> Message:
        """A call with a revision in it. etcd says that one is gone or not there yet;
        our errors also say how far one can go.
        """
        try:
            return await self._gateway.call(path, message)
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
        message = {
            "key": encoded(key),
            "value": encoded_bytes(value),
            "lease": str(lease),
        }
        return await self._transaction(key, {"request_put": message}, expected)

    async def delete(self, key: str, *, expected: int | None = None) -> int | None:
        """Compare and delete; the new revision, or None if absent or the comparison
        failed.
        """
        return await self._transaction(
            key, {"request_delete_range": {"key": encoded(key)}}, expected
        )

    async def _transaction(
        self, key: str, request: Message, expected: int | None
    ) -> int | None:
        message: Message = {"success": [request]}
        if expected is not None:
            message["compare"] = [
                {
                    "key": encoded(key),
                    "target": "MOD",
                    "mod_revision": str(expected),
                    "result": "EQUAL",
                }
            ]
        with self._follower.writing(key):
            try:
                answer = await self._gateway.call("/v3/kv/txn", message)
            except StoreError as error:
                raise (
                    RequestTooLargeError() if LARGER in str(error) else error
                ) from None  # its gateway was first to refuse
        revision = revision_of(answer)
        await self._follower.until(
            revision
        )  # a refused write waits as well: then its caller sees what was faster
        if not answer.get("succeeded"):
            return None
        deletion = answer["responses"][0].get("response_delete_range")
        return revision if deletion is None or deletion.get("deleted") else None

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
        return int(
            (await self._gateway.call("/v3/lease/grant", {"TTL": str(ttl)}))["ID"]
        )

    async def revoke(self, lease: int) -> None:
        """End a lease and delete its keys. Raises LeaseNotFoundError."""
        await self._follower.until(
            revision_of(
                await self._gateway.call("/v3/lease/revoke", {"ID": str(lease)})
            )
        )

    async def compact(self, revision: int) -> None:
        """Forget what was before a revision; the state at that revision stays
        readable.
        """
        await self._history_call(
            "/v3/kv/compaction", {"revision": str(revision), "physical": True}
        )
        self._follower.forget(revision)

    async def close(self) -> None:
        """End all watches, close the connections."""
        await self._follower.close()
        await self._gateway.close()
