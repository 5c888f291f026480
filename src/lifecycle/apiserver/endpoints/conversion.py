"""Objects turned into Tables or bare metadata, on request.

`kubectl get` does not know how to print a pod. It asks the server for a Table, so a new
kind prints well in an old kubectl.

Upstream: `apiserver/pkg/endpoints/handlers/response.go` (`asTable`,
`asPartialObjectMetadata`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource
from lifecycle.api.status import bad_request, failure
from lifecycle.apiserver.endpoints.negotiation import Accepted
from lifecycle.apiserver.registry.metadata import in_go_order
from lifecycle.apiserver.registry.printers.table import table
from lifecycle.apiserver.registry.rest.strategy import Strategy

META_VERSION = "meta.k8s.io/v1"
_INCLUDED = ("Metadata", "None", "Object", "")


def partial(
    obj: Object, api_version: str = META_VERSION, without: tuple[str, ...] = ()
) -> Object:
    """PartialObjectMetadata of an object, `without` some annotations."""
    metadata = obj["metadata"]
    annotations = metadata.get("annotations") or {}
    if any(key in annotations for key in without):
        metadata = {key: metadata[key] for key in metadata if key != "annotations"}
        kept = {key: annotations[key] for key in annotations if key not in without}
        if kept:
            metadata = in_go_order({**metadata, "annotations": kept})
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": api_version,
        "metadata": metadata,
    }


def converted(
    accepted: Accepted,
    resource: Resource,
    objs: list[Object],
    list_meta: Object | None,
    *,
    now: float,
    include: str,
    headers: bool = True,
    strategy: Strategy,
) -> Object:
    """Objects as `Table`, `PartialObjectMetadata` (one object) or
    `PartialObjectMetadataList`.

    `list_meta` is None for a single object; `include` is None, Metadata or Object
    (which form rows of a Table carry). Raises StatusError 400 for another `include`,
    406 for one object asked for as a list, or a list as one object.
    """
    version = accepted.api_version
    if accepted.kind == "Table":
        if include not in _INCLUDED:
            why = (
                f"includeObject: Invalid value: {go_quote(include)}: must be"
                " 'Metadata', 'Object', 'None', or empty"
            )
            raise bad_request(f"Unable to convert to Table as requested: {why}")
        return _of_version(
            table(
                strategy.printer,
                resource,
                objs,
                now=now,
                list_meta=list_meta,
                include_object=include,
                no_headers=not headers,
            ),
            version,
        )
    if accepted.kind == "PartialObjectMetadata" and list_meta is None:
        return partial(objs[0], version, strategy.versioned_annotations)
    if accepted.kind == "PartialObjectMetadata" or list_meta is None:
        is_not = "is a list" if list_meta is not None else "is not a list"
        go_type = strategy.go_type(resource, "List" if list_meta is not None else "")
        message = (
            f"you requested {accepted.kind}, but the requested object {is_not}"
            f" ({go_type})"
        )
        raise failure(406, "NotAcceptable", message)
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": version,
        "metadata": list_meta,
        "items": [partial(obj, version, strategy.versioned_annotations) for obj in objs]
        or None,
    }


def converted_bookmark(
    accepted: Accepted,
    resource: Resource,
    bookmark: Object,
    *,
    now: float,
    include: str,
    headers: bool,
    strategy: Strategy,
) -> Object:
    """A bookmark of a watch in the form of its events.

    Upstream converts it as it does any object: as a Table it is a row of something that
    has nothing but a revision.
    """
    metadata = bookmark["metadata"]
    if accepted.kind != "Table":
        return partial(bookmark, accepted.api_version)
    empty, _ = strategy.decode(bookmark, resource.api_version, resource.kind)
    empty = {**empty, "metadata": {"name": "", **metadata}}
    printed = converted(
        accepted,
        resource,
        [empty],
        None,
        now=now,
        include=include,
        headers=headers,
        strategy=strategy,
    )
    rows = [
        (
            {**row, "object": {**row["object"], "metadata": metadata}}
            if row.get("object")
            else row
        )
        for row in printed["rows"]
    ]
    return {**printed, "rows": rows}


def _of_version(printed: Object, version: str) -> Object:
    """The same Table in a version of the group; the rows carry metadata of the same
    version.
    """
    if version == META_VERSION:
        return printed
    rows = [
        (
            {**row, "object": {**row["object"], "apiVersion": version}}
            if (row.get("object") or {}).get("kind") == "PartialObjectMetadata"
            else row
        )
        for row in printed["rows"] or ()
    ]
    return {**printed, "apiVersion": version, "rows": rows}
