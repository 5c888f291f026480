"""The store's contract: what every back end promises.

A back end keeps bytes under string keys. Each change gets the next **revision**, one
counter for the whole store. What a reader needs from that: reads at one revision are
one consistent picture; a write can be made conditional on the revision it was based on;
a watch from a revision sees every later change, once, in order.

Upstream: `etcd/api/etcdserverpb/rpc.proto` (KV, Watch, Lease) and
`apiserver/pkg/storage/etcd3/store.go`, which uses just this part of it. Left out:
multi-key transactions (Kubernetes needs none), keeping leases alive, authentication,
members.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class StoreError(Exception):
    """The back end could not do what it was asked; `str()` is etcd's own message where
    it has one.

    After a write the answer is open only if the back end could not be reached in the
    middle of it; else nothing was written.
    """


class UnavailableError(StoreError):
    """The back end does not answer."""


class NoSpaceError(StoreError):
    """Nothing more fits: the disk is full, or etcd has reached its quota. What was
    acknowledged is still there.
    """

    def __init__(self) -> None:
        super().__init__("etcdserver: mvcc: database space exceeded")


class RequestTooLargeError(StoreError):
    """A write of more than `MAX_REQUEST_BYTES`; nothing was written."""

    def __init__(self) -> None:
        super().__init__("etcdserver: request is too large")


MAX_REQUEST_BYTES = 1536 * 1024
"""What etcd takes at once (`--max-request-bytes`): the key, the value and a little
around them.
"""


def check_request_size(key: str, value: bytes) -> None:
    """Raises RequestTooLargeError."""
    if len(key) + len(value) > MAX_REQUEST_BYTES:
        raise RequestTooLargeError


class LeaseNotFoundError(StoreError):
    """There is no such lease, or it has expired."""

    def __init__(self) -> None:
        super().__init__("etcdserver: requested lease not found")


class CompactedError(Exception):
    """The revision asked for is older than the last compaction. `compact_revision` is
    the oldest one left.
    """

    def __init__(self, compact_revision: int) -> None:
        super().__init__("etcdserver: mvcc: required revision has been compacted")
        self.compact_revision = compact_revision


class FutureRevisionError(Exception):
    """The revision asked for has not happened yet."""

    def __init__(self, current: int) -> None:
        super().__init__("etcdserver: mvcc: required revision is a future revision")
        self.current = current


class KeyValue(NamedTuple):
    """A key with its value and history. `version` counts the writes since the key was
    (re)created, from 1.

    Where values are encrypted, `problem` says why this one cannot be read (it is as it
    lies in the store then), and `stale` that it would be written differently today.
    """

    key: str
    value: bytes
    create_revision: int
    mod_revision: int
    version: int
    lease: int = 0
    problem: str = ""
    stale: bool = False


class Event(NamedTuple):
    """One change. `kv` is the new state (for a delete: key and revision of the
    deletion, empty value), `prev` the one before.
    """

    type: str  # PUT or DELETE
    kv: KeyValue
    prev: KeyValue | None = None


@dataclass(slots=True, frozen=True)
class RangeResult:
    """One page of a range read. `revision` is the store's when it was read, `count` all
    keys in range, `more` if cut by `limit`.
    """

    kvs: list[KeyValue]
    revision: int
    count: int
    more: bool


class Bell:
    """Counts events of any number of watches: for whoever only wants to know whether
    something has happened.
    """

    __slots__ = ("rung",)

    def __init__(self) -> None:
        self.rung = 0

    def ring(self) -> None:
        """Something has happened."""
        self.rung += 1

    def count(self) -> int:
        """How often."""
        return self.rung


class Watch(Protocol):
    """An open watch. Iterate for batches of events (all of one revision stay together);
    `close()` ends it.

    Raises CompactedError while iterating if the start revision has been compacted.
    """

    def __aiter__(self) -> AsyncIterator[list[Event]]: ...

    bells: Sequence[Bell]
    """Rung at each event, the moment it arrives."""

    def take(self) -> Sequence[Event]:
        """What has arrived and was not read yet, without waiting."""
        ...

    async def close(self) -> None:
        """End the watch; iteration stops."""
        ...


class Store(Protocol):
    """What a back end does. All writes return the revision they made, once the write is
    kept and every watch here was fed with it.

    So whoever wrote through this store sees his own write wherever a watch leads. What
    *others* wrote to a `remote` store comes a moment later; a reader who may not be
    behind calls `catch_up` first.
    """

    @property
    def remote(self) -> bool:
        """Whether others may write to it as well."""
        ...

    @property
    def revision(self) -> int:
        """The newest revision of which every watch here was fed."""
        ...

    @property
    def problem(self) -> str:
        """What is wrong with it at the moment, for health checks; empty if nothing is
        known.
        """
        ...

    async def catch_up(self) -> None:
        """Return when every watch here was fed with all that the store held at the time
        of the call. Raises UnavailableError.
        """
        ...

    async def get(self, key: str, revision: int = 0) -> KeyValue | None:
        """The key at a revision (0: now). Raises CompactedError,
        FutureRevisionError.
        """
        ...

    async def range(
        self, start: str, end: str, *, revision: int = 0, limit: int = 0
    ) -> RangeResult:
        """Keys `start <= key < end` in order, at a revision (0: now), at most `limit`
        (0: all).
        """
        ...

    async def put(
        self, key: str, value: bytes, *, expected: int | None = None, lease: int = 0
    ) -> int | None:
        """Write if the key's `mod_revision` is `expected` (0: must not exist; None:
        whatever). The new revision, or None if it is not.

        Raises LeaseNotFoundError, NoSpaceError, RequestTooLargeError, UnavailableError.
        """
        ...

    async def delete(self, key: str, *, expected: int | None = None) -> int | None:
        """Delete if the key's `mod_revision` is `expected` (None: whatever). The new
        revision, or None if not so or absent.

        Raises NoSpaceError, UnavailableError.
        """
        ...

    def watch(
        self, start: str, end: str, *, revision: int = 0, progress: bool = False
    ) -> Watch:
        """Changes to keys in `[start, end)` with a revision >= `revision` (0: from now
        on), with previous values.
        """
        ...

    async def grant(self, ttl: int) -> int:
        """A new lease: what is written under it is deleted after `ttl` seconds, or when
        the lease is revoked.
        """
        ...

    async def revoke(self, lease: int) -> None:
        """End a lease now; its keys are deleted. Raises LeaseNotFoundError."""
        ...

    async def compact(self, revision: int) -> None:
        """Forget history before `revision`. Raises CompactedError,
        FutureRevisionError.
        """
        ...

    async def close(self) -> None:
        """Release what the back end holds; open watches end."""
        ...


def prefix_end(prefix: str) -> str:
    """The first key after all keys that start with `prefix`. Upstream:
    `clientv3.GetPrefixRangeEnd`.
    """
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)
