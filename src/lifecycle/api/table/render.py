"""`as=Table`: the server prints, so that kubectl need not know a kind to show it.

Upstream: `apiserver/pkg/endpoints/handlers/response.go` (`asTable`),
`pkg/printers/tablegenerator.go` (`GenerateTable`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

import orjson

from lifecycle.api.resources import Resource
from lifecycle.api.status import bad_request
from lifecycle.api.table import (
    access,
    admission,
    autoscaling,
    configuration,
    events,
    jobs,
    nodes,
    pods,
    priorities,
    services,
    volumes,
    workloads,
)
from lifecycle.api.table.custom import custom_printer
from lifecycle.api.table.default import DEFAULT
from lifecycle.api.table.printer import Printer
from lifecycle.api.wire import Object

_LIST_META = ("resourceVersion", "continue", "remainingItemCount")


@cache
def _printers() -> dict[str, Printer]:
    printers: dict[str, Printer] = {}
    for room in (
        access, admission, autoscaling, configuration, events, jobs, nodes, pods,
        priorities, services, volumes, workloads,
    ):  # fmt: skip
        printers |= room.PRINTERS
    return printers


def printer_for(resource: Resource) -> Printer:
    """The printer of a resource, or the default one."""
    if resource.group == "autoscaling" and resource.version == "v1":
        return autoscaling.VERSION_1
    name = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
    return _printers().get(name, DEFAULT)


@lru_cache(maxsize=512)
def _definitions(printer: Printer) -> list[Object]:
    return [column.definition() for column in printer.columns]


def columns(resource: Resource) -> list[Object]:
    """The `columnDefinitions` of a resource's table; shared, treat as read-only."""
    return _definitions(printer_for(resource))


def table(
    resource: Resource,
    objs: Iterable[Object],
    *,
    now: float,
    list_meta: Object | None = None,
    include_object: str = "Metadata",
    no_headers: bool = False,
    printer_columns: list[Object] | None = None,
    custom: bool = False,
) -> Object:
    """A `meta.k8s.io/v1` Table of objects, as the API server answers
    `as=Table;v=v1;g=meta.k8s.io`.

    `now` is in seconds since 1970 (ages). `list_meta` is the list's metadata; without
    it the table is of one object and carries that object's resourceVersion.
    `include_object` is `Metadata` (also if empty), `Object` or `None`; anything else
    raises StatusError 400. `no_headers` leaves the columns out, as in a watch after its
    first event. `custom` prints a custom resource, by its definition's
    `printer_columns`.
    """
    objs = list(objs)
    printer = (
        custom_printer(orjson.dumps(printer_columns or []))
        if custom
        else printer_for(resource)
    )
    if objs and objs[0].get("kind") == "Scale" and resource.kind != "Scale":
        printer = workloads.SCALE
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
        "columnDefinitions": None if no_headers else _definitions(printer),
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
    row["object"] = _included(resource, obj, include_object)
    return row


def _included(resource: Resource, obj: Object, include_object: str) -> Object | None:
    if include_object in ("Metadata", ""):
        return {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": _printed_metadata(obj["metadata"]),
        }
    if include_object == "Object":
        return {"kind": resource.kind, "apiVersion": resource.api_version} | obj
    if include_object == "None":
        return None
    raise bad_request(f'unrecognized includeObject value: "{include_object}"')


TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


def _printed_metadata(metadata: Object) -> Object:
    """Upstream prints from its internal form, where this annotation of a DaemonSet is a
    field and so not among the annotations.
    """
    annotations = metadata.get("annotations")
    if not annotations or TEMPLATE_GENERATION not in annotations:
        return metadata
    kept = {
        key: value for key, value in annotations.items() if key != TEMPLATE_GENERATION
    }
    return {
        k: kept if k == "annotations" else v
        for k, v in metadata.items()
        if k != "annotations" or kept
    }


def _no_rows(printer: Printer) -> list[Object] | None:
    """An empty table has `[]`, but for the default convertor, which never made a list:
    `null`.
    """
    return None if printer is DEFAULT else []
