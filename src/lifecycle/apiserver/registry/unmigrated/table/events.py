"""Events, in both their shapes (`v1` and `events.k8s.io/v1`), which are one thing in
the store.

Upstream: `pkg/printers/internalversion/printers.go` (`printEvent`,
`formatEventSource`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.human_duration import since
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.printers.printer import (
    NAME,
    Cells,
    Column,
    Printer,
    field,
)


def _print_event(obj: Object, now: float) -> Cells:
    first, last = obj.get("firstTimestamp"), obj.get("lastTimestamp")
    about, series = obj.get("involvedObject") or {}, obj.get("series")
    first_seen = since(first or obj.get("eventTime"), now)
    last_seen = since(last, now) if last else first_seen
    count = obj.get("count") or 1
    if series is not None:
        last_seen, count = (
            since(series.get("lastObservedTime"), now),
            series.get("count", 0),
        )
    kind = about.get("kind", "").lower()
    return [
        last_seen,
        obj.get("type", ""),
        obj.get("reason", ""),
        f"{kind}/{about['name']}" if about.get("name") else kind,
        about.get("fieldPath", ""),
        _source(obj),
        obj.get("message", "").strip(),
        first_seen,
        count,
        obj["metadata"]["name"],
    ]


def _source(obj: Object) -> str:
    """`kubelet, lifecycle-worker`: who reported, and where."""
    source = obj.get("source") or {}
    component = source.get("component") or obj.get("reportingComponent", "")
    instance = source.get("host") or obj.get("reportingInstance", "")
    return f"{component}, {instance}" if instance else component


_NEW_NAMES = {
    "regarding": "involvedObject", "note": "message", "deprecatedSource": "source",
    "deprecatedCount": "count",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "reportingController": "reportingComponent",
}  # fmt: skip


def _print_new_event(obj: Object, now: float) -> Cells:
    return _print_event(
        {_NEW_NAMES.get(key, key): value for key, value in obj.items()}, now
    )


_EVENT = "core/v1.Event"
_COLUMNS = (
    Column("Last Seen", field(_EVENT, "lastTimestamp")),
    Column("Type", field(_EVENT, "type")),
    Column("Reason", field(_EVENT, "reason")),
    Column("Object", field(_EVENT, "involvedObject")),
    Column("Subobject", field("core/v1.ObjectReference", "fieldPath"), priority=1),
    Column("Source", field(_EVENT, "source"), priority=1),
    Column("Message", field(_EVENT, "message")),
    Column("First Seen", field(_EVENT, "firstTimestamp"), priority=1),
    Column("Count", field(_EVENT, "count"), priority=1),
    Column("Name", NAME.description, format="name", priority=1),
)

PRINTERS = {
    "events": Printer(_COLUMNS, _print_event),
    "events.events.k8s.io": Printer(_COLUMNS, _print_new_event),
}
