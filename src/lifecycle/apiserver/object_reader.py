"""How the checks on the way in look things up: synchronous reads from the server's own caches.

Authorizers and admission plugins ask small questions all the time: which roles are there, does this namespace exist? A round
trip through the API for each would make every request several, so they read what the watch cache holds already.

Upstream: the shared informers handed to plugins by `kubeapiserver/admission/initializer.go` and `WantsExternalKubeInformerFactory`,
v1.36. Left out: waiting for caches to fill; the server serves nothing before they have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from lifecycle.api.resources import Resource
from lifecycle.api.wire import Object


class ObjectReader(Protocol):
    """Reads from the server's caches. What comes back is shared: never change it."""

    def get(self, resource: Resource, namespace: str, name: str) -> Object | None:
        """One object, or None. `namespace` is empty for cluster-wide resources."""
        ...

    def list(self, resource: Resource, namespace: str = "") -> Sequence[Object]:
        """All objects of a resource, in key order; of one namespace if given."""
        ...

    def resource_version(self, resource: Resource) -> int:
        """A number that changes whenever any object of the resource does: what derived indexes are checked against."""
        ...
