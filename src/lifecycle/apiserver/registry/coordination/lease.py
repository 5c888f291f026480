"""Leases: a name, a holder, and when it was last heard of.

Upstream: `pkg/registry/coordination/lease/strategy.go`,
`pkg/apis/coordination/validation/validation.go` (`ValidateLease`),
`pkg/printers/internalversion/printers.go` (`printLease`), v1.36. Left out: strategies
of coordinated leader election.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid
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
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_object_meta,
    validate_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy


def validate(lease: Object) -> list[FieldError]:
    """A new lease."""
    errors = validate_object_meta(
        lease.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    return errors + _validate_spec(lease.get("spec") or {})


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A renewed lease."""
    errors = validate_object_meta_update(new["metadata"], old["metadata"])
    return errors + _validate_spec(new.get("spec") or {})


def _validate_spec(spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    duration = spec.get("leaseDurationSeconds")
    if duration is not None and duration <= 0:
        errors.append(
            invalid("spec.leaseDurationSeconds", duration, "must be greater than 0")
        )
    return errors + not_negative(spec, "leaseTransitions", path="spec")


def print_lease(lease: Object, now: float) -> Cells:
    """The cells of `kubectl get leases`."""
    holder = (lease.get("spec") or {}).get("holderIdentity") or ""
    return [lease["metadata"]["name"], holder, age(lease, now)]


PRINTER = Printer(
    (NAME, Column("Holder", field("coordination/v1.LeaseSpec", "holderIdentity")), AGE),
    print_lease,
)


def prepare_for_create(lease: Object) -> None:
    """`CoordinatedLeaderElection` is off, and its fields with it."""
    for key in _COORDINATED:
        (lease.get("spec") or {}).pop(key, None)


def prepare_for_update(new: Object, old: Object) -> None:
    """The same; what was there before stays."""
    if not any((old.get("spec") or {}).get(key) is not None for key in _COORDINATED):
        prepare_for_create(new)


_COORDINATED = ("strategy", "preferredHolder")

STRATEGY = Strategy(
    prepare_for_create=prepare_for_create,
    prepare_for_update=prepare_for_update,
    validate=validate,
    allow_create_on_update=True,
    allow_unconditional_update=False,
    validate_update=validate_update,
    printer=PRINTER,
)
