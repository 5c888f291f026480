"""Defaults out of a schema.

A default fills in a field that is missing, or that is `null` and may not be. It works
from the outside in, so the default of an object is itself completed by the defaults of
its fields. Defaults are applied when an object arrives and again when it is read from
the store: a default that was added to the schema later shows on old objects, too.

Upstream: `apiextensions-apiserver/pkg/apiserver/schema/defaulting/algorithm.go`
(`Default`), `prune.go` (`PruneNonNullableNullsWithoutDefaults`), v1.36.
"""

from __future__ import annotations

import copy
from typing import Any

from lifecycle.api.wire import Object


def set_schema_defaults(value: Any, schema: Object | None) -> None:
    """Fill in what is missing, in place."""
    if schema is None:
        return
    if isinstance(value, dict):
        properties, additional = (
            schema.get("properties") or {},
            schema.get("additionalProperties"),
        )
        for key, child in properties.items():
            if child.get("default") is not None and (
                key not in value or _wrong_null(value[key], child)
            ):
                value[key] = copy.deepcopy(child["default"])
        for key in value:
            known = properties.get(key) or (
                additional if isinstance(additional, dict) else None
            )
            if known is None:
                continue
            if (
                key not in properties
                and _wrong_null(value[key], known)
                and known.get("default") is not None
            ):
                value[key] = copy.deepcopy(known["default"])
            set_schema_defaults(value[key], known)
    elif isinstance(value, list):
        items = schema.get("items")
        for index, item in enumerate(value):
            if (
                items is not None
                and _wrong_null(item, items)
                and items.get("default") is not None
            ):
                value[index] = copy.deepcopy(items["default"])
            set_schema_defaults(value[index], items)


def drop_wrong_nulls(value: Any, schema: Object | None) -> None:
    """Take away every `null` where the schema allows none and has no default, in
    place.
    """
    if schema is None:
        return
    if isinstance(value, dict):
        properties, additional = (
            schema.get("properties") or {},
            schema.get("additionalProperties"),
        )
        for key in list(value):
            known = properties.get(key) or (
                additional if isinstance(additional, dict) else None
            )
            if known is None:
                continue
            if (
                key in properties
                and _wrong_null(value[key], known)
                and known.get("default") is None
            ):
                del value[key]
            else:
                drop_wrong_nulls(value[key], known)
    elif isinstance(value, list):
        for item in value:
            drop_wrong_nulls(item, schema.get("items"))


def _wrong_null(value: Any, schema: Object) -> bool:
    return value is None and not schema.get("nullable")
