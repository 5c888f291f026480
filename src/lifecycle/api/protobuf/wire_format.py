"""Bytes: varints, tags and lengths, the whole of protobuf that Kubernetes needs.

Upstream: `encodeVarintGenerated`, `skipGenerated` in every `generated.pb.go`;
protobuf's encoding guide. Left out: packed repeated scalars when writing (proto2 does
not pack; they are understood when read) and groups (refused).
"""

from __future__ import annotations

VARINT, FIXED64, LENGTH, START_GROUP, END_GROUP, FIXED32 = range(6)
"""The wire types: the low three bits of a tag."""

_SINGLE = tuple(bytes((n,)) for n in range(0x80))
_WORD = 1 << 64


def varint(number: int) -> bytes:
    """A base-128 varint; a negative number as the 64-bit two's complement, as Go writes
    int32 and int64.
    """
    if 0 <= number < 0x80:
        return _SINGLE[number]
    if number < 0:
        number += _WORD
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def tag(number: int, wire_type: int) -> bytes:
    """What stands before a field: its number and wire type."""
    return varint(number << 3 | wire_type)


def delimited(prefix: bytes, payload: bytes) -> bytes:
    """A length-delimited field whose tag is `prefix`."""
    size = len(payload)
    if size < 0x80:
        return prefix + _SINGLE[size] + payload
    return prefix + varint(size) + payload


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """The varint at a position, and the position after it. Raises IndexError at the end
    of the data, ValueError if it never ends.
    """
    number = shift = 0
    while True:
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number & (_WORD - 1), position
        shift += 7
        if shift >= 64:
            raise ValueError("proto: integer overflow")


def signed(number: int) -> int:
    """The 64 bits of a varint read as int64."""
    return number - _WORD if number >> 63 else number


def skip(data: bytes, position: int, wire_type: int) -> int:
    """The position after an unknown field's value."""
    if wire_type == VARINT:
        position = read_varint(data, position)[1]
    elif wire_type == FIXED64:
        position += 8
    elif wire_type == LENGTH:
        size, position = read_varint(data, position)
        position += size
    elif wire_type == FIXED32:
        position += 4
    else:
        raise ValueError(f"proto: illegal wireType {wire_type}")
    if position > len(data):
        raise ValueError("unexpected EOF")
    return position
