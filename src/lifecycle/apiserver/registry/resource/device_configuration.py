"""What requests, claims and classes say in a driver's own words, and in CEL.

Upstream: `pkg/apis/resource/validation/validation.go` (`validateSelector`,
`validateDeviceConfiguration` …), `dynamic-resource-allocation/cel/compile.go`
(`newCompiler`, `sizeEstimator`), v1.36.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from lifecycle.api import fast_json
from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    required,
    too_long,
)
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.resource.collections import validate_slice
from lifecycle.apiserver.registry.resource.device_names import validate_driver_name

if TYPE_CHECKING:
    from lifecycle.apiserver.cel.decl_type import DeclType
    from lifecycle.apiserver.cel.environment import Environment

SELECTORS = 32
_EXPRESSION_LENGTH = 10 * 1024
_EXPRESSION_COST = 1_000_000
_PARAMETERS_LENGTH = 10 * 1024
_ATTRIBUTES_AND_CAPACITIES = 32
_NAME, _DOMAIN, _VALUE = 32, 63, 64
"""Characters at most: of an attribute's name, of its domain, of its value."""


@cache
def _environment() -> Environment:
    from lifecycle.apiserver.cel.environment import Environment, message_type

    return Environment({"device": message_type("DRADevice")}, bindings=True)


@cache
def _device_type() -> DeclType:
    """How large a device may be."""
    from lifecycle.apiserver.cel.decl_type import DeclType

    def by_name(value: DeclType, **more: Any) -> DeclType:
        limit, name = _ATTRIBUTES_AND_CAPACITIES, DeclType("string", _NAME)
        inner = DeclType("map", limit, elem_type=value, key_type=name, **more)
        domain = DeclType("string", _DOMAIN)
        return DeclType("map", limit, elem_type=inner, key_type=domain)

    attribute = DeclType("dyn", _VALUE)
    fields = {
        "driver": DeclType("string", _DOMAIN),
        "allowMultipleAllocations": DeclType("bool", 1),
        "attributes": by_name(attribute, any_field=attribute),
        "capacity": by_name(DeclType("quantity")),
    }
    return DeclType("object", fields=fields)


def validate_selectors(selectors: list[Object] | None, path: str) -> list[FieldError]:
    """Each a CEL expression about a device."""

    def validate(selector: Object, path: str) -> list[FieldError]:
        if selector.get("cel") is None:
            return [required(f"{path}.cel")]
        expression = selector["cel"].get("expression", "")
        return _validate_expression(expression, f"{path}.cel.expression")

    return validate_slice(selectors, SELECTORS, validate, path)


def _validate_expression(expression: str, path: str) -> list[FieldError]:
    from lifecycle.apiserver.cel.cost_estimator import estimated_cost
    from lifecycle.apiserver.cel.environment import CompileError

    if len(expression.encode()) > _EXPRESSION_LENGTH:
        return [too_long(path, _EXPRESSION_LENGTH)]
    try:
        program = _environment().compile(expression)
    except CompileError as error:
        return [invalid(path, expression, str(error))]
    if program.type_name not in ("bool", "dyn"):
        why = f"must evaluate to bool or the unknown type, not {program.type_name}"
        return [invalid(path, expression, why)]
    cost = estimated_cost(program.checked, _device_type(), "device").max
    if cost > _EXPRESSION_COST:
        return [forbidden(path, "too complex, exceeds cost limit")]
    return []


def validate_configuration(
    config: Object, path: str, *, stored: bool = False
) -> list[FieldError]:
    """Opaque to everybody but the driver that it names."""
    opaque = config.get("opaque")
    if opaque is None:
        return [required(f"{path}.opaque")]
    here = f"{path}.opaque"
    errors = validate_driver_name(opaque.get("driver", ""), f"{here}.driver")
    return errors + validate_raw_extension(
        opaque.get("parameters"), f"{here}.parameters", _PARAMETERS_LENGTH, stored
    )


def validate_raw_extension(
    value: Any, path: str, limit: int, stored: bool = False
) -> list[FieldError]:
    """An object, not too long."""
    if value is None:
        return [required(path)]
    if not stored and len(fast_json.dumps(value)) > limit:
        return [too_long(path, limit)]
    if not isinstance(value, dict):
        return [invalid(path, "<value omitted>", "must be a valid JSON object")]
    return []
