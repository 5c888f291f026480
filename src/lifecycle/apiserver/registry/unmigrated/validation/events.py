"""Events: easy on those of `v1`, strict with those of `events.k8s.io/v1`.

Upstream: `pkg/apis/core/validation/events.go` (`ValidateEventCreate`,
`ValidateEventUpdate`, `legacyValidateEvent`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, required
from lifecycle.api.validation import content
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)

_LONGEST, _LONGEST_NOTE = 128, 1024

_OLD_NAMES = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
"""Errors name the fields of the internal type, which has the older names."""


def _legacy(event: Object) -> Object:
    return {_OLD_NAMES.get(key, key): value for key, value in event.items()}


def _validate_legacy(event: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    namespace = (event.get("metadata") or {}).get("namespace", "")
    about = (event.get("involvedObject") or {}).get("namespace", "")
    mismatch = invalid(
        "involvedObject.namespace", about, "does not match event.namespace"
    )
    if event.get("eventTime") is None:
        if (namespace != about) if about else (namespace not in ("", "default")):
            errors.append(mismatch)
    else:
        if not about and namespace not in ("default", "kube-system"):
            errors.append(mismatch)
        errors += _validate_reporter(event)
    return errors + [
        invalid("namespace", namespace, why)
        for why in content.dns1123_subdomain(namespace)
    ]


def _validate_reporter(event: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    controller = event.get("reportingComponent", "")
    if not controller:
        errors.append(required("reportingController"))
    errors += [
        invalid("reportingController", controller, why)
        for why in content.qualified_name(controller)
    ]
    for field in ("reportingInstance", "action", "reason"):
        value = event.get(field, "")
        if not value:
            errors.append(required(field))
        if len(value.encode()) > _LONGEST:
            errors.append(invalid(field, "", f"can have at most {_LONGEST} characters"))
    if len(event.get("message", "").encode()) > _LONGEST_NOTE:
        errors.append(
            invalid("message", "", f"can have at most {_LONGEST_NOTE} characters")
        )
    return errors


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


def validate_core_event(event: Object) -> list[FieldError]:
    """A new Event of `v1`."""
    return _validate_legacy(event)


def validate_core_event_update(new: Object, old: Object) -> list[FieldError]:
    """A changed Event of `v1`."""
    return _validate_legacy(new)


def validate_event(event: Object) -> list[FieldError]:
    """A new Event of `events.k8s.io/v1`: complete, and without what is deprecated."""
    old = _legacy(event)
    errors = _validate_legacy(old)
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


def validate_event_update(new: Object, old: Object) -> list[FieldError]:
    """A changed Event of `events.k8s.io/v1`: only its series goes on."""
    after, before = _legacy(new), _legacy(old)
    errors = _validate_legacy(after) + validate_core_object_meta_update(
        new["metadata"], old["metadata"]
    )
    if new.get("series") != old.get("series"):
        errors += _validate_series(new)
    for field, shown in _FIXED:
        if (after.get(field) or None) != (before.get(field) or None):
            errors.append(invalid(shown, after.get(field), IMMUTABLE))
    return errors
