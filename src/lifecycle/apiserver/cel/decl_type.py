"""What a schema tells rules about a value: its type, and how large it may become.

Nobody knows the objects yet when a definition is written. But a text of at most ten
characters has at most forty bytes, and a list whose items take at least eleven bytes
each has fewer than 300,000 in a request of three megabytes. So every node of a schema
gets a largest size, from the limits that the author wrote or else from those of a
request.

Upstream: `apiserver/pkg/cel/common/schemas.go` (`SchemaDeclType`),
`apiserver/pkg/cel/{types,limits}.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.cel.escaping import escaped

MAX_REQUEST_SIZE_BYTES = 3 * 1024 * 1024
JSON_DATE_SIZE = 12
MIN_DATETIME_SIZE_JSON = 21
MAX_DATETIME_SIZE_JSON = 32
MIN_DURATION_SIZE_JSON = 3
MAX_DURATION_SIZE_JSON = 32
MIN_STRING_SIZE = 2
MIN_BOOL_SIZE = 4
MIN_NUMBER_SIZE = 1


@dataclass(frozen=True, slots=True)
class DeclType:
    """`kind`: CEL's word for it, `object` for one with fields. `max_elements`: of a
    list or map, characters of a text; `min_serialized_size`: bytes, as JSON.
    `any_field`: what stands behind a field that is not among the `fields`.
    """

    kind: str
    max_elements: int = 0
    min_serialized_size: int = 2
    fields: Mapping[str, DeclType] = field(default_factory=dict)
    elem_type: DeclType | None = None
    key_type: DeclType | None = None
    any_field: DeclType | None = None


_LEAVES = {
    "boolean": DeclType("bool", min_serialized_size=MIN_BOOL_SIZE),
    "number": DeclType("double", min_serialized_size=MIN_NUMBER_SIZE),
    "integer": DeclType("int", min_serialized_size=MIN_NUMBER_SIZE),
}
_TIMES = {
    "duration": DeclType("duration", MAX_DURATION_SIZE_JSON, MIN_DURATION_SIZE_JSON),
    "date": DeclType("timestamp", JSON_DATE_SIZE, JSON_DATE_SIZE),
    "date-time": DeclType("timestamp", MAX_DATETIME_SIZE_JSON, MIN_DATETIME_SIZE_JSON),
}
_TEXT = {"type": "string"}
_TYPE_AND_OBJECT_META = {
    "kind": _TEXT,
    "apiVersion": _TEXT,
    "metadata": {
        "type": "object",
        "properties": {"name": _TEXT, "generateName": _TEXT},
    },
}


def schema_decl_type(schema: Object, is_resource_root: bool = False) -> DeclType | None:
    """The type of what a structural schema describes; None for what rules cannot see: a
    value of any type, and lists and maps of such.
    """
    if schema.get("x-kubernetes-int-or-string"):
        return DeclType("dyn", _characters(schema, 4), 1)
    kind = schema.get("type", "")
    if kind == "array":
        return _list_type(schema)
    if kind == "object":
        values = schema.get("additionalProperties")
        if isinstance(values, dict):
            return _map_type(schema, values)
        return _object_type(schema, is_resource_root)
    if kind == "string":
        return _TIMES.get(schema.get("format", "")) or _text_type(schema)
    return _LEAVES.get(kind)


def _is_resource(schema: Object) -> bool:
    return bool(schema.get("x-kubernetes-embedded-resource"))


def _list_type(schema: Object) -> DeclType | None:
    items = schema.get("items")
    elem = schema_decl_type(items, _is_resource(items)) if items else None
    if elem is None:
        return None
    most = (MAX_REQUEST_SIZE_BYTES - 2) // (elem.min_serialized_size + 1)
    return DeclType("list", _limit(schema, "maxItems", most), elem_type=elem)


def _map_type(schema: Object, values: Object) -> DeclType | None:
    elem = schema_decl_type(values, _is_resource(values))
    if elem is None:
        return None
    # quotes around an empty key, a colon, a comma
    most = (MAX_REQUEST_SIZE_BYTES - 2) // (elem.min_serialized_size + 6)
    limit = _limit(schema, "maxProperties", most)
    return DeclType("map", limit, elem_type=elem, key_type=DeclType("string"))


def _object_type(schema: Object, is_resource_root: bool) -> DeclType:
    properties = dict(schema.get("properties") or {})
    if is_resource_root:
        properties |= _TYPE_AND_OBJECT_META
    required = set(schema.get("required") or ())
    fields: dict[str, DeclType] = {}
    size = 2
    for name, child in properties.items():
        kind = schema_decl_type(child, _is_resource(child))
        if kind is None:
            continue
        if escaped(name).isidentifier():
            fields[escaped(name)] = kind
        if name in required and child.get("default") is None:
            size += len(name.encode()) + kind.min_serialized_size + 4
    return DeclType("object", min_serialized_size=size, fields=fields)


def _text_type(schema: Object) -> DeclType:
    if schema.get("format") == "byte":
        return DeclType("bytes", _characters(schema, 1), MIN_STRING_SIZE)
    most = _characters(schema, 4)
    if schema.get("maxLength") is None and schema.get("enum"):
        words = [each for each in schema["enum"] if isinstance(each, str)]
        most = max((len(each.encode()) for each in words), default=0)
    return DeclType("string", most, MIN_STRING_SIZE)


def _characters(schema: Object, bytes_each: int) -> int:
    """A limit is in characters, which have up to four bytes."""
    if schema.get("maxLength") is None:
        return MAX_REQUEST_SIZE_BYTES - 2  # quotes
    return _limit(schema, "maxLength", 0) * bytes_each


def _limit(schema: Object, key: str, otherwise: int) -> int:
    limit: Any = schema.get(key)
    return otherwise if limit is None else max(0, int(limit))
