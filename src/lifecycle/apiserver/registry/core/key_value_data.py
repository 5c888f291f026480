"""What ConfigMaps and Secrets have in common: at most a megabyte of values, and
`immutable`, which freezes them.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidateConfigMapUpdate`,
`ValidateSecretUpdate`, `core.MaxSecretSize`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, forbidden
from lifecycle.api.http.wire import Object

MAX_SIZE = 1024 * 1024

_FIELD_IS_IMMUTABLE = "field is immutable when `immutable` is set"


def decoded_size(text: str | None) -> int:
    """The bytes of a value in base64, without decoding it."""
    if not text:  # a null in JSON is no bytes
        return 0
    return len(text) * 3 // 4 - text.count("=", -2)


def validate_immutable(
    new: Object, old: Object, bags: tuple[str, ...]
) -> list[FieldError]:
    """What is `immutable` stays so, and so do its `bags`."""
    if not old.get("immutable"):
        return []
    errors = (
        [] if new.get("immutable") else [forbidden("immutable", _FIELD_IS_IMMUTABLE)]
    )
    return errors + [
        forbidden(bag, _FIELD_IS_IMMUTABLE)
        for bag in bags
        if (new.get(bag) or {}) != (old.get(bag) or {})
    ]
