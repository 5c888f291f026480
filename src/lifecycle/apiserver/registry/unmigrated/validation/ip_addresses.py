"""IP addresses that are taken: an object for each, named after the address, and who
holds it.

Upstream: `pkg/apis/networking/validation/validation.go` (`ValidateIPAddress`,
`ValidateIPAddressUpdate`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, required
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import validate_ip
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)


def _name_is_address(name: str, prefix: bool) -> content.Messages:
    return tuple(error.detail for error in validate_ip(name, ""))


def validate_ip_address(address: Object) -> list[FieldError]:
    """Named by the address, held by somebody."""
    errors = validate_core_object_meta(
        address.get("metadata") or {}, False, _name_is_address
    )
    parent, path = (address.get("spec") or {}).get("parentRef"), "spec.parentRef"
    if parent is None:
        return [*errors, required(path)]
    group = parent.get("group", "")
    if group:
        errors += [
            invalid(f"{path}.group", group, why)
            for why in content.dns1123_subdomain(group)
        ]
    for field in ("resource", "name", "namespace"):
        value = parent.get(field, "")
        if value:
            errors += [
                invalid(f"{path}.{field}", value, why)
                for why in content.name_is_path_segment(value, False)
            ]
        elif field != "namespace":
            errors.append(required(f"{path}.{field}"))
    return errors


def validate_ip_address_update(new: Object, old: Object) -> list[FieldError]:
    """Whose it is stays."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    parent = (new.get("spec") or {}).get("parentRef")
    if parent != (old.get("spec") or {}).get("parentRef"):
        errors.append(
            invalid(
                "spec.parentRef",
                internal_value("*networking/v1.ParentReference", parent),
                IMMUTABLE,
            )
        )
    return errors
