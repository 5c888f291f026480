"""Does a value fit its schema? In the words of the validator that the API server uses.

All errors are found at once. On an update, a part that was wrong before and has not
changed is let through ("ratcheting"), so a schema can become stricter without locking
everybody out of the objects that are there.

Upstream: `kube-openapi/pkg/validation/validate/*.go`,
`apiextensions-apiserver/pkg/apiserver/validation/validation.go`
(`ValidateCustomResource`, `kubeOpenAPIResultToFieldErrors`), `ratcheting.go`, v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.field_errors import (
    TOO_LONG,
    TYPE_INVALID,
    FieldError,
    invalid,
    not_supported,
    required,
    too_many,
)
from lifecycle.api.go.format import go_quote
from lifecycle.api.go.json.encode import marshal
from lifecycle.api.go.regexp import compile_regexp
from lifecycle.api.go.same_value import same_value
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.apiextensions.formats import checked_format, is_of_format

ABSENT: Any = object()
"""There is no old value to compare with."""

NO_PATH = "<nil>"
_NO_FLOAT32 = 2.0**128 - 2.0**103
"""The smallest number that is rounded to one which 32 bits cannot hold."""


def validate_value(
    value: Any, schema: Object, path: str = "", old: Any = ABSENT
) -> list[FieldError]:
    """Everything wrong with a value. `path` is where it stands, empty for the root;
    `old` is the stored value of an update.
    """
    if old is not ABSENT and type(value) is type(old) and value == old:
        return []
    if value is None:
        return _type_errors(None, schema, path) or _enum(None, schema, path)
    errors = _type_errors(value, schema, path)
    errors += _junctors(value, schema, path)
    if isinstance(value, str):
        errors += _string(value, schema, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        errors += _number(value, schema, path)
    elif isinstance(value, list):
        errors += _list(value, schema, path, old)
    errors += _enum(value, schema, path)
    if isinstance(value, dict):
        errors += _object(value, schema, path, old)
    return errors


def json_type(value: Any) -> str:
    """What a value is in the words of JSON schema."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if _is_int64(value) and isinstance(value, int) else "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _is_int64(value: int | float, bits: int = 64) -> bool:
    return -(1 << bits - 1) <= value < 1 << bits - 1


def _is_json_integer(value: float) -> bool:
    """A whole number that a float tells from its neighbours. Upstream:
    `IsFloat64AJSONInteger` in `go-openapi/swag`.
    """
    return abs(value) < 1 << 53 and float(value).is_integer()


def _types(schema: Object) -> list[str]:
    if schema.get("x-kubernetes-int-or-string"):
        return ["integer", "string"]
    return [schema["type"]] if schema.get("type") else []


def _type_errors(value: Any, schema: Object, path: str) -> list[FieldError]:
    types, actual_type = _types(schema), json_type(value)
    if not types or actual_type in types or (value is None and schema.get("nullable")):
        return []
    if actual_type == "integer" and "number" in types:
        return []
    if actual_type == "number" and "integer" in types and _is_json_integer(value):
        return []
    wanted = ",".join(types)
    form = checked_format(schema)
    if form and isinstance(value, str | list):
        if not {"number", "integer"}.intersection(types):
            return []  # a list may stand where a text of a format should
    elif form:
        wanted = form
        actual_type = {"number": "float64", "integer": "int64"}.get(actual_type, "")
    message = f"{path} in body must be of type {wanted}: {go_quote(actual_type)}"
    return [FieldError(TYPE_INVALID, path or NO_PATH, actual_type, message)]


