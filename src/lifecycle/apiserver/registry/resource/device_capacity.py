"""How much of a device there is, and in which portions it is given away.

Upstream: `pkg/apis/resource/validation/validation.go` (`validateRequestPolicy` …),
v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, forbidden, invalid, required
from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import Quantity, canonical_quantity, parse_quantity
from lifecycle.api.status import PanicError
from lifecycle.apiserver.registry.resource.collections import validate_set

_VALUES = 10


def validate_shared_capacity(capacity: Object, path: str) -> list[FieldError]:
    """Of a device that several claims may have."""
    policy, here = capacity.get("requestPolicy"), f"{path}.requestPolicy"
    if policy is None:
        return []
    values, range_ = policy.get("validValues"), policy.get("validRange")
    if values and range_ is not None:
        why = (
            'exactly one policy can be specified, cannot specify "validValues" and'
            ' "validRange" at the same time'
        )
        return [forbidden(here, why)]
    default, most = policy.get("default"), capacity.get("value", "0")
    if values:
        if default is None:
            why = "required when validValues is defined"
            return [required(f"{here}.default", why)]
        return _validate_values(default, most, values, f"{here}.validValues")
    if range_ is None:
        return []
    if default is None:
        return [required(f"{here}.default", "required when validRange is defined")]
    return _validate_range(default, most, range_, f"{here}.validRange")


def validate_exclusive_capacity(capacity: Object, path: str) -> list[FieldError]:
    """Of a device that one claim has alone."""
    if capacity.get("requestPolicy") is None:
        return []
    why = "allowMultipleAllocations must be true"
    return [forbidden(f"{path}.requestPolicy", why)]


def _validate_values(
    default: str, most: str, values: list[str], path: str
) -> list[FieldError]:
    amounts = [parse_quantity(value) for value in values]
    errors = [
        invalid(
            f"{path}[{index + 1}]",
            canonical_quantity(values[index + 1]),
            "values must be sorted in ascending order",
        )
        for index in range(len(values) - 1)
        if amounts[index] > amounts[index + 1]
    ]
    limit = parse_quantity(most)
    why = f"option is larger than capacity value: {canonical_quantity(most)}"

    def validate(value: str, here: str) -> list[FieldError]:
        if parse_quantity(value) > limit:
            return [invalid(here, canonical_quantity(value), why)]
        return []

    def whole(value: str) -> str:
        return str(parse_quantity(value).value())

    errors += validate_set(values, _VALUES, validate, whole, path)
    if len(values) > _VALUES or parse_quantity(default) not in amounts:
        why = "default value is not valid according to the requestPolicy"
        errors.append(invalid(path, canonical_quantity(default), why))
    return errors


def _validate_range(
    default: str, most: str, range_: Object, path: str
) -> list[FieldError]:
    if range_.get("min") is None:
        return [required(f"{path}.min", "required when validRange is defined")]
    low, limit, usual = (
        parse_quantity(range_["min"]),
        parse_quantity(most),
        parse_quantity(default),
    )
    errors: list[FieldError] = []

    def refuse(key: str, value: Quantity, why: str, other: Quantity) -> None:
        errors.append(invalid(f"{path}.{key}", str(value), f"{why}: {other}"))

    if low > limit:
        refuse("min", low, "min is larger than capacity value", limit)
    if usual < low:
        refuse("min", usual, "default is less than min", low)
    high = None if range_.get("max") is None else parse_quantity(range_["max"])
    if high is not None:
        if low > high:
            refuse("max", low, "min is larger than max", high)
        if high > limit:
            refuse("max", high, "max is larger than capacity value", limit)
        if usual > high:
            refuse("max", usual, "default is more than max", high)
    if range_.get("step") is None:
        return errors
    step = parse_quantity(range_["step"])
    added = low + step
    if added > limit:
        why = f"one step {added} is larger than capacity value"
        refuse("step", step, why, limit)
    for value in (usual, high):
        if value is None:
            continue
        if not step.value():
            raise PanicError("runtime error: integer divide by zero")
        if (value.value() - low.value()) % step.value():
            why = f"value is not a multiple of a given step ({step}) from ({low})"
            errors.append(invalid(f"{path}.step", str(value), why))
    return errors
