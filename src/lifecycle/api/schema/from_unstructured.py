"""What Go makes of a map of plain values that is to become a struct.

A strategic merge patch and an apply never become text on the server: the patched map is
turned into the struct directly, by reflection. That is another reader than the JSON
decoder, and it reads otherwise: a number too large for its field is cut off, not
refused, `1.0` is as good as `1`, complaints come in the order of the struct's fields
and in words of their own, and unknown fields are told sorted.

Each type is compiled once into a function that gives the value as the JSON decoder
would have to find it.

Upstream: `apimachinery/pkg/runtime/converter.go` (`fromUnstructured`),
`structured-merge-diff/value/reflectcache.go` (`FromUnstructured`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from lifecycle.api.go.json.encode import go_float
from lifecycle.api.http.wire import Object
from lifecycle.api.schema import scalars
from lifecycle.api.schema.decode_state import DecodeState
from lifecycle.api.schema.gotypes import (
    alias_of,
    go_type_name,
    is_struct,
    json_fields,
    struct_for,
)
from lifecycle.api.schema.struct_decoder import decoder_for, decodes_itself

Restore = Callable[[Any, str, list[str]], Any]
"""(value, path, unknown fields so far) → value. Raises ValueError."""

_KINDS = {
    bool: "bool",
    int: "int64",
    float: "float64",
    str: "string",
    list: "slice",
    dict: "map",
}
_BITS = {"int32": 32, "int64": 64, "int": 64, "byte": 8}


def from_unstructured(
    obj: Object, api_version: str, kind: str
) -> tuple[Object, list[str]]:
    """The object, and what a strict reader says of it (`unknown field "spec.x"`).

    Raises ValueError in the converter's words. Objects of kinds without a struct come
    back as they are.
    """
    struct = struct_for(api_version, kind)
    if struct is None:
        return obj, []
    unknown: list[str] = []
    restored: Object = _restorer(struct)(obj, "", unknown)
    return restored, sorted(f'unknown field "{path}"' for path in unknown)


@cache
def _restorer(type_: str) -> Restore:
    if type_.startswith("*"):
        return _restorer(type_[1:])
    if decodes_itself(type_):
        return _own_reader(type_)
    if type_.startswith("map["):
        return _map(type_[type_.index("]") + 1 :])
    if type_ == "[]byte":
        return _bytes
    if type_.startswith("[]"):
        return _list(type_[2:])
    alias = alias_of(type_)
    if alias is not None:
        named = alias in _BITS or alias in ("string", "bool", "float64")
        return _scalar(alias, type_) if named else _restorer(alias)
    if is_struct(type_):
        return _struct(type_)
    if type_.startswith("interface"):
        return lambda value, path, unknown: value
    return _scalar("string" if type_ == "types.UID" else type_, type_)


def _own_reader(type_: str) -> Restore:
    """A type with an `UnmarshalJSON` gets its value as JSON, without a place."""
    decode = decoder_for(type_)

    def restore(value: Any, path: str, unknown: list[str]) -> Any:
        state = DecodeState()
        if type_ == "resource.Quantity" and _kind(value) == "float64":
            value = go_float(float(value))  # it reads text
        decode(value, (), state)
        if state.saved:
            raise ValueError(state.saved)
        return _sorted(value) if type_ == "runtime.RawExtension" else value

    return restore


def _sorted(value: Any) -> Any:
    """As Go writes a map."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _struct(name: str) -> Restore:
    fields: dict[str, Restore] = {}

    def restore(value: Any, path: str, unknown: list[str]) -> Any:
        if type(value) is not dict:
            raise ValueError(f"cannot restore struct from: {_kind(value)}")
        if not fields:
            for field in json_fields(name):
                fields[field.json_name] = _restorer(field.type)
        prefix = f"{path}." if path else ""
        try:
            restored = {
                key: read(item, prefix + key, unknown)
                for key, item in value.items()
                if item is not None and (read := fields.get(key)) is not None
            }
        except ValueError:  # the struct's first field that cannot be read is told
            for key, read_field in fields.items():
                if (item := value.get(key)) is not None:
                    read_field(item, prefix + key, unknown)
            raise
        if len(restored) < len(value):
            unknown += (prefix + key for key in value if key not in fields)
        return restored

    return restore


def _map(value_type: str) -> Restore:
    def restore(value: Any, path: str, unknown: list[str]) -> Any:
        if type(value) is not dict:
            raise ValueError(f"cannot restore map from {_kind(value)}")
        part = _restorer(value_type)
        return {
            key: None if item is None else part(item, path, unknown)
            for key, item in value.items()
        }

    return restore


def _list(item_type: str) -> Restore:
    def restore(value: Any, path: str, unknown: list[str]) -> Any:
        if type(value) is not list:
            raise ValueError(f"cannot restore slice from {_kind(value)}")
        part = _restorer(item_type)
        return [
            None if item is None else part(item, f"{path}[{index}]", unknown)
            for index, item in enumerate(value)
        ]

    return restore


def _bytes(value: Any, path: str, unknown: list[str]) -> Any:
    if type(value) is not str:
        return _list("byte")(value, path, unknown)
    try:
        return scalars.base64_bytes(value)
    except ValueError as error:
        raise ValueError(f"error decoding from json: {error}") from None


def _scalar(base: str, type_: str) -> Restore:
    """`base`: what a named type stands for."""

    def restore(value: Any, path: str, unknown: list[str]) -> Any:
        source = _kind(value)
        if source == base:
            return value
        if base in _BITS:
            if source == "int64":
                return _cut(value, _BITS[base])
            if source == "float64":
                if value == value // 1:
                    return _cut(_to_int64(value), _BITS[base])
                raise ValueError(f"cannot convert float64 to {go_type_name(type_)}")
        if (source, base) == ("int64", "float64"):
            return float(value)
        if (source, base) == ("int64", "string"):  # Go could: it would be a letter
            raise ValueError(f"cannot convert int64 to {go_type_name(type_)}")
        raise ValueError(f"unrecognized type: {'uint8' if base == 'byte' else base}")

    return restore


def _kind(value: Any) -> str:
    """The kind of Go value that a decoded JSON value is."""
    if type(value) is int and not -(1 << 63) <= value < 1 << 63:
        return "float64"
    return _KINDS.get(type(value), "invalid")


def _to_int64(value: float) -> int:
    """As amd64 converts: what does not fit becomes the smallest number."""
    number = int(value)
    return number if -(1 << 63) <= number < 1 << 63 else -(1 << 63)


def _cut(value: int, bits: int) -> int:
    """The lowest bits of a number, read as one with a sign (bytes have none)."""
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if bits > 8 and low >> (bits - 1) else low
