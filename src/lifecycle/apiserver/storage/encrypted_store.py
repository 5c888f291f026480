"""Encryption at rest: what lies in the store is not what a reader is handed.

Between the server and any back end – memory, SQLite, etcd – stands one more store. What
goes in is encrypted by its resource's transformer, what comes out is decrypted. The key
of the store stays readable, so everything that lists, watches and compares revisions
works as before; and the key goes into the seal, so that nobody can copy one Secret's
value over another's.

A value that cannot be read does not vanish. It is handed out with the reason, and who
asks for the object gets that as an error.

Upstream: `apiserver/pkg/storage/etcd3/store.go` (`transformer`,
`authenticatedDataString`), `server/options/encryptionconfig/config.go`
(`DynamicTransformers`), v1.36.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lifecycle.apiserver.storage.encryption_config.transformers import Transformers
from lifecycle.apiserver.storage.value.transformer import TransformError
from lifecycle.etcd.keys import resource_of
from lifecycle.etcd.store import KeyValue, RangeResult, Store, Watch
from lifecycle.etcd.transformed_watch import TransformedWatch


class EncryptedStore:
    """Implements `etcd.store.Store` over another one. `transformers` may be exchanged
    at any time: what is read and written from then on goes through the new ones.
    """

    def __init__(self, inner: Store, transformers: Transformers) -> None:
        self._inner = inner
        self.transformers = transformers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def readable(self, kv: KeyValue) -> KeyValue:
        """The value as it was before it was stored, or why it cannot be had."""
        resource = resource_of(kv.key)
        if resource is None or not kv.value:  # a deletion has no value
            return kv
        transformer = self.transformers.transformer_for(resource)
        try:
            value, stale = transformer.from_storage(kv.value, kv.key.encode())
        except TransformError as error:
            return kv._replace(problem=str(error))
        return kv._replace(value=value, stale=stale)

    async def get(self, key: str, revision: int = 0) -> KeyValue | None:
        """See `Store`."""
        kv = await self._inner.get(key, revision)
        return self.readable(kv) if kv is not None else None

    async def range(
        self, start: str, end: str, *, revision: int = 0, limit: int = 0
    ) -> RangeResult:
        """See `Store`."""
        page = await self._inner.range(start, end, revision=revision, limit=limit)
        return replace(page, kvs=[self.readable(kv) for kv in page.kvs])

    async def put(
        self, key: str, value: bytes, *, expected: int | None = None, lease: int = 0
    ) -> int | None:
        """See `Store`."""
        resource = resource_of(key)
        if resource is not None:
            transformer = self.transformers.transformer_for(resource)
            value = transformer.to_storage(value, key.encode())
        return await self._inner.put(key, value, expected=expected, lease=lease)

    def watch(
        self, start: str, end: str, *, revision: int = 0, progress: bool = False
    ) -> Watch:
        """See `Store`."""
        inner = self._inner.watch(start, end, revision=revision, progress=progress)
        return TransformedWatch(inner, self.readable)
