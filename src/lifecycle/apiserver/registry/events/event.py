"""Events of `events.k8s.io/v1`: complete, and without what is deprecated.

Upstream: `pkg/apis/core/validation/events.go` (`ValidateEventCreate`,
`ValidateEventUpdate`); the strategy is that of the core group, v1.36.
"""

from __future__ import annotations

from dataclasses import replace

from lifecycle.api.field_errors import FieldError, invalid, required
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core import event as core
from lifecycle.apiserver.registry.printers.printer import Cells, Printer
from lifecycle.apiserver.registry.rest.field_labels import (
    NAME,
    NAMESPACE,
    FieldLabels,
    field_label_not_supported,
)
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)

_CORE_NAMES = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
"""Errors name the fields of the internal type, which has the older names."""


def _with_core_names(event: Object) -> Object:
    return {_CORE_NAMES.get(key, key): value for key, value in event.items()}


def _validate_series(event: Object) -> list[FieldError]:
    series = event.get("series")
    if series is None:
        return []
    errors = (
        []
        if series.get("count", 0) >= 2
        else [invalid("series.count", "", "should be at least 2")]
    )
    return errors + (
        [] if series.get("lastObservedTime") else [required("series.lastObservedTime")]
    )


def validate(event: Object) -> list[FieldError]:
    """A new Event of `events.k8s.io/v1`: complete, and without what is deprecated."""
    old = _with_core_names(event)
    errors = core.validate(old)
    errors += validate_core_object_meta(
        event.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    errors += _validate_series(event)
    if event.get("eventTime") is None:
        errors.append(required("eventTime"))
    type_ = event.get("type", "")
    if type_ not in ("Normal", "Warning"):
        errors.append(invalid("type", "", f"has invalid value: {type_}"))
    unset = "needs to be unset"
    errors += [
        invalid(field, "", unset)
        for field in ("firstTimestamp", "lastTimestamp", "count")
        if old.get(field)
    ]
    source = old.get("source") or {}
    if source.get("component") or source.get("host"):
        errors.append(invalid("source", "", unset))
    return errors


_FIXED = (
    ("involvedObject",) * 2, ("reason",) * 2, ("message",) * 2, ("source",) * 2,
    ("firstTimestamp",) * 2,
    ("lastTimestamp",) * 2, ("count",) * 2, ("reason",) * 2, ("type",) * 2,
    ("eventTime",) * 2, ("action",) * 2,
    ("related",) * 2, ("reportingComponent", "reportingController"),
    ("reportingInstance",) * 2,
)  # fmt: skip


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed Event of `events.k8s.io/v1`: only its series goes on."""
    after, before = _with_core_names(new), _with_core_names(old)
    errors = core.validate(after) + validate_core_object_meta_update(
        new["metadata"], old["metadata"]
    )
    if new.get("series") != old.get("series"):
        errors += _validate_series(new)
    for key, name in _FIXED:
        if (after.get(key) or None) != (before.get(key) or None):
            errors.append(invalid(name, after.get(key), IMMUTABLE))
    return errors


def print_event(event: Object, now: float) -> Cells:
    """The cells of `kubectl get events.v1.events.k8s.io`."""
    return core.print_event(_with_core_names(event), now)


PRINTER = Printer(core.COLUMNS, print_event)


def _selectable_fields(event: Object) -> dict[str, str]:
    """The fields of core's selector under the names that they have in this group;
    `source` has none here.
    """
    values = core.selectable_fields(event)
    values["reportingController"] = values.pop("reportingComponent")
    del values["source"]
    return {
        key.replace("involvedObject.", "regarding."): value
        for key, value in values.items()
    }


FIELD_LABELS = FieldLabels(
    (NAME, NAMESPACE, *_selectable_fields({})),
    _selectable_fields,
    field_label_not_supported,
)

STRATEGY = replace(
    core.STRATEGY,
    validate=validate,
    validate_update=validate_update,
    field_labels=FIELD_LABELS,
    printer=PRINTER,
)
