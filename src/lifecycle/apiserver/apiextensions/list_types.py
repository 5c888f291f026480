"""`x-kubernetes-list-type`: a set has no value twice, a map no key twice.

Upstream: `apiextensions-apiserver/pkg/apiserver/schema/listtype/validation.go`
(`ValidateListSetsAndMaps`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.field_errors import FieldError, duplicate, invalid
from lifecycle.api.http.wire import Object


def validate_list_types(
    value: Any, schema: Object | None, path: str = ""
) -> list[FieldError]:
    """Everything that is there twice and should not be."""
    if schema is None:
        return []
    errors: list[FieldError] = []
    if isinstance(value, list):
        items = schema.get("items") or {}
        kind = schema.get("x-kubernetes-list-type")
        if kind == "set":
            errors += _doubles(
                value, [_canonical_json(item) for item in value], value, path
            )
        elif kind == "map":
            errors += _map(value, schema, path)
        for index, item in enumerate(value):
            errors += validate_list_types(item, items, f"{path}[{index}]")
    elif isinstance(value, dict):
        properties, additional = (
            schema.get("properties") or {},
            schema.get("additionalProperties"),
        )
        for key, item in value.items():
            known = properties.get(key)
            here = f"{path}.{key}" if path else key
            if known is None and isinstance(additional, dict):
                known, here = additional, f"{path}[{key}]"
            errors += validate_list_types(item, known, here)
    return errors


def _map(value: list[Any], schema: Object, path: str) -> list[FieldError]:
    keys = schema.get("x-kubernetes-list-map-keys") or []
    for index, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            return [
                invalid(
                    f"{path}[{index}]",
                    item,
                    "must be an object for an array of list-type map",
                )
            ]
    value = [item for item in value if item is not None]
    key_values = [{key: item[key] for key in keys if key in item} for item in value]
    return _doubles(
        value, [_canonical_json(each) for each in key_values], key_values, path
    )


def _doubles(
    value: list[Any], identities: list[bytes], bad_values: list[Any], path: str
) -> list[FieldError]:
    """Each identity is complained of once, at its second place."""
    count: dict[bytes, int] = {}
    errors = []
    for index, identity in enumerate(identities):
        count[identity] = count.get(identity, 0) + 1
        if count[identity] == 2:
            errors.append(duplicate(f"{path}[{index}]", bad_values[index]))
    return errors


def _canonical_json(value: Any) -> bytes:
    return fast_json.dumps(value, option=fast_json.OPT_SORT_KEYS)
