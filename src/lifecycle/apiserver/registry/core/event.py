"""Events of `v1`: little is asked of them. Both shapes (`v1`, `events.k8s.io/v1`) are
one thing in the store; what they share is here.

Upstream: `pkg/registry/core/event/strategy.go`, `pkg/apis/core/validation/events.go`
(`legacyValidateEvent`), `pkg/printers/internalversion/printers.go` (`printEvent`,
`formatEventSource`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, required
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import since
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.printers.printer import (
    NAME,
    Cells,
    Column,
    Printer,
    field,
)
from lifecycle.apiserver.registry.rest.field_labels import (
    FieldLabels,
    field_label_not_supported,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy

# --- validation -----------------------------------------------------------------------


_LONGEST, _LONGEST_NOTE = 128, 1024


def validate(event: Object) -> list[FieldError]:
    """Its namespace, and who reports. Fields have the names of `v1`."""
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
    core = event.get("apiVersion") == "v1"
    reporter = "reportingComponent" if core else "reportingController"
    if not controller:
        errors.append(required(reporter))
    errors += [
        invalid(reporter, controller, why) for why in content.qualified_name(controller)
    ]
    for key in ("reportingInstance", "action", "reason"):
        value = event.get(key, "")
        if not value:
            errors.append(required(key))
        if len(value.encode()) > _LONGEST:
            errors.append(invalid(key, "", f"can have at most {_LONGEST} characters"))
    if len(event.get("message", "").encode()) > _LONGEST_NOTE:
        errors.append(
            invalid("message", "", f"can have at most {_LONGEST_NOTE} characters")
        )
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed Event: the same."""
    return validate(new)


# --- field labels, table --------------------------------------------------------------


_INVOLVED = (
    *("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion"),
    "fieldPath",
)


def selectable_fields(event: Object) -> dict[str, str]:
    """The values of the fields that Events are selected by. Upstream:
    `registry/core/event/strategy.go` (`ToSelectableFields`).
    """
    involved = event.get("involvedObject") or event.get("regarding") or {}
    source = (event.get("source") or {}).get("component", "")
    reporter = event.get("reportingComponent") or event.get("reportingController") or ""
    return {
        **{f"involvedObject.{key}": involved.get(key, "") for key in _INVOLVED},
        "reason": event.get("reason", ""),
        "reportingComponent": reporter,
        "source": source or reporter,
        "type": event.get("type", ""),
    }


FIELD_LABELS = FieldLabels(
    ("metadata.name", "metadata.namespace", *selectable_fields({})),
    selectable_fields,
    field_label_not_supported,
)


def print_event(event: Object, now: float) -> Cells:
    """The cells of `kubectl get events`."""
    first, last = event.get("firstTimestamp"), event.get("lastTimestamp")
    about, series = event.get("involvedObject") or {}, event.get("series")
    first_seen = since(first or event.get("eventTime"), now)
    last_seen = since(last, now) if last else first_seen
    count = event.get("count") or 1
    if series is not None:
        last_seen, count = (
            since(series.get("lastObservedTime"), now),
            series.get("count", 0),
        )
    kind = about.get("kind", "").lower()
    return [
        last_seen,
        event.get("type", ""),
        event.get("reason", ""),
        f"{kind}/{about['name']}" if about.get("name") else kind,
        about.get("fieldPath", ""),
        _source(event),
        event.get("message", "").strip(),
        first_seen,
        count,
        event["metadata"]["name"],
    ]


def _source(event: Object) -> str:
    """`kubelet, lifecycle-worker`: who reported, and where."""
    source = event.get("source") or {}
    component = source.get("component") or event.get("reportingComponent", "")
    instance = source.get("host") or event.get("reportingInstance", "")
    return f"{component}, {instance}" if instance else component


_EVENT = "core/v1.Event"

COLUMNS = (
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

PRINTER = Printer(COLUMNS, print_event)

STRATEGY = Strategy(
    validate=validate,
    allow_create_on_update=True,
    has_no_dependents=True,
    validate_update=validate_update,
    field_labels=FIELD_LABELS,
    printer=PRINTER,
)
