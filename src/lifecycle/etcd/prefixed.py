"""Another root for all keys: `--etcd-prefix`.

Everything that Kubernetes writes lies below `/registry`. The name of that root is all
that whoever runs a cluster can choose, so that two clusters could share an etcd. What
comes below the root is decided in code, by `etcd.keys`.

Upstream: `apiserver/pkg/server/options/etcd.go` (`--etcd-prefix`),
`storage/etcd3/store.go` (`pathPrefix`), v1.36.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lifecycle.etcd.keys import ROOT
from lifecycle.etcd.store import KeyValue, RangeResult, Store, Watch
from lifecycle.etcd.transformed_watch import TransformedWatch


class PrefixedStore:
    """A store whose keys `/registry/…` are `<prefix>/…` in the one behind it. Raises
    ValueError for a prefix without a leading slash.
    """

    def __init__(self, inner: Store, prefix: str) -> None:
        if not prefix.startswith("/") or prefix == "/":
            raise ValueError(
                f"the prefix must begin with a slash and a name, not {prefix!r}"
            )
        self._inner = inner
        self._root = prefix.rstrip("/") + "/"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _there(self, key: str) -> str:
        return self._root + key.removeprefix(ROOT) if key.startswith(ROOT) else key

    def _end(self, end: str) -> str:
        return self._root[:-1] + "0" if end == ROOT[:-1] + "0" else self._there(end)

    def _back(self, kv: KeyValue) -> KeyValue:
        return kv._replace(key=ROOT + kv.key.removeprefix(self._root))

    async def get(self, key: str, revision: int = 0) -> KeyValue | None:
        """See `Store`."""
        kv = await self._inner.get(self._there(key), revision)
        return self._back(kv) if kv is not None else None

    async def range(
        self, start: str, end: str, *, revision: int = 0, limit: int = 0
    ) -> RangeResult:
        """See `Store`."""
        page = await self._inner.range(
            self._there(start), self._end(end), revision=revision, limit=limit
        )
        return replace(page, kvs=[self._back(kv) for kv in page.kvs])

    async def put(
        self, key: str, value: bytes, *, expected: int | None = None, lease: int = 0
    ) -> int | None:
        """See `Store`."""
        return await self._inner.put(
            self._there(key), value, expected=expected, lease=lease
        )

    async def delete(self, key: str, *, expected: int | None = None) -> int | None:
        """See `Store`."""
        return await self._inner.delete(self._there(key), expected=expected)

    def watch(
        self, start: str, end: str, *, revision: int = 0, progress: bool = False
    ) -> Watch:
        """See `Store`."""
        inner = self._inner.watch(
            self._there(start), self._end(end), revision=revision, progress=progress
        )
        return TransformedWatch(inner, self._back)
