"""Scale: the small shape of everything that has replicas. It is never stored.

Upstream: `pkg/apis/autoscaling/validation/validation.go` (`ValidateScale`),
`pkg/printers/internalversion/printers.go` (`printScale`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)
from lifecycle.apiserver.registry.rest.numbers import not_negative
from lifecycle.apiserver.registry.rest.object_meta import validate_core_object_meta
from lifecycle.apiserver.registry.rest.strategy import Strategy


def validate(scale: Object) -> list[FieldError]:
    """A name, and no negative replicas."""
    meta = scale.get("metadata") or {}
    errors = validate_core_object_meta(meta, True, content.name_is_dns_subdomain)
    return errors + not_negative(scale.get("spec") or {}, "replicas", path="spec")


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """The same."""
    return validate(new)


def print_scale(scale: Object, now: float) -> Cells:
    """The cells of `kubectl get --subresource=scale`."""
    spec, status = scale.get("spec") or {}, scale.get("status") or {}
    return [
        scale["metadata"]["name"],
        spec.get("replicas", 0),
        status.get("replicas", 0),
        age(scale, now),
    ]


PRINTER = Printer(
    (
        Column("Name", NAME.description),
        Column("Desired", field("autoscaling/v1.ScaleSpec", "replicas"), "integer"),
        Column("Available", field("autoscaling/v1.ScaleStatus", "replicas"), "integer"),
        AGE,
    ),
    print_scale,
)

STRATEGY = Strategy(validate=validate, validate_update=validate_update, printer=PRINTER)
