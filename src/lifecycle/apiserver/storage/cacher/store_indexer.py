"""What a watch cache holds: objects by key, in the order of their keys, by namespace,
and pods by node.

Upstream: `apiserver/pkg/storage/cacher/store.go` (`storeIndexer`), `store_btree.go`,
`pkg/registry/core/pod/strategy.go` (`NodeNameIndexFunc`), v1.36.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, ValuesView
from itertools import islice

from lifecycle.api.http.wire import Object
from lifecycle.api.sorted_keys import SortedKeys
from lifecycle.apiserver.storage.cacher.cached_object import Cached


class StoreIndexer:
    """Objects of one resource. `by_node`: whether they are pods."""

    def __init__(self, *, by_node: bool) -> None:
        self.version = 0
        """Goes up with every change."""
        self._by_node = by_node
        self._objects: dict[str, Cached] = {}
        # by namespace; all of them under ""
        self._keys: defaultdict[str, SortedKeys] = defaultdict(SortedKeys)
        self._rows: dict[str, list[Cached]] = {}
        self._on_node: dict[str, dict[str, Cached]] = {}  # by node and key

    def __len__(self) -> int:
        return len(self._objects)

    def __contains__(self, key: str) -> bool:
        return key in self._objects

    def get(self, key: str) -> Cached | None:
        """The newest version under a key."""
        return self._objects.get(key)

    def values(self) -> ValuesView[Cached]:
        """All objects, in no order."""
        return self._objects.values()

    def namespaces(self) -> list[str]:
        """Those about which something is remembered; "" for all of them together."""
        return [*dict.fromkeys([*self._keys, *self._rows])]

    def clear(self) -> None:
        """Nothing is left."""
        for drawer in (self._objects, self._keys, self._rows, self._on_node):
            drawer.clear()

    def put(self, cached: Cached) -> None:
        """An object is new or different."""
        self.version += 1
        namespace = cached.namespace
        if cached.key not in self._objects:
            for drawer in {namespace, ""}:
                self._keys[drawer].add(cached.key)
        self._index_by_node(self._objects.get(cached.key), cached)
        self._objects[cached.key] = cached
        self._forget_rows(namespace)

    def remove(self, cached: Cached) -> None:
        """It is gone."""
        self.version += 1
        namespace = cached.namespace
        self._index_by_node(cached, None)
        del self._objects[cached.key]
        for drawer in {namespace, ""}:
            keys = self._keys[drawer]
            keys.remove(cached.key)
            if not keys:  # a namespace that is no more is not remembered
                del self._keys[drawer]
        self._forget_rows(namespace)

    def ordered(self, namespace: str = "") -> list[Cached]:
        """All objects, or those of a namespace, in key order. Shared: do not change the
        list.
        """
        rows = self._rows.get(namespace)
        if rows is None:
            keys = self._keys.get(namespace)
            if keys is None:  # whoever asks chooses what for: nothing to keep
                return []
            rows = self._rows[namespace] = [self._objects[key] for key in keys]
        return rows

    def first(self, count: int) -> list[Cached]:
        """So many of them, the first in key order."""
        return [self._objects[key] for key in islice(self._keys.get("") or (), count)]

    def on_node(self, node: str) -> Iterable[Cached]:
        """The pods that are bound to a node, in no order. Valid until the next
        change.
        """
        return self._on_node.get(node, {}).values()

    def _index_by_node(self, previous: Cached | None, current: Cached | None) -> None:
        if not self._by_node:
            return
        if previous is not None:
            node = node_of(previous.obj)
            on_node = self._on_node[node]
            del on_node[previous.key]
            if not on_node:
                del self._on_node[node]
        if current is not None:
            node = node_of(current.obj)
            self._on_node.setdefault(node, {})[current.key] = current

    def _forget_rows(self, namespace: str) -> None:
        self._rows.pop(namespace, None)
        self._rows.pop("", None)


def node_of(pod: Object) -> str:
    """Where it is bound; empty if nowhere, or if somebody stored half a pod."""
    return (pod.get("spec") or {}).get("nodeName") or ""
