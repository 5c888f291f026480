"""The server's caches, as its guards read them: what informers and listers are
upstream.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource, resource_for_kind
from lifecycle.apiserver.storage.cacher.cacher import Cacher
from lifecycle.apiserver.storage.object_reader import Counter, KindReader
from lifecycle.etcd.store import Bell


class CacheReader:
    """The server's caches as an `ObjectReader`. `custom` finds who reads the objects of
    a custom kind.
    """

    def __init__(
        self,
        cachers: Mapping[tuple[str, str], Cacher],
        custom: Callable[[str, str], Awaitable[KindReader | None]] | None = None,
    ) -> None:
        self._cachers, self._custom = cachers, custom

    def get(self, resource: Resource, namespace: str, name: str) -> Object | None:
        """One object, or None."""
        cacher = self._cachers[resource.store_key]
        cacher.catch_up()
        key = (
            f"{cacher.prefix}{namespace}/{name}"
            if resource.namespaced and namespace
            else f"{cacher.prefix}{name}"
        )
        cached = cacher.get(key)
        return cached.obj if cached else None

    def list(self, resource: Resource, namespace: str = "") -> Sequence[Object]:
        """All objects, in key order."""
        cacher = self._cachers[resource.store_key]
        cacher.catch_up()
        return [cached.obj for cached in cacher.ordered(namespace)]

    def pods_on(self, node: str) -> Iterable[Object]:
        """The pods that are bound to a node, found by it."""
        cacher = self._cachers["", "pods"]
        cacher.catch_up()
        return [cached.obj for cached in cacher.on_node(node)]

    def resource_version(self, resource: Resource) -> int:
        """Changes whenever any object of the resource does."""
        cacher = self._cachers[resource.store_key]
        cacher.catch_up()
        return cacher.version

    def changes(self, resources: Iterable[Resource]) -> Counter:
        """See `ObjectReader`: rung by the watches of the caches themselves, so nobody
        has to look whether something has come.
        """
        bell = Bell()
        for resource in resources:
            self._cachers[resource.store_key].add_bell(bell)
        return bell.count

    async def reader_of(self, api_version: str, kind: str) -> KindReader | None:
        """See `ObjectReader`."""
        row = resource_for_kind(api_version, kind)
        if row is not None:
            return KindReader(row, self)
        return None if self._custom is None else await self._custom(api_version, kind)
