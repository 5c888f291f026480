"""The few objects that concern a namespace, found fast.

Limit ranges and quotas are rare, but every create has to know whether its namespace has
some. The list is sorted by namespace once, and again only when an object of the kind
has changed.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource
from lifecycle.apiserver.storage.object_reader import ObjectReader


class NamespacedIndex:
    """Objects of one resource by namespace."""

    def __init__(self, reader: ObjectReader, resource: Resource) -> None:
        self._reader = reader
        self._resource = resource
        self._version: int | None = None
        self._by_namespace: dict[str, list[Object]] = {}

    def __getitem__(self, namespace: str) -> list[Object]:
        version = self._reader.resource_version(self._resource)
        if version != self._version:
            self._version = version
            self._by_namespace = {}
            for obj in self._reader.list(self._resource):
                self._by_namespace.setdefault(
                    obj["metadata"].get("namespace", ""), []
                ).append(obj)
        return self._by_namespace.get(namespace, _NOTHING)


_NOTHING: list[Object] = []
