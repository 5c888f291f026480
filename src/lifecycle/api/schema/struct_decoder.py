"""Decoders of Go structs, compiled from their fields.

Each struct of `types.tsv` is compiled once into a plan: a dict from JSON name to a
decoder. Decoding then is one walk over what is there. Keys come out in the order of the
struct (of a map: sorted), empty fields marked `omitempty` vanish, and what Go always
prints appears.

Upstream: `sigs.k8s.io/json/internal/golang/encoding/json/decode.go`
(`decodeState.object`), `encode.go` (`typeFields`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from lifecycle.api.go.key_order import in_key_order
from lifecycle.api.http.wire import Object
from lifecycle.api.schema import scalars
from lifecycle.api.schema.decode_state import DecodeState, Key, Path
from lifecycle.api.schema.empties import Unprinted
from lifecycle.api.schema.gotypes import (
    GoField,
    alias_of,
    is_struct,
    json_fields,
)
from lifecycle.api.schema.scalar_decoders import (
    Decoder,
    decode_bytes,
    decode_int_or_string,
    scalar_decoder,
    self_decoder,
)


def _is_value_struct(type_: str) -> bool:
    """A struct held by value: Go prints it even when it is empty (unless
    `omitzero`).
    """
    return type_ in _SELF_DECODING or (is_struct(type_) and type_ not in _OPEN)


_SELF_DECODING: dict[str, Callable[[Any], Any]] = {
    "resource.Quantity": scalars.quantity,
    "meta/v1.Time": scalars.time,
    "meta/v1.MicroTime": scalars.micro_time,
    "meta/v1.Duration": scalars.duration,
}
_SELF_ZERO: dict[str, Any] = {"resource.Quantity": "0", "meta/v1.Duration": "0s"}
_OPEN = {
    "meta/v1.FieldsV1",
    "runtime.RawExtension",
    "apiextensions/v1.JSON",
    "apiextensions/v1.JSONSchemaPropsOrArray",
    "apiextensions/v1.JSONSchemaPropsOrBool",
    "apiextensions/v1.JSONSchemaPropsOrStringArray",
}


@cache
def struct_decoder(name: str) -> Decoder:
    """The compiled decoder of a struct. Compiled lazily: a struct may hold itself
    (JSONSchemaProps).
    """
    short = name.rpartition(".")[2]
    fields: dict[str, tuple[int, Key, Decoder | None, bool, GoField]] = {}
    always: list[tuple[str, GoField]] = []
    for index, field in enumerate(json_fields(name)):
        by_value = _is_value_struct(field.type) or field.type == "intstr.IntOrString"
        omit = field.omit_empty and not by_value and not field.type.startswith("*")
        omit = omit and field.type != "runtime.RawExtension"  # an empty object is one
        fields[field.json_name] = (
            index,
            Key(field.json_name, short, field.embedded),
            None,
            omit or field.omit_zero,
            field,
        )
        if not (field.omit_empty and not by_value) and not field.omit_zero:
            always.append((field.json_name, field))
    zeros: list[tuple[int, str, Callable[[], Any]]] = []
    printed = not name.startswith("meta/v1.") or name == "meta/v1.ObjectMeta"

    def prepare() -> None:
        for json_name, (index, key, _, omit, field) in fields.items():
            fields[json_name] = (index, key, _decoder(field.type), omit, field)
        zeros.extend(
            (fields[json_name][0], json_name, _zero(field.type))
            for json_name, field in always
        )

    def decode_struct(value: Any, path: Path, state: DecodeState) -> Any:
        if type(value) is not dict:
            state.save_type_error(value, path, name)
            return {}
        if not prepared:
            prepared.append(True)
            prepare()
        out: dict[str, Any] = {}
        empties: list[tuple[str, Any]] | None = None
        last = -1
        in_order = True
        for key, item in value.items():
            plan = fields.get(key)
            if plan is None:
                state.save_unknown_field(path, key)
                continue
            if item is None:
                continue
            index, path_key, decoder, omit, _ = plan
            item = decoder(item, (path, path_key), state)  # type: ignore[misc]
            if (omit and not item) or item is _NOTHING:
                if item == [] or item == {}:
                    empties = [*(empties or ()), (key, item)]
                continue
            out[key] = item
            if index < last:
                in_order = False
            last = index
        for index, key, make in zeros:
            if key not in out:
                out[key] = make()
                in_order = in_order and index > last
        if not in_order:
            out = dict(sorted(out.items(), key=lambda pair: fields[pair[0]][0]))
        if empties:
            found = [(out, key, item) for key, item in empties]
            state.empties += found if printed else map(Unprinted, found)
        return out

    prepared: list[bool] = []
    return decode_struct


def _zero(type_: str) -> Callable[[], Any]:
    """Makes the value that Go prints for a field that was not given and is not
    `omitempty`.
    """
    if type_.startswith(("*", "[]", "map[")):
        return lambda: None
    if type_ in _SELF_DECODING:
        constant = _SELF_ZERO.get(type_)
        return lambda: constant
    if type_ in _OPEN:
        return lambda: None
    alias = alias_of(type_)
    if alias is not None:
        return _zero(alias)
    if is_struct(type_):
        decoder = struct_decoder(type_)
        return lambda: decoder({}, (), DecodeState())
    constant = {"string": "", "types.UID": "", "bool": False}.get(type_, 0)
    if type_.startswith("interface"):
        constant = None
    return lambda: constant


@cache
def _decoder(type_: str) -> Decoder:
    if type_.startswith("*"):
        return _decoder(type_[1:])
    if type_.startswith("map["):
        return _map(
            type_,
            _decoder(type_[type_.index("]") + 1 :]),
            type_[type_.index("]") + 1 :],
        )
    if type_ == "[]byte":
        return decode_bytes
    if type_.startswith("[]"):
        return _list(type_, type_[2:])
    if type_ in _SELF_DECODING:
        text_only = type_ != "resource.Quantity"
        return self_decoder(_SELF_DECODING[type_], text_only=text_only)
    if type_ == "intstr.IntOrString":
        return decode_int_or_string
    if type_ in _SCHEMA_OR:
        return _SCHEMA_OR[type_]
    if type_ in _OPEN or type_.startswith("interface"):
        return lambda value, path, state: value
    alias = alias_of(type_)
    if alias is not None:
        return _named_type(type_, alias)
    if is_struct(type_):
        return struct_decoder(type_)
    return scalar_decoder(type_, type_)


def _schema(value: Any, path: Path, state: DecodeState) -> Any:
    """A schema below a type that decodes itself, which is never strict about unknown
    fields.
    """
    lenient = DecodeState()
    decoded = struct_decoder("apiextensions/v1.JSONSchemaProps")(value, path, lenient)
    state.saved = state.saved or lenient.saved
    return decoded


def _schema_or_array(value: Any, path: Path, state: DecodeState) -> Any:
    """Anything but an object or an array is taken for nothing. Upstream:
    `JSONSchemaPropsOrArray.UnmarshalJSON`.
    """
    if type(value) is list:
        return [
            _schema({} if item is None else item, path, state) for item in value
        ] or _NOTHING
    return _schema(value, path, state) if type(value) is dict else _NOTHING


def _schema_or_bool(value: Any, path: Path, state: DecodeState) -> Any:
    """Upstream: `JSONSchemaPropsOrBool.UnmarshalJSON`."""
    if type(value) not in (dict, bool):
        raise ValueError("boolean or JSON schema expected")
    return value if type(value) is bool else _schema(value, path, state)


_NOTHING = object()
"""What a decoder gives that takes a value for none."""

_SCHEMA_OR: dict[str, Decoder] = {
    "apiextensions/v1.JSONSchemaPropsOrArray": _schema_or_array,
    "apiextensions/v1.JSONSchemaPropsOrBool": _schema_or_bool,
}


def _named_type(type_: str, alias: str) -> Decoder:
    if alias in ("string", "int32", "int64", "bool"):
        return scalar_decoder(alias, type_)
    if alias.startswith("map["):
        value_type = alias[alias.index("]") + 1 :]
        return _map(type_, _decoder(value_type), value_type)
    if alias.startswith("[]") and alias != "[]byte":
        return _list(type_, alias[2:])
    return _decoder(alias)


def decodes_itself(type_: str) -> bool:
    """Whether a type has an `UnmarshalJSON` of its own."""
    return type_ in _SELF_DECODING or type_ in _OPEN or type_ == "intstr.IntOrString"


def decoder_for(type_: str) -> Decoder:
    """The compiled decoder of any type."""
    return _decoder(type_)


def _list(type_: str, item_type: str) -> Decoder:
    pending: list[tuple[Decoder, Callable[[], Any]]] = []

    def decode_list(value: Any, path: Path, state: DecodeState) -> Any:
        if type(value) is not list:
            state.save_type_error(value, path, type_)
            return []
        if not pending:
            pending.append((_decoder(item_type), _zero(item_type)))
        decoder, zero = pending[0]
        return [
            decoder(item, (path, index), state) if item is not None else zero()
            for index, item in enumerate(value)
        ]

    return decode_list


def _map(type_: str, decoder: Decoder, value_type: str) -> Decoder:
    # bytes that are null come back from the store as no bytes
    zero = (lambda: "") if value_type == "[]byte" else _zero(value_type)

    def decode_map(value: Any, path: Path, state: DecodeState) -> Any:
        if type(value) is not dict:
            state.save_type_error(value, path, type_)
            return {}
        out = {
            key: decoder(item, (path, key), state) if item is not None else zero()
            for key, item in value.items()
        }
        return in_key_order(out) if len(out) > 1 else out

    return decode_map


def zero_value(struct: str) -> Object:
    """A struct as Go prints it when nothing is set:
    `zero_value("apps/v1.ReplicaSetStatus")` → `{"replicas": 0}`.
    """
    return _zero(struct)()


def normal_form(struct: str, value: Object) -> Object:
    """A value of a struct such as `autoscaling/v1.MetricSpec`, as decoding and encoding
    it would give. Raises ValueError.
    """
    state = DecodeState()
    decoded: Object = struct_decoder(struct)(value, (), state)
    if state.saved:
        raise ValueError(state.saved)
    return decoded
