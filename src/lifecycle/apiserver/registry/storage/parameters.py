"""What StorageClasses and VolumeAttributesClasses have in common: a driver, and what is
handed on to it.

Upstream: `pkg/apis/storage/validation/validation.go` (`validateProvisioner`,
`validateParameters`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, required, too_long
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content

_PARAMETERS, _PARAMETERS_SIZE = 512, 256 * 1024


def validate_provisioner(name: str, path: str) -> list[FieldError]:
    """A driver's or provisioner's name. Upstream: `validateProvisioner`."""
    if not name:
        return [required(path)]
    return [invalid(path, name, why) for why in content.qualified_name(name.lower())]


def validate_parameters(
    parameters: Object | None, path: str, *, allow_none: bool
) -> list[FieldError]:
    """What is handed on to a driver. Upstream: `validateParameters`."""
    items = parameters or {}
    if len(items) > _PARAMETERS:
        return [too_long(path, _PARAMETERS)]
    errors = [invalid(path, key, "field can not be empty.") for key in items if not key]
    if sum(len(key) + len(value) for key, value in items.items()) > _PARAMETERS_SIZE:
        errors.append(too_long(path, _PARAMETERS_SIZE))
    if not allow_none and not items:
        errors.append(required(path, "must contain at least one key/value pair"))
    return errors
