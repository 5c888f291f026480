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
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from lifecycle.api.resources import Resource
from lifecycle.api.wire import Object
from lifecycle.apiserver.apiextensions.conversion_webhook import (
    ConversionError,
    WebhookConverter,
)
from lifecycle.apiserver.storage.cacher.cached_object import Cached
from lifecycle.apiserver.storage.cacher.cacher import Cacher
from lifecycle.etcd.codec import UnreadableError, decode_value
from lifecycle.etcd.store import (
    CompactedError,
    Event,
    KeyValue,
    Store,
    StoreError,
    prefix_end,
)

log = logging.getLogger(__name__)

AGAIN = 1.0
"""Seconds until a conversion that failed is tried again for those who watch."""


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
        self._line: deque[Event] = deque()
        self._converted: dict[tuple[str, int], Object] = {}
        self._lock = asyncio.Lock()
        self._running = False

    async def start(self) -> None:
        """Nothing yet: the webhook is not asked for a version that nobody reads."""

    async def stop(self) -> None:
        """See `Cacher`."""
        if self._running:
            await super().stop()

    async def settle(self) -> None:
        """Convert whatever waits. Raises ConversionError, StoreError."""
        async with self._lock:
            if not self._running:
                await self._read_everything()
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
            await self._convert(page.kvs)
            self._line.clear()
            with contextlib.suppress(NotConvertedError):  # somebody wrote in between
                return await super()._read_everything()

    async def _convert(self, kvs: Any) -> None:
        missing = [kv for kv in kvs if not self._is_ready(kv)]
        objects = await self._converter.convert(
            [decode_value(kv.value, kv.mod_revision) for kv in missing],
            self.resource.api_version,
        )
        for kv, obj in zip(missing, objects, strict=True):
            self._converted[kv.key, kv.mod_revision] = obj

    def _is_ready(self, kv: KeyValue) -> bool:
        if (
            kv.key,
            kv.mod_revision,
        ) in self._converted or kv.mod_revision in self._written:
            return True
        if kv.problem:  # there is nothing to convert
            return True
        try:
            stored: Object = decode_value(kv.value, kv.mod_revision)
        except UnreadableError:
            return True
        return bool(stored.get("apiVersion") == self.resource.api_version)

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
        objects = await self._converter.convert(
            [decode_value(kv.value, kv.mod_revision) for kv in kvs],
            self.resource.api_version,
        )
        assert self._from_storage is not None
        return [self._from_storage(dict(obj)) for obj in objects]

    def _decoded(self, kv: KeyValue) -> Cached | None:
        converted = self._converted.pop((kv.key, kv.mod_revision), None)
        if converted is None:
            return super()._decoded(kv)
        assert self._from_storage is not None
        obj = self._from_storage({**converted, "metadata": dict(converted["metadata"])})
        return Cached(kv.key, obj, kv.mod_revision, size=len(kv.value))

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
        while True:
            try:
                return await self.settle()
            except ConversionError as error:
                log.error("%s", error)
                await asyncio.sleep(AGAIN)
