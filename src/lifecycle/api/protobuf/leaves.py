"""Types that look one way in JSON and another in protobuf: times, quantities, raw JSON,
and lists in disguise.

Each has a pair of functions: JSON value → message bytes, message bytes → JSON value.
The bytes are those *inside* the field. Times and quantities repeat endlessly in a
cluster, so those are remembered.

Upstream: `meta/v1/time_proto.go`, `micro_time_proto.go`, `resource/quantity_proto.go`,
`intstr` and `runtime` `generated.pb.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.bounded_cache import short_lru_cache
from lifecycle.api.loop.clock import rfc3339
from lifecycle.api.protobuf.wire_format import (
    LENGTH,
    VARINT,
    delimited,
    read_varint,
    signed,
    skip,
    varint,
)
from lifecycle.api.quantity import canonical_quantity

Encode = Callable[[Any], bytes]
Decode = Callable[[bytes], Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ZERO_TIME = datetime(1, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)


def raw_fields(data: bytes) -> list[tuple[int, Any]]:
    """The fields of a small message, undecoded: number and an int or bytes each."""
    fields: list[tuple[int, Any]] = []
    position, end = 0, len(data)
    while position < end:
        tag, position = read_varint(data, position)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == LENGTH:
            size, position = read_varint(data, position)
            if position + size > end:
                raise ValueError("unexpected EOF")
            fields.append((number, data[position : position + size]))
            position += size
        elif wire_type == VARINT:
            value, position = read_varint(data, position)
            fields.append((number, value))
        else:
            position = skip(data, position, wire_type)
    return fields


def _timestamp(seconds: int, nanos: int) -> bytes:
    return b"\x08" + varint(seconds) + b"\x10" + varint(nanos)


def _instant(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"parsing time {text!r}: no time zone")
    return moment


@short_lru_cache(8192)
def encode_time(text: str) -> bytes:
    """`metav1.Time`: whole seconds, always with `nanos` 0; Go's zero time is no bytes
    at all.
    """
    moment = _instant(text)
    return b"" if moment == _ZERO_TIME else _timestamp((moment - _EPOCH) // _SECOND, 0)


@short_lru_cache(8192)
def encode_micro_time(text: str) -> bytes:
    """`metav1.MicroTime`: seconds, and nanoseconds cut to microseconds."""
    moment = _instant(text)
    return (
        b""
        if moment == _ZERO_TIME
        else _timestamp((moment - _EPOCH) // _SECOND, moment.microsecond * 1000)
    )


def _read_timestamp(data: bytes) -> tuple[datetime, int]:
    fields = dict(raw_fields(data))
    return (
        _EPOCH + timedelta(seconds=signed(fields.get(1, 0))),
        fields.get(2, 0) // 1000,
    )


@short_lru_cache(8192)
def decode_time(data: bytes) -> str | None:
    """RFC 3339 in UTC; None for Go's zero time."""
    if not data:
        return None
    moment, _ = _read_timestamp(data)
    return None if moment == _ZERO_TIME else rfc3339(moment, "seconds")


@short_lru_cache(8192)
def decode_micro_time(data: bytes) -> str | None:
    """RFC 3339 in UTC with six digits; None for Go's zero time."""
    if not data:
        return None
    moment, micros = _read_timestamp(data)
    return rfc3339(moment + timedelta(microseconds=micros), "microseconds")


def encode_quantity(quantity: str | int | float) -> bytes:
    """`resource.Quantity`: its canonical text as field 1."""
    return _encode_quantity(str(quantity))


@short_lru_cache(8192)
def _encode_quantity(text: str) -> bytes:
    return delimited(b"\x0a", canonical_quantity(text).encode())


@short_lru_cache(8192)
def decode_quantity(data: bytes) -> str:
    """The canonical text; an empty message is `0`."""
    return canonical_quantity(dict(raw_fields(data)).get(1, b"0").decode())


def encode_int_or_string(value: int | str) -> bytes:
    """`intstr.IntOrString`: which of the two, the number, the text; all three
    always.
    """
    if isinstance(value, str):
        return delimited(b"\x08\x01\x10\x00\x1a", value.encode())
    return b"\x08\x00\x10" + varint(value) + b"\x1a\x00"


def decode_int_or_string(data: bytes) -> int | str:
    """A number, of which the lowest 32 bits count, or a text."""
    fields = dict(raw_fields(data))
    if fields.get(1, 0) == 1:
        return str(fields.get(3, b"").decode())
    return int((fields.get(2, 0) + 2**31) % 2**32 - 2**31)


def encode_json(value: Any) -> bytes:
    """`FieldsV1`, `RawExtension`, apiextensions' `JSON`: the JSON text as field 1;
    nothing for null.
    """
    return b"" if value is None else delimited(b"\x0a", fast_json.dumps(value))


def decode_json(data: bytes) -> Any:
    """The value whose JSON text was kept."""
    if not data:
        return None
    if data[0] == 0x0A:
        size, start = read_varint(data, 1)
        if start + size == len(data):  # nothing else inside, as always
            return fast_json.loads(data[start:]) if size else None
    raw = dict(raw_fields(data)).get(1, b"")
    return fast_json.loads(raw) if raw else None


def encode_strings(values: list[str]) -> bytes:
    """`Verbs`, `ExtraValue`: a list that is a message, so that an empty one differs
    from none.
    """
    return b"".join(delimited(b"\x0a", value.encode()) for value in values)


def decode_strings(data: bytes) -> list[str]:
    """The list."""
    return [value.decode() for number, value in raw_fields(data) if number == 1]


LEAVES: dict[str, tuple[Encode, Decode]] = {
    "Time": (encode_time, decode_time),
    "MicroTime": (encode_micro_time, decode_micro_time),
    "Quantity": (encode_quantity, decode_quantity),
    "IntOrString": (encode_int_or_string, decode_int_or_string),
    "FieldsV1": (encode_json, decode_json),
    "RawExtension": (encode_json, decode_json),
    "JSON": (encode_json, decode_json),
    "Strings": (encode_strings, decode_strings),
}
"""Types of the table that are neither scalars nor messages of the table."""
