"""Message bytes → JSON object, as the JSON codec would have shown the same Go value.

Each message is compiled once into a look-up from tag to (how to store, JSON name, how
to read). Whatever Go would show in JSON without having been written (`status: {}`,
`lastProbeTime: null`, `"rules": null`) is filled in at the end.

Upstream: `Unmarshal` in every `generated.pb.go`, and `encoding/json` for what appears,
v1.36. Left out: merging a message that is written twice (the last one wins).
"""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Callable
from typing import Any

from lifecycle.api.protobuf.fields import INLINE, Field, messages
from lifecycle.api.protobuf.leaves import LEAVES, Decode
from lifecycle.api.protobuf.schema_unions import SCHEMA, UNIONS, union_decoder
from lifecycle.api.protobuf.wire_format import (
    FIXED64,
    LENGTH,
    VARINT,
    read_varint,
    signed,
    skip,
)

_double = struct.Struct("<d")

# How a value is stored. Plain integers, compared for each field of each message. Those
# below _NUMBER are length-delimited.
_ONE = 0  # a message, a string, bytes
_TEXT = 1  # a string that is left out if it is empty
_NONEMPTY = 2  # anything else that is left out if it is empty
_LIST = 3
_MAP = 4
_INLINE = 5  # its fields become the message's own
_PACKED = 6  # many numbers in one piece
_NUMBER = 7
_NUMBER_NONZERO = 8  # left out if it is 0
_NUMBER_LIST = 9  # many numbers, each with its tag
_DOUBLE = 10

Step = tuple[int, str, Callable[[Any], Any]]


_decoders: dict[str, Decode] = {}


def decoder(message: str) -> Decode:
    """The decoder of a message of the table: the message's bytes in, a dict out.

    It raises IndexError or ValueError for malformed bytes; `decode` turns both into
    ValueError.
    """
    compiled = _decoders.get(message)
    if compiled is not None:
        return compiled
    steps: dict[int, Step] = {}
    missing: list[tuple[str, Callable[[], Any]]] = []

    def decode_message(data: bytes) -> Any:
        out: dict[str, Any] = {}
        position, end = 0, len(data)
        while position < end:
            tag = data[position]
            position += 1
            if (
                tag > 0x7F
                # two bytes for numbers from 16 on; written out, since this is the
                # innermost loop
            ):
                if data[position] < 0x80:
                    tag += (data[position] << 7) - 0x80
                    position += 1
                else:
                    tag, position = read_varint(data, position - 1)
            step = steps.get(tag)
            if step is None:
                position = _unknown(message, data, position, tag)
                continue
            how, name, read = step
            if how < _NUMBER:
                size = data[position]
                position += 1
                if (
                    not size and how == _TEXT
                ):  # the commonest field of all: an empty string that Go always writes
                    continue
                if size > 0x7F:
                    if data[position] < 0x80:
                        size += (data[position] << 7) - 0x80
                        position += 1
                    else:
                        size, position = read_varint(data, position - 1)
                stop = position + size
                if stop > end:
                    raise ValueError("unexpected EOF")
                chunk = data[position:stop]
                position = stop
                if how == _TEXT:
                    out[name] = chunk.decode()
                elif how == _ONE:
                    out[name] = read(chunk)
                elif how == _LIST:
                    if name in out:
                        out[name].append(read(chunk))
                    else:
                        out[name] = [read(chunk)]
                elif how == _MAP:
                    key, value = read(chunk)
                    out.setdefault(name, {})[key] = value
                elif how == _INLINE:
                    out.update(read(chunk))
                elif how == _NONEMPTY:
                    value = read(chunk)
                    if value:
                        out[name] = value
                else:
                    out.setdefault(name, []).extend(read(chunk))
                continue
            if how == _DOUBLE:
                out[name] = read(data[position : position + 8])
                position += 8
                continue
            number = data[position]
            position += 1
            if number > 0x7F:
                number, position = read_varint(data, position - 1)
            if how == _NUMBER:
                out[name] = read(number)
            elif how == _NUMBER_LIST:
                out.setdefault(name, []).append(read(number))
            elif number:
                out[name] = read(number)
        for name, default in missing:
            if name not in out:
                value = default()
                if name is INLINE:
                    out = value | out
                else:
                    out[name] = value
        return out

    _decoders[message] = decode_message  # before its steps: a schema contains schemas
    for field in messages()[message]:
        for tag, step in _steps(field):
            steps[tag] = step
        default = _default(field)
        if default is not None:
            missing.append((INLINE if field.name == INLINE else field.name, default))
    return decode_message


def _unknown(message: str, data: bytes, position: int, tag: int) -> int:
    """The position after a field that the table does not have. Raises ValueError if it
    has it with another wire type.
    """
    number, wire_type = tag >> 3, tag & 7
    if not number:
        raise ValueError(f"proto: {message}: illegal tag {number} (wire type {tag})")
    known = next((f for f in messages()[message] if f.number == number), None)
    if known is not None:
        raise ValueError(f"proto: wrong wireType = {wire_type} for field {known.name}")
    return skip(data, position, wire_type)


