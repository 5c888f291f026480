"""ConfigMaps: text and bytes for pods to read.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidateConfigMap` …),
`pkg/printers/internalversion/printers.go` (`printConfigMap`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, too_long
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.key_value_data import (
    MAX_SIZE,
    decoded_size,
    validate_immutable,
)
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

NAMELESS = "[]"
"""How upstream writes the path of a field that has no name."""


def validate(config_map: Object) -> list[FieldError]:
    """Keys that can be file names, in one of the two bags; a megabyte at most."""
    errors = validate_core_object_meta(
        config_map.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    data, binary = config_map.get("data") or {}, config_map.get("binaryData") or {}
    size = 0
    for key, value in data.items():
        errors += [
            invalid(f"data[{key}]", key, why) for why in content.config_map_key(key)
        ]
        if key in binary:
            errors.append(
                invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
            )
        size += len(value) if value.isascii() else len(value.encode())
    for key, value in binary.items():
        errors += [
            invalid(f"binaryData[{key}]", key, why)
            for why in content.config_map_key(key)
        ]
        size += decoded_size(value)
    if size > MAX_SIZE:
        errors.append(too_long(NAMELESS, MAX_SIZE))
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """An immutable ConfigMap stays as it is."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    return errors + validate_immutable(new, old, ("data", "binaryData")) + validate(new)


def print_config_map(config_map: Object, now: float) -> Cells:
    """The cells of `kubectl get configmaps`."""
    return [
        config_map["metadata"]["name"],
        len(config_map.get("data") or ()) + len(config_map.get("binaryData") or ()),
        age(config_map, now),
    ]


PRINTER = Printer(
    (NAME, Column("Data", field("core/v1.ConfigMap", "data")), AGE),
    print_config_map,
)

STRATEGY = Strategy(validate=validate, validate_update=validate_update, printer=PRINTER)
