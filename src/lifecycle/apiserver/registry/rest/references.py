"""References: to an object by kind and name, to whoever is in charge by a path under a
domain.

Upstream: `pkg/apis/autoscaling/validation/validation.go`
(`ValidateCrossVersionObjectReference`, `ValidateAPIVersion`),
`pkg/apis/networking/validation/validation.go`
(`validateIngressTypedLocalObjectReference`), which say the same of these fields, v1.36.
"""

from __future__ import annotations

import re

from lifecycle.api.field_errors import FieldError, invalid, required
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content


def validate_kind_and_name(reference: Object, path: str) -> list[FieldError]:
    """Both are there, and could be a segment of a path."""
    errors: list[FieldError] = []
    for field in ("kind", "name"):
        value = reference.get(field, "")
        if not value:
            errors.append(required(f"{path}.{field}"))
        else:
            errors += [
                invalid(f"{path}.{field}", value, why)
                for why in content.name_is_path_segment(value, False)
            ]
    return errors


def validate_cross_version_reference(
    reference: Object, path: str, *, core_allowed: bool, known_version: bool = False
) -> list[FieldError]:
    """Kind, name, and a version that names a group. `core_allowed`: the core group has
    none; `known_version`: it was accepted before.
    """
    errors = validate_kind_and_name(reference, path)
    version = reference.get("apiVersion", "")
    if known_version:
        return errors
    if version.count("/") > 1:
        errors.append(
            invalid(
                f"{path}.apiVersion",
                version,
                f"unexpected GroupVersion string: {version}",
            )
        )
    elif not core_allowed and not version.rpartition("/")[0]:
        errors.append(
            invalid(f"{path}.apiVersion", version, "apiVersion must specify API group")
        )
    return errors


_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"


def validate_domain_prefixed_path(value: str, path: str) -> list[FieldError]:
    """`example.com/what`. Upstream: `apimachinery/pkg/util/validation/validation.go`
    (`IsDomainPrefixedPath`).
    """
    if not value:
        return [required(path)]
    host, _, rest = value.partition("/")
    if not host or not rest:
        return [
            invalid(
                path, value, 'must be a domain-prefixed path (such as "acme.io/foo")'
            )
        ]
    errors = [invalid(path, host, why) for why in content.dns1123_subdomain(host)]
    if not re.fullmatch(_HTTP_PATH, rest):
        errors.append(
            invalid(path, rest, content.regex_error("Invalid path", _HTTP_PATH))
        )
    return errors