_NUMBERS: dict[str, Callable[[int], Any]] = {
    "bool": bool,
    "int32": lambda number: (number + 2**31) % 2**32 - 2**31,
    "int64": signed,
}


def _read_double(data: bytes) -> float | int:
    """A float; a whole one as an int, since Go's JSON shows no `.0`."""
    value: float = _double.unpack(data)[0]
    return int(value) if value.is_integer() and abs(value) < 1e21 else value


def _text(data: bytes) -> str:
    return data.decode()


def _base64(data: bytes) -> str:
    return b64encode(data).decode()


def _steps(field: Field) -> list[tuple[int, Step]]:
    """How a field is read, by the tags it may have."""
    name, number, kind = field.name, field.number << 3, field.type
    omit = field.omit != "keep"
    if kind in _NUMBERS:
        read = _NUMBERS[kind]
        if field.label == "list":
            return [
                (number | VARINT, (_NUMBER_LIST, name, read)),
                (number | LENGTH, (_PACKED, name, _packed(read))),
            ]
        if field.label == "one":
            return [
                (
                    number | VARINT,
                    (_NUMBER_NONZERO if omit and field.always else _NUMBER, name, read),
                )
            ]
    if kind == "double" and field.label == "one":
        return [(number | FIXED64, (_DOUBLE, name, _read_double))]
    return [
        (
            number | LENGTH,
            (
                *_how(field, omit),
                _map_entry(field) if field.label == "map" else _payload(kind),
            ),
        )
    ]


def _how(field: Field, omit: bool) -> tuple[int, str]:
    if field.name == INLINE:
        return _INLINE, INLINE
    if field.label == "list":
        return _LIST, field.name
    if field.label == "map":
        return _MAP, field.name
    if field.type == "string" and omit and field.always:
        return _TEXT, field.name
    if field.omit == "omitzero" or (field.type == "bytes" and omit):
        return _NONEMPTY, field.name
    return _ONE, field.name


def _payload(type: str) -> Decode:
    """The bytes inside a length-delimited field → value."""
    if type == "string":
        return _text
    if type == "bytes":
        return _base64
    if type in LEAVES:
        return LEAVES[type][1]
    if type in UNIONS:
        return union_decoder(type, _payload(SCHEMA))
    return decoder(type)


def _packed(read: Callable[[int], Any]) -> Decode:
    def decode_packed(data: bytes) -> list[Any]:
        values, position = [], 0
        while position < len(data):
            number, position = read_varint(data, position)
            values.append(read(number))
        return values

    return decode_packed


def _map_entry(field: Field) -> Decode:
    """A map's entry: {key = 1, value = 2} → (key, value)."""
    value_steps = {
        tag: (how, read)
        for tag, (how, _, read) in _steps(
            Field(2, "", field.type, "one", False, "keep")
        )
    }
    zero: Callable[[], Any] = _default(
        Field(2, "", field.type, "one", True, "keep")
    ) or (lambda: None)

    plain = value_steps.get(0x12, (0, None))[1]

    def decode_entry(data: bytes) -> tuple[str, Any]:
        end = len(data)
        if (
            plain is not None and end > 3 and data[0] == 0x0A and data[1] < 0x80
        ):  # as everybody writes it
            stop = 2 + data[1]
            if (
                stop + 1 < end
                and data[stop] == 0x12
                and data[stop + 1] == end - stop - 2 < 0x80
            ):
                return data[2:stop].decode(), plain(data[stop + 2 :])
        key, value, has_value = "", None, False
        position = 0
        while position < end:
            tag, position = read_varint(data, position)
            if tag & 7 == LENGTH:
                size, start = read_varint(data, position)
                position = start + size
                if position > end:
                    raise ValueError("unexpected EOF")
                if tag == 0x0A:
                    key = data[start:position].decode()
                elif tag in value_steps:
                    value, has_value = value_steps[tag][1](data[start:position]), True
                continue
            if tag in value_steps and tag & 7 == VARINT:
                number, position = read_varint(data, position)
                value, has_value = value_steps[tag][1](number), True
            else:
                position = skip(data, position, tag & 7)
        return key, value if has_value else zero()

    return decode_entry


def _default(field: Field) -> Callable[[], Any] | None:
    """What JSON shows for a field that is not on the wire; None if it shows nothing."""
    if field.label != "one" or not field.always:
        return (lambda: None) if field.omit == "keep" else None
    if "/" in field.type:  # a struct: omitempty does not drop it
        nested = decoder(field.type)
        return lambda: nested(b"")
    structs: dict[str, Any] = {"Quantity": "0", "IntOrString": 0}
    if field.omit == "omitzero":
        return None
    if field.type in LEAVES or field.type in UNIONS:
        zero = structs.get(field.type)
        return lambda: zero
    zeros: dict[str, Any] = {
        "string": "",
        "bool": False,
        "int32": 0,
        "int64": 0,
        "double": 0,
        "bytes": "",
    }
    if field.omit == "keep":
        kept = zeros[field.type]
        return lambda: kept
    return None
