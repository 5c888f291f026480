"""Rules for numbers, and for what may be a number or a percentage.

Upstream: `apimachinery/pkg/api/validation/generic.go` (`ValidateNonnegativeField`),
`pkg/apis/apps/validation/validation.go` (`ValidatePositiveIntOrPercent`,
`IsNotMoreThan100Percent`, `getIntOrPercentValue`), v1.36.
"""

from __future__ import annotations

import re
from typing import Any

from lifecycle.api.field_errors import FieldError, Named, invalid
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content

MAX_INT32 = 2147483647
INTEGER = re.compile(r"[+-]?[0-9]+")
NOT_NEGATIVE = "must be greater than or equal to 0"


def not_negative(holder: Object, *fields: str, path: str) -> list[FieldError]:
    """Numbers that must not be below zero, if given."""
    return [
        invalid(f"{path}.{field}", holder[field], NOT_NEGATIVE)
        for field in fields
        if holder.get(field) is not None and holder[field] < 0
    ]


def not_above(
    holder: Object, limit: str, *fields: str, path: str, name: str
) -> list[FieldError]:
    """Numbers that must not be above another, which the message calls `name`."""
    most = holder.get(limit) or 0
    return [
        invalid(f"{path}.{field}", value, f"cannot be greater than {name}")
        for field in fields
        if (value := holder.get(field) or 0) > most
    ]


def not_decremented(
    status: Object, before: Object, field: str = "collisionCount"
) -> list[FieldError]:
    """A count of a status that never goes down, nor away. Upstream: `IsDecremented`."""
    value, old = status.get(field), before.get(field)
    if old is None or (value is not None and value >= old):
        return []
    return [invalid(f"status.{field}", value or 0, "cannot be decremented")]


def validate_int_or_percent(value: Any, path: str) -> list[FieldError]:
    """A number from zero up, or a percentage."""
    if isinstance(value, str):
        return [invalid(path, Named(value), why) for why in content.percent(value)]
    return [invalid(path, value, NOT_NEGATIVE)] if value < 0 else []


def validate_not_over_100_percent(value: Any, path: str) -> list[FieldError]:
    """A percentage of at most 100."""
    if isinstance(value, str) and not content.percent(value) and int(value[:-1]) > 100:
        return [invalid(path, value, "must not be greater than 100%")]
    return []


def int_or_percent_value(value: Any) -> int:
    """The number, or the percentage without its sign, or the number that a text is; 0
    for what is none of these.
    """
    if isinstance(value, str):
        if not content.percent(value):
            return int(value[:-1])
        return int(value) if INTEGER.fullmatch(value) else 0
    return value or 0
