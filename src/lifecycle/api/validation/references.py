"""References that name an object by kind and name.

Upstream: `pkg/apis/autoscaling/validation/validation.go` (`ValidateCrossVersionObjectReference`),
`pkg/apis/networking/validation/validation.go` (`validateIngressTypedLocalObjectReference`), which say the same of these fields, v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, required
from lifecycle.api.validation import content
from lifecycle.api.wire import Object


def validate_kind_and_name(reference: Object, path: str, *, explain: bool = False) -> list[FieldError]:
    """Both are there, and could be a segment of a path. `explain` adds the words that the networking rules have for what is missing."""
    errors: list[FieldError] = []
    for field in ("kind", "name"):
        value = reference.get(field, "")
        if not value:
            errors.append(required(f"{path}.{field}", f"{field} is required" if explain else ""))
        else:
            errors += [invalid(f"{path}.{field}", value, why) for why in content.name_is_path_segment(value, False)]
    return errors
