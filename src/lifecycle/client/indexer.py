"""A store that can also answer "all objects with this value".

An index function names the values an object is to be found under: its namespace, the
node it runs on, the uid of its controller. The index is kept up to date with each
change, so that a look-up costs as much as its answer is long, however large the store:
the difference between a ReplicaSet sync that reads three pods and one that reads ten
thousand.

Upstream: `client-go/tools/cache/index.go` (`Indexer`, `IndexFunc`,
`MetaNamespaceIndexFunc`), `thread_safe_store.go` (`storeIndex`), v1.36; the controller
index is `pkg/controller/controller_utils.go` (`PodControllerIndex`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lifecycle.api.http.wire import Object
from lifecycle.client.store import Store

IndexFunc = Callable[[Object], Iterable[str]]
"""The values an object is filed under; none: it is not in this index."""

NAMESPACE_INDEX = "namespace"


def index_by_namespace(obj: Object) -> tuple[str, ...]:
    """The object's namespace."""
    return (obj["metadata"].get("namespace", ""),)


class Indexer(Store):
    """A `Store` with named indices. Answers come in the order in which keys were filed,
    so that a run repeats exactly.
    """

    def __init__(self, indexers: dict[str, IndexFunc] | None = None) -> None:
        super().__init__()
        self._functions: dict[str, IndexFunc] = {}
        self._indices: dict[str, dict[str, dict[str, None]]] = {}
        self.add_indexers({NAMESPACE_INDEX: index_by_namespace, **(indexers or {})})

    def add_indexers(self, indexers: dict[str, IndexFunc]) -> None:
        """Add indices; objects already here are filed at once. A name that exists keeps
        its first function.
        """
        for name, function in indexers.items():
            if name in self._functions:
                continue
            self._functions[name] = function
            index: dict[str, dict[str, None]] = {}
            self._indices[name] = index
            for key, obj in self._items.items():
                for value in function(obj):
                    index.setdefault(value, {})[key] = None

    def by_index(self, name: str, value: str) -> list[Object]:
        """All objects filed under a value. Raises KeyError for an index that does not
        exist.
        """
        keys = self._indices[name].get(value)
        if not keys:
            return []
        items = self._items
        return [items[key] for key in keys]

    def index_keys(self, name: str, value: str) -> list[str]:
        """The keys of `by_index`."""
        return list(self._indices[name].get(value, ()))

    def index_values(self, name: str) -> list[str]:
        """All values that something is filed under. Upstream: `ListIndexFuncValues`."""
        return list(self._indices[name])

    def list_namespace(self, namespace: str) -> list[Object]:
        """All objects of a namespace; all there are if it is empty."""
        return self.by_index(NAMESPACE_INDEX, namespace) if namespace else self.list()

    def _changed(self, key: str, old: Object | None, new: Object | None) -> None:
        for name, function in self._functions.items():
            before = tuple(function(old)) if old is not None else ()
            after = tuple(function(new)) if new is not None else ()
            if (
                before == after
                # by far the most frequent case: a status changed, nothing is filed
                # elsewhere
            ):
                continue
            index = self._indices[name]
            for value in before:
                if value not in after:
                    filed = index[value]
                    filed.pop(key, None)
                    if not filed:
                        del index[value]
            for value in after:
                index.setdefault(value, {})[key] = None
