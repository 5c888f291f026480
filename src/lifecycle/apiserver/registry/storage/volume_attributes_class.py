"""VolumeAttributesClasses: what a volume may be changed to while it exists.

Upstream: `pkg/registry/storage/volumeattributesclass/strategy.go`,
`pkg/apis/storage/validation/validation.go` (`ValidateVolumeAttributesClass` …),
`pkg/printers/internalversion/printers.go` (`printVolumeAttributesClass`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, forbidden
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
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy
from lifecycle.apiserver.registry.storage.default_class import name_and_default
from lifecycle.apiserver.registry.storage.parameters import (
    validate_parameters,
    validate_provisioner,
)

# --- validation -----------------------------------------------------------------------


def validate(class_: Object) -> list[FieldError]:
    """A new class of volume attributes."""
    errors = validate_core_object_meta(
        class_.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    errors += validate_provisioner(class_.get("driverName", ""), "driverName")
    return errors + validate_parameters(
        class_.get("parameters"), "parameters", allow_none=False
    )


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """Nothing of it changes."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    for key in ("driverName", "parameters"):
        if new.get(key) != old.get(key):
            errors.append(forbidden(key, f"updates to {key} are forbidden."))
    return errors + validate(new)


# --- table ----------------------------------------------------------------------------


_DEFAULT_ATTRIBUTES_CLASS = ("storage.alpha.kubernetes.io/is-default-class",)


def print_volume_attributes_class(class_: Object, now: float) -> Cells:
    """The cells of `kubectl get volumeattributesclasses`."""
    return [
        name_and_default(class_, _DEFAULT_ATTRIBUTES_CLASS),
        class_.get("driverName", ""),
        age(class_, now),
    ]


PRINTER = Printer(
    (
        NAME,
        Column("DriverName", field("storage/v1.VolumeAttributesClass", "driverName")),
        AGE,
    ),
    print_volume_attributes_class,
)

STRATEGY = Strategy(validate=validate, validate_update=validate_update, printer=PRINTER)
