"""References from ingresses and their classes to objects of the same cluster.

Upstream: `pkg/apis/networking/validation/validation.go`
(`validateIngressTypedLocalObjectReference`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.rest.references import validate_kind_and_name


def validate_reference(reference: Object, path: str) -> list[FieldError]:
    """An API group, a kind and a name."""
    errors: list[FieldError] = []
    group = reference.get("apiGroup")
    if group is not None:
        errors += [
            invalid(f"{path}.apiGroup", group, why)
            for why in content.dns1123_subdomain(group)
        ]
    return errors + validate_kind_and_name(reference, path)
