"""Objects by key: the cache under every informer.

A store holds the newest known object of each key. It never copies: what goes in is what
comes out, shared by everybody, and therefore read-only. On one event loop no lock is
needed, which is all that upstream's "thread safe" adds.

Upstream: `client-go/tools/cache/store.go` (`Store`, `MetaNamespaceKeyFunc`),
`thread_safe_store.go`, v1.36. Left out: locks, and the `Transaction` batch that saves
taking them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lifecycle.api.http.wire import Object


def meta_namespace_key(obj: Object) -> str:
    """`namespace/name`, or just the name for cluster-scoped objects."""
    meta = obj["metadata"]
    namespace = meta.get("namespace")
    return f"{namespace}/{meta['name']}" if namespace else str(meta["name"])


def split_meta_namespace_key(key: str) -> tuple[str, str]:
    """The namespace (empty for cluster-scoped objects) and name of a key."""
    namespace, _, name = key.rpartition("/")
    return namespace, name


class Store:
    """Keyed objects. Subclasses hook `_changed` to keep what they derive from the
    contents up to date.
    """

    def __init__(self) -> None:
        self._items: dict[str, Object] = {}

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Object]:
        return iter(self._items.values())

    def __contains__(self, key: str) -> bool:
        return key in self._items

    def set(self, key: str, obj: Object) -> Object | None:
        """Add or replace; the object that was there before, if any."""
        old = self._items.get(key)
        self._items[key] = obj
        self._changed(key, old, obj)
        return old

    def remove(self, key: str) -> Object | None:
        """Remove; the object that was there, if any."""
        old = self._items.pop(key, None)
        if old is not None:
            self._changed(key, old, None)
        return old

    def replace(self, objects: Iterable[Object]) -> None:
        """Exactly these objects from now on."""
        new = {meta_namespace_key(obj): obj for obj in objects}
        for key in [key for key in self._items if key not in new]:
            self.remove(key)
        for key, obj in new.items():
            self.set(key, obj)

    def get_by_key(self, key: str) -> Object | None:
        """The object, or None."""
        return self._items.get(key)

    def keys(self) -> list[str]:
        """All keys, oldest first."""
        return list(self._items)

    def list(self) -> list[Object]:
        """All objects, oldest key first."""
        return list(self._items.values())

    def _changed(self, key: str, old: Object | None, new: Object | None) -> None:
        """What subclasses derive from the contents is updated here."""
