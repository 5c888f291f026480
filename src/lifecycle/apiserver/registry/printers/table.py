"""`as=Table`: the server prints, so that kubectl need not know a kind to show it.

Upstream: `apiserver/pkg/endpoints/handlers/response.go` (`asTable`),
`pkg/printers/tablegenerator.go` (`GenerateTable`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource
from lifecycle.api.status import bad_request
from lifecycle.apiserver.registry.printers.default import DEFAULT
from lifecycle.apiserver.registry.printers.printer import Printer

_LIST_META = ("resourceVersion", "continue", "remainingItemCount")


_DEFINITIONS: WeakKeyDictionary[Printer, list[Object]] = WeakKeyDictionary()
"""For as long as there is the printer: a custom resource's is as large as its author
likes, and goes with the definition.
"""


def columns(printer: Printer) -> list[Object]:
    """The `columnDefinitions` of a table; shared, treat as read-only."""
    found = _DEFINITIONS.get(printer)
    if found is None:
        found = [column.definition() for column in printer.columns]
        _DEFINITIONS[printer] = found
    return found


def table(
    printer: Printer,
    resource: Resource,
    objs: Iterable[Object],
    *,
    now: float,
    list_meta: Object | None = None,
    include_object: str = "Metadata",
    no_headers: bool = False,
) -> Object:
    """A `meta.k8s.io/v1` Table of objects, as the API server answers
    `as=Table;v=v1;g=meta.k8s.io`.

    `now` is in seconds since 1970 (ages). `list_meta` is the list's metadata; without
    it the table is of one object and carries that object's resourceVersion.
    `include_object` is `Metadata` (also if empty), `Object` or `None`; anything else
    raises StatusError 400. `no_headers` leaves the columns out, as in a watch after its
    first event.
    """
    objs = list(objs)
    if printer.order is not None and list_meta is not None:
        objs.sort(key=printer.order)
    single = objs[0]["metadata"] if list_meta is None and objs else {}
    metadata = {key: single[key] for key in ("resourceVersion",) if key in single}
    if list_meta is not None:
        metadata = {
            key: list_meta[key]
            for key in _LIST_META
            if list_meta.get(key) not in (None, "")
        }
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": None if no_headers else columns(printer),
        "rows": [_row(printer, resource, obj, now, include_object) for obj in objs]
        or _no_rows(printer),
    }


def _row(
    printer: Printer, resource: Resource, obj: Object, now: float, include_object: str
) -> Object:
    row: Object = {"cells": printer.row(obj, now)}
    conditions = printer.conditions(obj) if printer.conditions is not None else None
    if conditions:
        row["conditions"] = conditions
    row["object"] = _included(printer, resource, obj, include_object)
    return row


def _included(
    printer: Printer, resource: Resource, obj: Object, include_object: str
) -> Object | None:
    if include_object in ("Metadata", ""):
        return {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": _without_annotations(
                obj["metadata"], printer.internal_annotations
            ),
        }
    if include_object == "Object":
        return {"kind": resource.kind, "apiVersion": resource.api_version} | obj
    if include_object == "None":
        return None
    raise bad_request(f'unrecognized includeObject value: "{include_object}"')


def _without_annotations(metadata: Object, names: tuple[str, ...]) -> Object:
    annotations = metadata.get("annotations") or {}
    if not any(name in annotations for name in names):
        return metadata
    kept = {key: value for key, value in annotations.items() if key not in names}
    return {
        key: kept if key == "annotations" else value
        for key, value in metadata.items()
        if key != "annotations" or kept
    }


def _no_rows(printer: Printer) -> list[Object] | None:
    """An empty table has `[]`, but for the default convertor, which never made a list:
    `null`.
    """
    return None if printer is DEFAULT else []
