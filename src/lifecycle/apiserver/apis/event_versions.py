"""Events have two faces: `v1` and `events.k8s.io/v1`. They are one object under one
key, stored as `v1`.

The newer group renamed fields and marked the counters of the old one as deprecated. Who
writes through one group reads the same Event through the other.

Upstream: `pkg/apis/events/v1/conversion.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object

CORE, EVENTS = "v1", "events.k8s.io/v1"

_NEW_TO_OLD = {
    "note": "message",
    "regarding": "involvedObject",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
_OLD_TO_NEW = {old: new for new, old in _NEW_TO_OLD.items()}
_CORE_ORDER = (
    "metadata", "involvedObject", "reason", "message", "source", "firstTimestamp",
    "lastTimestamp", "count", "type",
    "eventTime", "series", "action", "related", "reportingComponent",
    "reportingInstance",
)  # fmt: skip
_EVENTS_ORDER = (
    "metadata", "eventTime", "series", "reportingController", "reportingInstance",
    "action", "reason", "regarding",
    "related", "note", "type", "deprecatedSource", "deprecatedFirstTimestamp",
    "deprecatedLastTimestamp", "deprecatedCount",
)  # fmt: skip

# what Go writes although it is empty: structs and time pointers without omitempty
_CORE_ALWAYS: Object = {
    "involvedObject": {}, "source": {}, "firstTimestamp": None, "lastTimestamp": None,
    "eventTime": None,
    "reportingComponent": "", "reportingInstance": "",
}  # fmt: skip
_EVENTS_ALWAYS: Object = {
    "eventTime": None, "regarding": {}, "deprecatedSource": {},
    "deprecatedFirstTimestamp": None, "deprecatedLastTimestamp": None,
}  # fmt: skip


def to_core(event: Object) -> Object:
    """An `events.k8s.io/v1` Event as a `v1` one."""
    if event.get("apiVersion") != EVENTS:
        return event
    renamed = _CORE_ALWAYS | {
        _NEW_TO_OLD.get(key, key): value for key, value in event.items()
    }
    return {
        "kind": "Event",
        "apiVersion": CORE,
        **{key: renamed[key] for key in _CORE_ORDER if key in renamed},
    }


def from_core(event: Object) -> Object:
    """A `v1` Event as an `events.k8s.io/v1` one."""
    if event.get("apiVersion") != CORE:
        return event
    renamed = {_OLD_TO_NEW.get(key, key): value for key, value in event.items()}
    for key in ("reportingController", "reportingInstance"):
        if not renamed.get(key):
            renamed.pop(key, None)
    renamed = _EVENTS_ALWAYS | renamed
    return {
        "kind": "Event",
        "apiVersion": EVENTS,
        **{key: renamed[key] for key in _EVENTS_ORDER if key in renamed},
    }