def _junctors(value: Any, schema: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    any_of = schema.get("anyOf") or []
    if any_of:
        results = [validate_value(value, each, path) for each in any_of]
        if all(results):
            errors.append(
                _composite(f'"{path}" must validate at least one schema (anyOf)')
            )
            errors += _best(results)
    one_of = schema.get("oneOf") or []
    if one_of:
        results = [validate_value(value, each, path) for each in one_of]
        good = sum(not result for result in results)
        if good != 1:
            more = (
                "Found none valid" if not good else f"Found {good} valid alternatives"
            )
            errors.append(
                _composite(
                    f'"{path}" must validate one and only one schema (oneOf). {more}'
                )
            )
            if not good:
                errors += _best(results)
    all_of = schema.get("allOf") or []
    if all_of:
        results = [validate_value(value, each, path) for each in all_of]
        good = sum(not result for result in results)
        errors += [error for result in results for error in result]
        if good != len(all_of):
            errors.append(
                _composite(
                    f'"{path}" must validate all the schemas '
                    f"(allOf){'' if good else '. None validated'}"
                )
            )
    if schema.get("not") is not None and not validate_value(value, schema["not"], path):
        errors.append(_composite(f'"{path}" must not validate the schema (not)'))
    return errors


def _best(results: list[list[FieldError]]) -> list[FieldError]:
    return min(results, key=lambda errors: (len(errors),))


def _composite(message: str) -> FieldError:
    return invalid(NO_PATH, "", message)


def _pattern_error(pattern: str, value: str) -> str:
    """What a value should match, if it does not. Upstream: `validate.Pattern`."""
    try:
        return "" if compile_regexp(pattern).search(value) else pattern
    except ValueError as wrong:  # it was stored before it was looked at
        return f"{pattern}, but pattern is invalid: {wrong}"


def _string(value: str, schema: Object, path: str) -> list[FieldError]:
    errors = []
    longest, shortest, pattern = (
        schema.get("maxLength"),
        schema.get("minLength"),
        schema.get("pattern"),
    )
    if longest is not None and len(value) > longest:
        detail = f"may not be more than {longest} byte{'' if longest == 1 else 's'}"
        errors.append(FieldError(TOO_LONG, path or NO_PATH, "", detail))
    elif shortest is not None and len(value) < shortest:
        errors.append(
            invalid(
                path, value, f"{path} in body should be at least {shortest} chars long"
            )
        )
    elif pattern and (unmatched := _pattern_error(pattern, value)):
        errors.append(
            invalid(path, value, f"{path} in body should match '{unmatched}'")
        )
    form = checked_format(schema)
    if form and not is_of_format(value, form):
        detail = f"{path} in body must be of type {form}: {go_quote(value)}"
        errors.append(FieldError(TYPE_INVALID, path or NO_PATH, value, detail))
    return errors


def _range_errors(value: int | float, schema: Object, path: str) -> list[FieldError]:
    """An integer is one that 64 bits (its format: 32) can hold, a float one that 32
    can. Upstream: `IsValueValidAgainstRange` in `kube-openapi/pkg/validation/validate`.
    """
    form, type_ = checked_format(schema), schema.get("type")
    if type_ == "integer":
        whole = isinstance(value, int) or value.is_integer()
        fits = whole and _is_int64(value, 32 if form == "int32" else 64)
    else:
        fits = form != "float" or abs(value) < _NO_FLOAT32
    if fits:
        return []
    which = f"with format {form}" if form else "(default format)"
    text = f"Checked value must be of type {type_} {which} in {path}"
    return [_composite(text)]


def _number(value: int | float, schema: Object, path: str) -> list[FieldError]:
    errors = _range_errors(value, schema, path)
    factor, highest, lowest = (
        schema.get("multipleOf"),
        schema.get("maximum"),
        schema.get("minimum"),
    )
    if isinstance(value, int):  # upstream cuts off the factor's fraction
        factor = factor and int(factor)
        if factor is not None and factor <= 0:
            why = f"factor MultipleOf declared for {path} must be positive: {factor}"
            errors.append(invalid(path, factor, why))
    if factor and not float(value / factor).is_integer():
        errors.append(
            invalid(
                path, value, f"{path} in body should be a multiple of {_plain(factor)}"
            )
        )
    if highest is not None:
        strict = schema.get("exclusiveMaximum")
        if value > highest or (strict and value == highest):
            words = "less than" if strict else "less than or equal to"
            errors.append(
                invalid(
                    path, value, f"{path} in body should be {words} {_plain(highest)}"
                )
            )
    if lowest is not None:
        strict = schema.get("exclusiveMinimum")
        if value < lowest or (strict and value == lowest):
            words = "greater than" if strict else "greater than or equal to"
            errors.append(
                invalid(
                    path, value, f"{path} in body should be {words} {_plain(lowest)}"
                )
            )
    return errors


def _plain(number: int | float) -> str:
    return str(int(number)) if float(number).is_integer() else str(number)


def _list(value: list[Any], schema: Object, path: str, old: Any) -> list[FieldError]:
    errors = []
    items = schema.get("items")
    if items is not None:
        before = _correlated(schema, old)
        for index, item in enumerate(value):
            was = before(item)
            errors += validate_value(item, items, f"{path}[{index}]", was)
    fewest, most = schema.get("minItems"), schema.get("maxItems")
    if fewest is not None and len(value) < fewest:
        errors.append(
            invalid(
                path, len(value), f"{path} in body should have at least {fewest} items"
            )
        )
    if most is not None and len(value) > most:
        errors.append(too_many(path, len(value), most))
    if schema.get("uniqueItems") and len(
        {fast_json.dumps(item, option=fast_json.OPT_SORT_KEYS) for item in value}
    ) < len(value):
        errors.append(invalid(path, "", f"{path} in body shouldn't contain duplicates"))
    return errors


def _correlated(schema: Object, old: Any) -> Any:
    """Finds an item's former self: by its keys in a list of type map; nowhere in other
    lists.
    """
    if schema.get("x-kubernetes-list-type") != "map" or not isinstance(old, list):
        return lambda item: ABSENT
    keys = schema.get("x-kubernetes-list-map-keys") or []

    def identity(item: Any) -> bytes:
        return fast_json.dumps(
            [item.get(key) for key in keys] if isinstance(item, dict) else item
        )

    known = {identity(item): item for item in old}
    return lambda item: known.get(identity(item), ABSENT)


def _enum(value: Any, schema: Object, path: str) -> list[FieldError]:
    allowed = schema.get("enum")
    if not allowed or _is_one_of(value, allowed):
        return []
    names = [each if isinstance(each, str) else marshal(each) for each in allowed]
    return [not_supported(path or NO_PATH, value, names, plain=True)]


def _is_one_of(value: Any, allowed: list[Any]) -> bool:
    if isinstance(value, str):  # as nearly always, and equal to nothing but a text
        return value in allowed
    return any(same_value(value, each) for each in allowed)


def _object(value: Object, schema: Object, path: str, old: Any) -> list[FieldError]:
    fewest, most = schema.get("minProperties"), schema.get("maxProperties")
    if fewest is not None and len(value) < fewest:
        return [
            invalid(
                path or NO_PATH,
                len(value),
                f"{path} in body should have at least {fewest} properties",
            )
        ]
    if most is not None and len(value) > most:
        return [too_many(path or NO_PATH, len(value), most)]
    errors = []
    properties, additional = (
        schema.get("properties") or {},
        schema.get("additionalProperties"),
    )
    before = old if isinstance(old, dict) else {}
    for key, item in value.items():
        here = f"{path}.{key}" if path else key
        was = before.get(key, ABSENT)
        if key in properties:
            errors += validate_value(item, properties[key], here, was)
        elif additional is False:
            errors.append(
                invalid(
                    path or NO_PATH,
                    key,
                    f"{path}.{key} in body is a forbidden property",
                )
            )
        elif isinstance(additional, dict):
            errors += validate_value(item, additional, here, was)
    for key in schema.get("required") or ():
        if key not in value:
            errors.append(required(f"{path}.{key}" if path else key))
    return errors
