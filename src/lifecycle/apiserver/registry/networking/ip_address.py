"""IPAddresses: an address that is taken, an object for each, named after the address;
and who holds it.

Upstream: `pkg/registry/networking/ipaddress/strategy.go`,
`pkg/apis/networking/validation/validation.go` (`ValidateIPAddress`,
`ValidateIPAddressUpdate`), `pkg/printers/internalversion/printers.go`
(`printIPAddress`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, required
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import validate_ip
from lifecycle.apiserver.registry.printers.printer import (
    NAME,
    Cells,
    Column,
    Printer,
    field,
)
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy

# --- validation -----------------------------------------------------------------------


def _name_is_address(name: str, prefix: bool) -> content.Messages:
    return tuple(error.detail for error in validate_ip(name, ""))


def validate(address: Object) -> list[FieldError]:
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
    for key in ("resource", "name", "namespace"):
        value = parent.get(key, "")
        if value:
            errors += [
                invalid(f"{path}.{key}", value, why)
                for why in content.name_is_path_segment(value, False)
            ]
        elif key != "namespace":
            errors.append(required(f"{path}.{key}"))
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
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


# --- table ----------------------------------------------------------------------------


def print_ip_address(address: Object, now: float) -> Cells:
    """Upstream gives this row one cell more than there are columns; clients ignore
    it.
    """
    parent = (address.get("spec") or {}).get("parentRef")
    text = "<none>"
    if parent is not None:
        resource = (
            f"{parent.get('resource', '')}.{parent['group']}"
            if parent.get("group")
            else parent.get("resource", "")
        )
        text = "/".join(
            part
            for part in (resource.lower(), parent.get("namespace"), parent.get("name"))
            if part
        )
    return [address["metadata"]["name"], text, age(address, now)]


PRINTER = Printer(
    (NAME, Column("ParentRef", field("networking/v1.IPAddressSpec", "parentRef"))),
    print_ip_address,
)

STRATEGY = Strategy(validate=validate, validate_update=validate_update, printer=PRINTER)
