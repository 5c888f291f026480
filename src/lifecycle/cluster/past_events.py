"""What had happened before anybody asked: events of a recorded cluster's own start.

No question brings them about, so a cluster that is to start out like the recorded one
is given them. They were only ever shown as rows of a Table; an Event is put together
from its row.

Ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource, all_resources, resource
from lifecycle.inspector import Exchange


def past_events(exchanges: Iterable[Exchange]) -> list[tuple[Resource, Object]]:
    """The events in recorded Tables that are older than the first object that the
    scenario made.
    """
    exchanges = list(exchanges)
    began = min(filter(None, map(_made, exchanges)), default=None)
    if began is None:
        return []
    kinds = {row.kind.lower(): row for row in all_resources()}
    events = []
    for exchange in exchanges:
        columns = _columns(exchange)
        for row in exchange.response["rows"] if columns else ():
            created = _time(row["object"])
            if created is not None and created < began:
                cells = dict(zip(columns, row["cells"], strict=True))
                events.append((resource("events"), _event(cells, row["object"], kinds)))
    return events


def _made(exchange: Exchange) -> datetime | None:
    """When an object was made, if this made one."""
    if exchange.method != "POST" or exchange.status != 201:
        return None
    return _time(exchange.response)


def _time(obj: Object) -> datetime | None:
    created = (obj.get("metadata") or {}).get("creationTimestamp")
    return datetime.fromisoformat(created) if created else None


def _columns(exchange: Exchange) -> list[str]:
    answer = exchange.response
    if not isinstance(answer, dict) or answer.get("kind") != "Table":
        return []
    columns = [column["name"] for column in answer["columnDefinitions"]]
    return columns if {"Reason", "Object", "Source", "Message"} <= set(columns) else []


def _event(cells: dict[str, Any], about: Object, kinds: dict[str, Resource]) -> Object:
    kind, _, name = cells["Object"].partition("/")
    component, _, host = cells["Source"].partition(", ")
    metadata = about["metadata"]
    of_kind = kinds[kind]
    created = metadata["creationTimestamp"]
    involved = {
        "kind": of_kind.kind,
        "apiVersion": of_kind.api_version,
        "namespace": metadata["namespace"],
        "name": name,
    }
    if cells["Subobject"]:
        involved["fieldPath"] = cells["Subobject"]
    return {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": metadata,
        "involvedObject": involved,
        "reason": cells["Reason"],
        "message": cells["Message"],
        "source": {"component": component, **({"host": host} if host else {})},
        "firstTimestamp": created,
        "lastTimestamp": created,
        "count": cells["Count"],
        "type": cells["Type"],
        "eventTime": None,
        "reportingComponent": component,
        "reportingInstance": host,
    }
