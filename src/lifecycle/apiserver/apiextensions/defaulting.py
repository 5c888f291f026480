"""Defaults out of a schema.

A default fills in a field that is missing, or that is `null` and may not be. It works
from the outside in, so the default of an object is itself completed by the defaults of
its fields. Defaults are applied when an object arrives and again when it is read from
the store: a default that was added to the schema later shows on old objects, too.

A list of a hundred thousand empty objects is 300 KB; with a default for each it may be
gigabytes. So no more is filled in than can be stored. (Upstream fills in all of it, and
then cannot store it.)

Upstream: `apiextensions-apiserver/pkg/apiserver/schema/defaulting/algorithm.go`
(`Default`), `prune.go` (`PruneNonNullableNullsWithoutDefaults`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.etcd.store import MAX_REQUEST_BYTES, RequestTooLargeError


class _Copies:
    """Defaults, copied. `left`: bytes of JSON, at least, that there is room for."""

    def __init__(self) -> None:
        self.left = MAX_REQUEST_BYTES

    def of(self, value: Any) -> Any:
        """A copy. Raises RequestTooLargeError."""
        self.left -= 2 + (len(value) if isinstance(value, str) else 0)
        if self.left < 0:
            raise RequestTooLargeError
        if isinstance(value, dict):
            return {key: self.of(item) for key, item in value.items()}
        return list(map(self.of, value)) if isinstance(value, list) else value


def set_schema_defaults(value: Any, schema: Object | None) -> None:
    """Fill in what is missing, in place. Raises RequestTooLargeError for more than can
    be stored; what is filled in by then stays.
    """
    _set_defaults(value, schema, _Copies())


def _set_defaults(value: Any, schema: Object | None, copies: _Copies) -> None:
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
                value[key] = copies.of(child["default"])
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
                value[key] = copies.of(known["default"])
            _set_defaults(value[key], known, copies)
    elif isinstance(value, list):
        items = schema.get("items")
        for index, item in enumerate(value):
            if (
                items is not None
                and _wrong_null(item, items)
                and items.get("default") is not None
            ):
                value[index] = copies.of(items["default"])
            _set_defaults(value[index], items, copies)


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
            if _wrong_null(value[key], known) and known.get("default") is None:
                del value[key]
            else:
                drop_wrong_nulls(value[key], known)
    elif isinstance(value, list):
        for item in value:
            drop_wrong_nulls(item, schema.get("items"))


def _wrong_null(value: Any, schema: Object) -> bool:
    return value is None and not schema.get("nullable")
