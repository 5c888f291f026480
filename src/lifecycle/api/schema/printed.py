"""The order in which Go prints an object.

A struct is printed in the order of its fields, a map in the order of its keys. Nobody
who reads JSON should care; but a patch that leaves what cannot be read is answered with
the patched text, and there the order shows.

Upstream: Go's `encoding/json` (`structEncoder`, `mapEncoder`).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.schema.gotypes import alias_of, is_struct, json_fields, struct_for
from lifecycle.api.schema.struct_decoder import decodes_itself

_STRUCT, _MAP, _LIST, _LEAF = range(4)

_Shape = tuple[int, dict[str, tuple[int, str]], str]
"""(what it is, a struct's fields with their place and type, the type of items)."""


def as_printed(obj: Object, api_version: str, kind: str) -> Object:
    """The object with all keys in the order in which Go prints them. Kinds without a
    struct are maps all the way down.
    """
    struct = struct_for(api_version, kind)
    ordered: Object = _by_key(obj) if struct is None else _in_order(obj, struct)
    return ordered


def _by_key(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _by_key(value[key]) for key in sorted(value)}
    return list(map(_by_key, value)) if isinstance(value, list) else value


@cache
def _shape(type_: str) -> _Shape:
    type_ = type_.lstrip("*")
    if decodes_itself(type_):
        return _LEAF, {}, ""
    if type_.startswith("map["):
        return _MAP, {}, type_[type_.index("]") + 1 :]
    if type_.startswith("[]"):
        return _LIST, {}, type_[2:]
    alias = alias_of(type_)
    if alias is not None:
        return _shape(alias)
    if is_struct(type_):
        fields = enumerate(json_fields(type_))
        return _STRUCT, {f.json_name: (index, f.type) for index, f in fields}, ""
    return _LEAF, {}, ""


def _in_order(value: Any, type_: str) -> Any:
    what, fields, items = _shape(type_)
    if what == _STRUCT and isinstance(value, dict):
        known = [key for key in value if key in fields]
        known.sort(key=lambda key: fields[key][0])
        return {key: _in_order(value[key], fields[key][1]) for key in known}
    if what == _MAP and isinstance(value, dict):
        return {key: _in_order(value[key], items) for key in sorted(value)}
    if what == _LIST and isinstance(value, list):
        return [_in_order(item, items) for item in value]
    return value
