"""ResourceClaims: devices that a pod wants, and whether it has got them.

Upstream: `pkg/registry/resource/resourceclaim/strategy.go`,
`pkg/apis/resource/validation/validation.go` (`ValidateResourceClaim` …),
`pkg/printers/internalversion/printers.go` (`printResourceClaim`), v1.36. Left out: who
may write which part of a status.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
)
from lifecycle.apiserver.registry.resource.claim_status import (
    drop_deallocated_devices,
    validate_claim_status,
)
from lifecycle.apiserver.registry.resource.claim_validation import validate_claim_spec
from lifecycle.apiserver.registry.resource.requests import set_claim_spec_defaults
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import (
    METADATA_AND_SPEC_FIELDS,
    Strategy,
    UpdateStrategy,
)


def set_defaults(claim: Object) -> None:
    """A ResourceClaim."""
    set_claim_spec_defaults(claim.get("spec") or {})


def validate(claim: Object) -> list[FieldError]:
    """A new claim."""
    errors = validate_core_object_meta(
        claim.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    return errors + validate_claim_spec(claim.get("spec") or {}, "spec")


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """Its spec stays."""
    errors = validate_core_object_meta(
        new["metadata"], True, content.name_is_dns_subdomain
    )
    errors += validate_core_object_meta_update(new["metadata"], old["metadata"])
    if new.get("spec") != old.get("spec"):
        shown = internal_value("resource/v1.ResourceClaimSpec", new.get("spec"))
        errors.append(invalid("spec", shown, IMMUTABLE))
    return errors


def prepare_for_status_update(new: Object, old: Object) -> None:
    """The status, without devices that were given back."""
    update.prepare_for_status_only_update(new, old)
    drop_deallocated_devices(new, old)


def validate_status_update(new: Object, old: Object) -> list[FieldError]:
    """What was allocated, for whom, and how the devices are."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    return errors + validate_claim_status(new, old)


def print_resource_claim(obj: Object, now: float) -> Cells:
    """The cells of `kubectl get resourceclaims`."""
    status, deleted = (
        obj.get("status") or {},
        bool(obj["metadata"].get("deletionTimestamp")),
    )
    states = ["deleted"] if deleted else []
    if status.get("allocation") is not None:
        states += (
            ["allocated", "reserved"] if status.get("reservedFor") else ["allocated"]
        )
    elif not deleted:
        states.append("pending")
    return [obj["metadata"]["name"], ",".join(states), age(obj, now)]


PRINTER = Printer(
    (
        NAME,
        Column(
            "State",
            "A summary of the current state (allocated, pending, reserved, etc.).",
        ),
        AGE,
    ),
    print_resource_claim,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    validate=validate,
    validate_update=validate_update,
    returns_deleted_object=True,
    subresources={
        "status": UpdateStrategy(
            prepare_for_status_update,
            validate_status_update,
            reset_fields=METADATA_AND_SPEC_FIELDS,
        )
    },
    printer=PRINTER,
)
