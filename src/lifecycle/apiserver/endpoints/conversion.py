"""Objects turned into Tables or bare metadata, on request.

`kubectl get` does not know how to print a pod. It asks the server for a Table, so a new kind prints well in an old kubectl.

Upstream: `apiserver/pkg/endpoints/handlers/response.go` (`asTable`, `asPartialObjectMetadata`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.resources import Resource
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.strategy import BUILT_IN, Strategy

META_VERSION = "meta.k8s.io/v1"


def partial(obj: Object) -> Object:
    """PartialObjectMetadata of an object."""
    return {"kind": "PartialObjectMetadata", "apiVersion": META_VERSION, "metadata": obj["metadata"]}


def converted(
    kind: str,
    resource: Resource,
    objs: list[Object],
    list_meta: Object | None,
    *,
    now: float,
    include: str,
    headers: bool = True,
    strategy: Strategy = BUILT_IN,
) -> Object:
    """Objects as `Table`, `PartialObjectMetadata` (one object) or `PartialObjectMetadataList`.

    `list_meta` is None for a single object; `include` is None, Metadata or Object (which form rows of a Table carry).
    """
    if kind == "Table":
        return strategy.table(resource, objs, list_meta, now, include, headers)
    if kind == "PartialObjectMetadata" and list_meta is None:
        return partial(objs[0])
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": META_VERSION,
        "metadata": list_meta or {},
        "items": [partial(obj) for obj in objs],
    }
