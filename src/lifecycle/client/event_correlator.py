"""Keeping the event stream small: count, combine, throttle.

Before an event is written three things happen to it, in this order:

1. *aggregate*: from the tenth different message of one reason about one object within
   ten minutes on, the messages share one event whose text starts with `(combined from
   similar events): `;
2. *count*: an event that was written before (the same in everything but time, or
   aggregated) becomes a patch of its `count`, `lastTimestamp` and `message`;
3. *throttle*: a source gets 25 events about an object at once and then one in five
   minutes; the rest is dropped.

Upstream: `client-go/tools/record/events_cache.go` (`EventCorrelator`,
`EventAggregator`, `eventLogger`, `EventSourceObjectSpamFilter`), v1.36.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Generic, TypeVar

from lifecycle.api.http.wire import Object

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MAX_LRU_CACHE_ENTRIES = 4096
AGGREGATE_MAX_EVENTS = 10
AGGREGATE_INTERVAL = 600.0
SPAM_BURST = 25
SPAM_QPS = 1.0 / 300.0
COMBINED = "(combined from similar events): "

Key = tuple[str, ...]
Digest = bytes


def digest(key: Key) -> Digest:
    """Sixteen bytes for a key: of an object that has gone, its ten names need not be
    kept, nor what was said about it.
    """
    text = "\0".join(key).encode(errors="surrogatepass")
    return blake2b(text, digest_size=16).digest()


class LRU(Generic[K, V]):
    """A dict that forgets what was used longest ago."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[K, V] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """The value, which is now the most recently used."""
        value = self._entries.get(key)
        if value is not None:
            self._entries.move_to_end(key)
        return value

    def put(self, key: K, value: V) -> None:
        """Keep the value; the oldest entry goes if there are too many."""
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self._size:
            self._entries.popitem(last=False)

    def forget(self, is_stale: Callable[[V], bool]) -> None:
        """Forget what was used longest ago for as long as it is stale."""
        while self._entries and is_stale(next(iter(self._entries.values()))):
            self._entries.popitem(last=False)


@dataclass(slots=True)
class _Aggregate:
    last: float
    messages: tuple[Digest, ...] = ()

    def is_over(self, now: float) -> bool:
        return now - self.last > AGGREGATE_INTERVAL


@dataclass(slots=True)
class _Logged:
    count: int
    first_timestamp: str
    name: str


@dataclass(slots=True)
class _Tokens:
    tokens: float
    last: float

    def at(self, now: float) -> float:
        return min(float(SPAM_BURST), self.tokens + (now - self.last) * SPAM_QPS)


@dataclass(slots=True, frozen=True)
class Correlated:
    """What is to be written: `event`, as a create or, if `patch` is given, as that
    patch of the event of that name.
    """

    event: Object
    patch: Object | None


def _about(event: Object) -> Key:
    involved, source = event["involvedObject"], event["source"]
    return (
        source.get("component", ""),
        source.get("host", ""),
        involved.get("kind", ""),
        involved.get("namespace", ""),
        involved.get("name", ""),
        involved.get("uid", ""),
        involved.get("apiVersion", ""),
        event["type"],
    )


def event_key(event: Object) -> Key:
    """Equal for two events that differ in nothing but time. Upstream: `getEventKey`."""
    return (
        *_about(event),
        event["involvedObject"].get("fieldPath", ""),
        event["reason"],
        event["message"],
    )


class EventCorrelator:
    """Decides for each new event whether it is created, patched into an earlier one, or
    dropped. What would be begun afresh when it is next asked for is not kept till then.
    """

    def __init__(self) -> None:
        self._aggregates: LRU[Digest, _Aggregate] = LRU(MAX_LRU_CACHE_ENTRIES)
        self._logged: LRU[Digest, _Logged] = LRU(MAX_LRU_CACHE_ENTRIES)
        self._spam: LRU[Digest, _Tokens] = LRU(MAX_LRU_CACHE_ENTRIES)

    @property
    def remembered(self) -> int:
        """Entries of all three caches."""
        return len(self._aggregates) + len(self._logged) + len(self._spam)

    def correlate(self, event: Object, now: float) -> Correlated | None:
        """What to write for an event at `now` (seconds since 1970); None: nothing."""
        event, key = self._aggregate(event, now)
        event, patch = self._observe(event, key)
        if not self._allowed(digest(_about(event)), now):
            return None
        return Correlated(event, patch)

    def update_state(self, event: Object) -> None:
        """Remember what the server answered."""
        self._logged.put(
            digest(event_key(event)),
            _Logged(event["count"], event["firstTimestamp"], event["metadata"]["name"]),
        )

    def _aggregate(self, event: Object, now: float) -> tuple[Object, Key]:
        key = (
            *_about(event),
            event["reason"],
            event["reportingComponent"],
            event["reportingInstance"],
        )
        self._aggregates.forget(lambda record: record.is_over(now))
        key_digest = digest(key)
        record = self._aggregates.get(key_digest)
        if record is None or record.is_over(now):
            record = _Aggregate(now)
            self._aggregates.put(key_digest, record)
        record.last = now
        message = digest((event["message"],))
        if message in record.messages:
            return event, event_key(event)
        if len(record.messages) < AGGREGATE_MAX_EVENTS - 1:
            record.messages += (message,)
            return event, event_key(event)
        # Upstream builds the combined event anew and leaves the reporting component out
        # of it.
        combined = {
            **event,
            "message": COMBINED + event["message"],
            "reportingComponent": "",
            "reportingInstance": "",
        }
        return combined, key

    def _observe(self, event: Object, key: Key) -> tuple[Object, Object | None]:
        key_digest = digest(key)
        last = self._logged.get(key_digest)
        patch: Object | None = None
        if last is not None:
            patch = {
                "count": last.count + 1,
                "lastTimestamp": event["lastTimestamp"],
                "message": event["message"],
            }
            metadata = {**event["metadata"], "name": last.name}
            event = {
                **event,
                "metadata": metadata,
                "firstTimestamp": last.first_timestamp,
                "count": last.count + 1,
            }
        self._logged.put(
            key_digest,
            _Logged(event["count"], event["firstTimestamp"], event["metadata"]["name"]),
        )
        return event, patch

    def _allowed(self, key: Digest, now: float) -> bool:
        self._spam.forget(lambda bucket: bucket.at(now) >= SPAM_BURST)
        bucket = self._spam.get(key)
        if bucket is None:
            bucket = _Tokens(float(SPAM_BURST), now)
            self._spam.put(key, bucket)
        bucket.tokens = bucket.at(now)
        bucket.last = now
        if bucket.tokens < 1.0:
            return False
        bucket.tokens -= 1.0
        return True
