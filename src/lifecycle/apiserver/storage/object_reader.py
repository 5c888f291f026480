"""How the checks on the way in look things up: synchronous reads from the server's own
caches.

Authorizers and admission plugins ask small questions all the time: which roles are
there, does this namespace exist? A round trip through the API for each would make every
request several, so they read what the watch cache holds already.

Upstream: the shared informers handed to plugins by
`kubeapiserver/admission/initializer.go` and `WantsExternalKubeInformerFactory`, v1.36.
Left out: waiting for caches to fill; the server serves nothing before they have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource, resource_for_kind


class ObjectReader(Protocol):
    """Reads from the server's caches. What comes back is shared: never change it."""

    def get(self, resource: Resource, namespace: str, name: str) -> Object | None:
        """One object, or None. `namespace` is empty for cluster-wide resources."""
        ...

    def list(self, resource: Resource, namespace: str = "") -> Sequence[Object]:
        """All objects of a resource, in key order; of one namespace if given."""
        ...

    def pods_on(self, node: str) -> Iterable[Object]:
        """The pods that are bound to a node, in no order."""
        ...

    def resource_version(self, resource: Resource) -> int:
        """A number that changes whenever any object of the resource does: what derived
        indexes are checked against.
        """
        ...

    def changes(self, resources: Iterable[Resource]) -> Counter:
        """What counts the changes of several resources, from the moment they are known
        here. One look at it is cheaper than at each.
        """
        ...

    async def reader_of(self, api_version: str, kind: str) -> KindReader | None:
        """Who reads the objects of a kind, which may be a custom one; None if nobody
        knows the kind.
        """
        ...


class KindReader(NamedTuple):
    """The resource that holds the objects of a kind, and who reads them."""

    resource: Resource
    reader: ObjectReader


Counter = Callable[[], int]
"""A number that only grows."""


class StaticReader:
    """An `ObjectReader` over given objects: for tests, and for asking "what would these
    roles allow?".

    Upstream: `pkg/registry/rbac/validation/rule.go` (`StaticRoles`).
    """

    def __init__(self, objects: Iterable[Object] = ()) -> None:
        self._objects: dict[tuple[str, str], dict[tuple[str, str], Object]] = {}
        self._versions: dict[tuple[str, str], int] = {}
        for obj in objects:
            self.put(obj)

    def put(self, obj: Object) -> None:
        """Add or replace an object. Raises KeyError for a kind that is not served."""
        row = resource_for_kind(obj["apiVersion"], obj["kind"])
        if row is None:
            raise KeyError(f"{obj['apiVersion']} {obj['kind']}")
        meta, key = obj["metadata"], (row.group, row.plural)
        self._objects.setdefault(key, {})[meta.get("namespace", ""), meta["name"]] = obj
        self._versions[key] = self._versions.get(key, 0) + 1

    def get(self, resource: Resource, namespace: str, name: str) -> Object | None:
        """See `ObjectReader`."""
        return self._objects.get((resource.group, resource.plural), {}).get(
            (namespace, name)
        )

    def list(self, resource: Resource, namespace: str = "") -> Sequence[Object]:
        """See `ObjectReader`."""
        rows = sorted(self._objects.get((resource.group, resource.plural), {}).items())
        return [obj for (its, _), obj in rows if not namespace or its == namespace]

    def pods_on(self, node: str) -> Iterable[Object]:
        """See `ObjectReader`."""
        pods = self._objects.get(("", "pods"), {}).values()
        return [pod for pod in pods if pod["spec"].get("nodeName") == node]

    def resource_version(self, resource: Resource) -> int:
        """See `ObjectReader`."""
        return self._versions.get((resource.group, resource.plural), 0)

    def changes(self, resources: Iterable[Resource]) -> Counter:
        """See `ObjectReader`."""
        rows = list(resources)
        return lambda: sum(map(self.resource_version, rows))

    async def reader_of(self, api_version: str, kind: str) -> KindReader | None:
        """See `ObjectReader`."""
        row = resource_for_kind(api_version, kind)
        return None if row is None else KindReader(row, self)
