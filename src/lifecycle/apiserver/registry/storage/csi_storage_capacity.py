"""CSIStorageCapacities: how much room a class has, and for which nodes.

Upstream: `pkg/registry/storage/csistoragecapacity/strategy.go`,
`pkg/apis/storage/validation/validation.go` (`ValidateCSIStorageCapacity` …), v1.36.
Columns of its own are written there, too, but its registry does not ask for them.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid
from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.rest.label_selectors import validate_label_selector
from lifecycle.apiserver.registry.rest.numbers import NOT_NEGATIVE
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy

# --- validation -----------------------------------------------------------------------


def validate(capacity: Object) -> list[FieldError]:
    """A new capacity report."""
    errors = validate_core_object_meta(
        capacity.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    errors += validate_label_selector(capacity.get("nodeTopology"), "nodeTopology")
    name, amount = capacity.get("storageClassName", ""), capacity.get("capacity")
    errors += [
        invalid("storageClassName", name, why)
        for why in content.name_is_dns_subdomain(name, False)
    ]
    if amount is not None and parse_quantity(amount) < parse_quantity("0"):
        errors.append(invalid("capacity", amount, NOT_NEGATIVE))
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """What was asked about stays; the answer may change."""
    errors = validate(new)
    errors += validate_core_object_meta_update(new["metadata"], old["metadata"])
    for key in ("nodeTopology", "storageClassName"):
        if new.get(key) != old.get(key):
            errors.append(invalid(key, new.get(key), IMMUTABLE))
    return errors


STRATEGY = Strategy(
    validate=validate,
    allow_unconditional_update=False,
    validate_update=validate_update,
)
