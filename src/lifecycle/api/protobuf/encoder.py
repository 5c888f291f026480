"""JSON object → message bytes, byte for byte as Go's generated marshallers write them.

Each message is compiled once into a flat plan: for every field, in ascending order, its
JSON name, a function from the value to the whole field (tag included), and what to
write when the value is absent: nothing for a pointer, the empty value for a plain one.
Maps are written in the order of their keys, so equal objects are equal bytes.

Upstream: `MarshalToSizedBuffer` in every `generated.pb.go` (written backwards there, to
the same result), v1.36.
"""

from __future__ import annotations

import struct
from base64 import b64decode
from typing import Any

from lifecycle.api.protobuf.fields import INLINE, Field, messages
from lifecycle.api.protobuf.leaves import LEAVES, Encode
from lifecycle.api.protobuf.schema_unions import SCHEMA, UNIONS, union_encoder
from lifecycle.api.protobuf.wire_format import (
    FIXED64,
    LENGTH,
    VARINT,
    delimited,
    tag,
    varint,
)

_double = struct.Struct("<d")

Step = tuple[str, Encode, bytes]
"""JSON name, value → field bytes, what an absent value writes."""


_encoders: dict[str, Encode] = {}


def encoder(message: str) -> Encode:
    """The encoder of a message of the table: a dict in, the message's bytes out.

    It raises ValueError, TypeError or AttributeError for values of the wrong type;
    `encode` turns those into ValueError.
    """
    compiled = _encoders.get(message)
    if compiled is not None:
        return compiled
    plan: list[Step] = []

    def encode_message(obj: Any) -> bytes:
        parts: list[bytes] = []
        append = parts.append
        get = obj.get
        for name, field, absent in plan:
            value = get(name)
            if value is not None:
                append(field(value))
            elif absent:
                append(absent)
        return b"".join(parts)

    def encode_with_inline(obj: Any) -> bytes:
        parts: list[bytes] = []
        for name, field, absent in plan:
            value = obj if name is INLINE else obj.get(name)
            parts.append(absent if value is None else field(value))
        return b"".join(parts)

    fields = messages()[message]
    inline = any(field.name == INLINE for field in fields)
    # Before its plan: a schema contains schemas.
    encode = _encoders[message] = encode_with_inline if inline else encode_message
    plan += [_step(field) for field in fields]
    return encode


def _step(field: Field) -> Step:
    name = INLINE if field.name == INLINE else field.name
    if field.label == "list":
        return name, _list(field), b""
    if field.label == "map":
        return name, _map(field), b""
    one = _one(field.number, field.type)
    return name, one, one(_zero(field.type)) if field.always else b""


def _zero(type: str) -> Any:
    """What stands for an absent plain value; None where the leaf has bytes of its own
    for that.
    """
    zeros: dict[str, Any] = {
        "string": "", "bytes": "", "bool": False, "int32": 0, "int64": 0, "double": 0.0,
        "IntOrString": 0, "Quantity": "0", "Strings": [],
    }  # fmt: skip
    return zeros.get(type, {} if "/" in type else None)


def _one(number: int, type: str) -> Encode:
    """Value → field, for a single value (or one element of a list)."""
    if type == "string":
        return _string(tag(number, LENGTH))
    if type in ("int32", "int64"):
        prefix = tag(number, VARINT)
        return lambda value: prefix + varint(value)
    if type == "bool":
        true, false = tag(number, VARINT) + b"\x01", tag(number, VARINT) + b"\x00"
        return lambda value: true if value else false
    if type == "double":
        prefix = tag(number, FIXED64)
        return lambda value: prefix + _double.pack(value)
    prefix = tag(number, LENGTH)
    if type == "bytes":
        return lambda value: delimited(prefix, b64decode(value))
    payload = _payload(type)
    if type in ("Time", "MicroTime"):
        empty = prefix + b"\x00"
        return lambda value: delimited(prefix, payload(value)) if value else empty
    return lambda value: delimited(prefix, payload(value))


def _string(prefix: bytes) -> Encode:
    short = tuple(prefix + bytes((size,)) for size in range(0x80))

    def encode_string(value: str) -> bytes:
        data = value.encode()
        size = len(data)
        return short[size] + data if size < 0x80 else prefix + varint(size) + data

    return encode_string


def _payload(type: str) -> Encode:
    """Value → the bytes inside a length-delimited field."""
    if type in LEAVES:
        return LEAVES[type][0]
    if type in UNIONS:
        return union_encoder(type, _payload(SCHEMA))
    return encoder(type)


def _list(field: Field) -> Encode:
    one = _one(field.number, field.type)
    return lambda values: b"".join([one(value) for value in values])


def _map(field: Field) -> Encode:
    """Each entry is a message {key = 1, value = 2}; Go writes them sorted by key."""
    prefix = tag(field.number, LENGTH)
    key, value = _string(b"\x0a"), _one(2, field.type)

    def encode_map(entries: dict[str, Any]) -> bytes:
        parts = []
        for name in sorted(entries):
            content = entries[name]
            # A nil []byte is written without its value; a null text counts as empty.
            payload = key(name) + (
                value(content)
                if content is not None
                else b""
                if field.type == "bytes"
                else value(_zero(field.type))
            )
            parts.append(delimited(prefix, payload))
        return b"".join(parts)

    return encode_map
