"""One value out of a few: whether a field's value is among those that are known.

Every such field is checked alike, and the known values are data of the kind. What
differs is only whether the field may be left out.

Upstream: `apimachinery/pkg/api/validate/enum.go` (`Enum`), `required.go`
(`RequiredValue`), v1.36; older validation spells it out for each field.
"""

from __future__ import annotations

from collections.abc import Collection

from lifecycle.api.field_errors import FieldError, not_supported, required


def validate_enum(
    field: str, value: str | None, known: Collection[str], *, plain: bool = False
) -> list[FieldError]:
    """A field that may be left out (None). An empty value counts as a value. What is
    known is printed in the order given. `plain`: see `not_supported`.
    """
    if value is None or value in known:
        return []
    return [not_supported(field, value, known, plain=plain)]


def validate_required_enum(
    field: str, value: str | None, known: Collection[str], *, plain: bool = False
) -> list[FieldError]:
    """A field that must be there: neither None nor empty."""
    if not value:
        return [required(field)]
    return validate_enum(field, value, known, plain=plain)
