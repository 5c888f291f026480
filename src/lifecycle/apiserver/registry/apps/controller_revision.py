"""ControllerRevisions: templates of the past, to go back to.

Upstream: `pkg/registry/apps/controllerrevision/strategy.go`,
`pkg/apis/apps/validation/validation.go` (`ValidateControllerRevision` …),
`pkg/printers/internalversion/printers.go` (`printControllerRevision`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, required
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
from lifecycle.apiserver.registry.rest.numbers import NOT_NEGATIVE
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy


def validate(revision: Object) -> list[FieldError]:
    """A number, and an object."""
    errors, data = _validate_number(revision), revision.get("data")
    if data is None:
        errors.append(required("data", "data is mandatory"))
    elif not isinstance(data, dict):
        errors.append(required("data", "data must be a valid JSON object"))
    return errors


def _validate_number(revision: Object) -> list[FieldError]:
    errors = validate_core_object_meta(
        revision.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    number = revision.get("revision", 0)
    return errors + ([invalid("revision", number, NOT_NEGATIVE)] if number < 0 else [])


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """Its data is history and stays."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    errors += _validate_number(new)
    if new.get("data") != old.get("data"):
        errors.append(invalid("data", new.get("data"), IMMUTABLE))
    return errors


def print_controller_revision(revision: Object, now: float) -> Cells:
    """The cells of `kubectl get controllerrevisions`."""
    owners = revision["metadata"].get("ownerReferences") or ()
    owner = next((one for one in owners if one.get("controller")), None)
    controller = "<none>"
    if owner is not None:
        group = owner["apiVersion"].rpartition("/")[0]
        kind = f"{owner['kind']}.{group}".rstrip(".").lower()
        controller = f"{kind}/{owner['name']}"
    return [
        revision["metadata"]["name"],
        controller,
        revision.get("revision", 0),
        age(revision, now),
    ]


PRINTER = Printer(
    (
        NAME,
        Column("Controller", "Controller of the object"),
        Column("Revision", field("apps/v1.ControllerRevision", "revision")),
        AGE,
    ),
    print_controller_revision,
)

STRATEGY = Strategy(validate=validate, validate_update=validate_update, printer=PRINTER)
