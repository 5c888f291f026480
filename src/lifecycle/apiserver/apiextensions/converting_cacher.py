"""The cache of a version that a webhook converts to: what is stored is shown only once
it has been converted.

Everything else in this server reads caches at once, without waiting; a webhook has to
be waited for. So whatever the store tells waits in line here until it is converted, and
a request waits for the line before it reads. What a request itself wrote is known in
its own version already. Conversion is all or nothing: if the webhook does not answer,
requests for this version fail, and the next one tries again.

Upstream: `apiextensions-apiserver/pkg/apiserver/customresource_handler.go`
(`schemaCoercingConverter`), where the watch cache's own goroutine waits, v1.36.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.worker import beside, one_by_one
from lifecycle.api.resources import Resource
from lifecycle.apiserver.apiextensions.conversion_webhook import (
    ConversionError,
    WebhookConverter,
)
from lifecycle.apiserver.storage.cacher.cached_object import Cached
from lifecycle.apiserver.storage.cacher.cacher import Cacher
from lifecycle.etcd.codec import UnreadableError, decode_value
from lifecycle.etcd.store import (
    CompactedError,
    KeyValue,
    Store,
    StoreError,
    prefix_end,
)

log = logging.getLogger(__name__)

AGAIN, SELDOM = 1.0, 30.0
"""Seconds until a conversion that failed is tried again for those who watch: at first,
and at last.
"""

REVIEW = 1 << 20
"""Bytes, as they are stored, that one review asks about; more only if it is a single
object. Upstream asks about each by itself.
"""


class NotConvertedError(Exception):
    """A stored object of another version that nobody has converted yet."""


class ConvertingCacher(Cacher):
    """A cache that starts when somebody first asks: `await settle()` before reading."""

    def __init__(
        self,
        store: Store,
        resource: Resource,
        fields_of: Callable[[Object], dict[str, str]],
        from_storage: Callable[[Object], Object],
        converter: WebhookConverter,
    ) -> None:
        super().__init__(store, resource, fields_of, from_storage)
        self._converter = converter
        self._converted: dict[tuple[str, int], Object] = {}
        self._lock = asyncio.Lock()
        self._running = self._over = False

    async def start(self) -> None:
        """Nothing yet: the webhook is not asked for a version that nobody reads."""

    async def stop(self) -> None:
        """See `Cacher`. Whoever waits for the webhook meanwhile starts nothing more."""
        self._over = True
        if self._running:
            await super().stop()

    async def settle(self) -> None:
        """Convert whatever waits. Raises ConversionError, StoreError."""
        async with self._lock:
            if not self._running:
                await self._read_everything()
                if self._over:
                    return await super().stop()
                self._running = True
                self._pump_task = asyncio.create_task(
                    self._pump(), name=f"cacher {self.resource.plural}"
                )
            self.catch_up()
            while self._line:
                await self._convert(
                    [event.kv for event in self._line if event.type == "PUT"]
                )
                self.catch_up()

    async def _read_everything(self) -> None:
        while True:
            page = await self._store.range(self.prefix, prefix_end(self.prefix))
            self._written.clear()  # all of it is read anew, and so converted
            await self._convert(page.kvs)
            with contextlib.suppress(NotConvertedError):  # somebody wrote in between
                return await super()._read_everything()

    async def _convert(self, kvs: Sequence[KeyValue]) -> None:
        """Ask for what has to be converted and is not yet, in several reviews if it is
        much. What has been answered is kept if a later one fails.
        """
        missing = [
            kv
            for kv in kvs
            if (kv.key, kv.mod_revision) not in self._converted
            and kv.mod_revision not in self._written
        ]
        for some in _reviews(missing):
            size = sum(len(kv.value) for kv in some)
            version = self.resource.api_version
            strangers = await beside(size, _strangers, some, version)
            objects = await self._converter.convert(
                [obj for _, obj in strangers], version
            )
            shown = await beside(size, self._all_shown, objects)
            for (kv, _), obj in zip(strangers, shown, strict=True):
                self._converted[kv.key, kv.mod_revision] = obj

    def _all_shown(self, objects: Sequence[Object]) -> list[Object]:
        return one_by_one(self._shown_of, objects)

    def _shown_of(self, converted: Object) -> Object:
        assert self._from_storage is not None
        return self._from_storage(
            {**converted, "metadata": dict(converted["metadata"])}
        )

    def _is_ready(self, kv: KeyValue) -> bool:
        if (
            kv.key,
            kv.mod_revision,
        ) in self._converted or kv.mod_revision in self._written:
            return True
        return not _strangers([kv], self.resource.api_version)

    def catch_up(self) -> None:
        """Apply what needs no conversion, or has been converted; behind the first that
        has not, everything waits.
        """
        if self._watch is None:
            return
        self._line.extend(self._watch.take() or ())
        ready = []
        while self._line and (
            self._line[0].type != "PUT" or self._is_ready(self._line[0].kv)
        ):
            ready.append(self._line.popleft())
        if ready:
            self._apply(ready)

    def decode(self, value: bytes, revision: int) -> Object:
        """See `Cacher`. Raises NotConvertedError for another version."""
        stored: Object = decode_value(value, revision)
        if stored["apiVersion"] != self.resource.api_version:
            raise NotConvertedError
        assert self._from_storage is not None
        return self._from_storage(stored)

    async def decode_past(self, kvs: Sequence[KeyValue]) -> list[Object]:
        """See `Cacher`. Raises ConversionError."""
        self.unreadable.check_values(kvs)
        past: list[Object] = []
        for some in _reviews(kvs):
            size = sum(len(kv.value) for kv in some)
            objects = await beside(size, _all_decoded, some)
            objects = await self._converter.convert(objects, self.resource.api_version)
            past += await beside(size, self._all_shown, objects)
        return past

    def _read(self, kv: KeyValue) -> Cached | Exception:
        converted = self._converted.get((kv.key, kv.mod_revision))
        if converted is None:
            return super()._read(kv)
        return Cached(kv.key, converted, kv.mod_revision, size=len(kv.value))

    def _readable(self, kv: KeyValue, read: Cached | Exception) -> Cached | None:
        self._converted.pop((kv.key, kv.mod_revision), None)
        return super()._readable(kv, read)

    async def _pump(self) -> None:
        while True:
            try:
                assert self._watch is not None
                async for batch in self._watch:
                    self._line.extend(batch)
                    await self._settle_patiently()
                return
            except (CompactedError, StoreError) as error:
                log.warning("watch of %s ended: %s", self.prefix, error)
            await self._start_over()

    async def _settle_patiently(self) -> None:
        delay = AGAIN
        while True:
            try:
                return await self.settle()
            except ConversionError as error:
                log.error("%s", error)
                await asyncio.sleep(delay)
                delay = min(2 * delay, SELDOM)


def _reviews(kvs: Sequence[KeyValue]) -> Iterator[list[KeyValue]]:
    """Portions that fit into a review, whose answer may be somewhat longer."""
    portion: list[KeyValue] = []
    size = 0
    for kv in kvs:
        if portion and size + len(kv.value) > REVIEW:
            yield portion
            portion, size = [], 0
        portion.append(kv)
        size += len(kv.value)
    if portion:
        yield portion


def _strangers(
    kvs: Sequence[KeyValue], api_version: str
) -> list[tuple[KeyValue, Object]]:
    """Those of another version, and what they are; of what cannot be read there is
    nothing to convert.
    """
    found: list[tuple[KeyValue, Object]] = []
    for kv in kvs:
        if kv.problem:
            continue
        with contextlib.suppress(UnreadableError):
            obj = decode_value(kv.value, kv.mod_revision)
            if obj.get("apiVersion") != api_version:
                found.append((kv, obj))
    return found


def _all_decoded(kvs: Sequence[KeyValue]) -> list[Object]:
    return one_by_one(lambda kv: decode_value(kv.value, kv.mod_revision), kvs)
