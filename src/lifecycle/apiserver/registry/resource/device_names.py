"""The names that devices, their drivers, pools and attributes go by.

Upstream: `pkg/apis/resource/validation/validation.go` (`validatePoolName`,
`validateQualifiedName`, `validateFullyQualifiedName` …), v1.36.
"""

from __future__ import annotations

import re

from lifecycle.api.field_errors import FieldError, Named, invalid, required, too_long
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.pod.volumes import validate_csi_driver_name

POOL_NAME_LENGTH = 253
ID_LENGTH = 32
DOMAIN_LENGTH = 63
KEY_LENGTH = DOMAIN_LENGTH + 1 + ID_LENGTH

_C_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NOT_A_C_IDENTIFIER = content.regex_error(
    "a valid C identifier must start with alphabetic character or '_', followed by a"
    " string of alphanumeric characters or '_'",
    "[A-Za-z_][A-Za-z0-9_]*",
    "my_name",
    "MY_NAME",
    "MyName",
)

validate_driver_name = validate_csi_driver_name


def validate_label(name: str, path: str) -> list[FieldError]:
    """Of a device, a request, a counter."""
    return [invalid(path, name, why) for why in content.dns1123_label(name)]


def validate_subdomain(name: str, path: str) -> list[FieldError]:
    """Of a class, a part of a pool."""
    return [invalid(path, name, why) for why in content.dns1123_subdomain(name)]


def validate_pool_name(name: str, path: str) -> list[FieldError]:
    """Subdomains, between slashes."""
    if not name:
        return [required(path)]
    errors = (
        [too_long(path, POOL_NAME_LENGTH)]
        if len(name.encode()) > POOL_NAME_LENGTH
        else []
    )
    for part in name.split("/"):
        errors += validate_subdomain(part, path)
    return errors


def _validate_c_identifier(name: str, path: str) -> list[FieldError]:
    errors = [too_long(path, ID_LENGTH)] if len(name.encode()) > ID_LENGTH else []
    if not _C_IDENTIFIER.fullmatch(name):
        errors.append(invalid(path, name, _NOT_A_C_IDENTIFIER))
    return errors


def validate_qualified_name(name: str, path: str) -> list[FieldError]:
    """An identifier, with or without a domain. Two slashes pass, as upstream."""
    parts = name.split("/")
    if len(parts) == 1:
        return _validate_c_identifier(name, path)
    if len(parts) > 2:
        return []
    domain, identifier = parts
    errors = (
        validate_driver_name(domain, path)
        if domain
        else [invalid(path, "", "the domain must not be empty")]
    )
    return errors + (
        _validate_c_identifier(identifier, path)
        if identifier
        else [invalid(path, "", "the name must not be empty")]
    )


def validate_fully_qualified_name(name: str, path: str) -> list[FieldError]:
    """With its domain."""
    errors = validate_qualified_name(name, path)
    if "/" not in name:
        why = "a fully qualified name must be a domain and a name separated by a slash"
        errors.append(invalid(path, Named(name), why))
    return errors
