"""What the library has compiled, read from the bytes in which all implementations of
CEL write it down.

Upstream: cel-spec's `proto/cel/expr/{checked,syntax}.proto`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from lifecycle.api.protobuf.wire_format import (
    LENGTH,
    VARINT,
    read_varint,
    signed,
    skip,
)
from lifecycle.apiserver.cel.syntax import (
    DYN,
    Call,
    CheckedExpression,
    Comprehension,
    Constant,
    CreateList,
    CreateMap,
    CreateStruct,
    Identifier,
    Node,
    Select,
    Type,
)

_PRIMITIVES = ("", "bool", "int", "uint", "double", "string", "bytes")
_WELL_KNOWN = ("", "any", "timestamp", "duration")


def checked_expression(serialized: bytes) -> CheckedExpression:
    """What the library wrote: an `Any` that holds a `CheckedExpr`."""
    checked = _Message(_Message(serialized).data(2))
    overloads = {}
    for entry in checked.messages(2):
        reference = _Message(entry.data(2))
        overloads[entry.number(1)] = [_text(each) for each in reference.all(3)]
    types = {entry.number(1): _type(entry.data(2)) for entry in checked.messages(3)}
    offsets = {
        entry.number(1): entry.number(2)
        for entry in _Message(checked.data(5)).messages(4)
    }
    return CheckedExpression(_node(checked.data(4)), types, overloads, offsets)


class _Message:
    """The fields of a message, by their numbers."""

    def __init__(self, data: bytes) -> None:
        self._fields: dict[int, list[Any]] = {}
        for number, value in _items(data):
            self._fields.setdefault(number, []).append(value)

    def __contains__(self, number: int) -> bool:
        return number in self._fields

    def all(self, number: int) -> list[Any]:
        return self._fields.get(number, [])

    def messages(self, number: int) -> list[_Message]:
        return [_Message(each) for each in self.all(number)]

    def data(self, number: int) -> bytes:
        held: bytes = self._fields[number][-1] if number in self else b""
        return held

    def number(self, number: int) -> int:
        return int(self._fields[number][-1]) if number in self else 0

    def text(self, number: int) -> str:
        return _text(self.data(number))


def _items(data: bytes) -> Iterator[tuple[int, Any]]:
    position = 0
    while position < len(data):
        tag, position = read_varint(data, position)
        value: Any
        if tag & 7 == VARINT:
            value, position = read_varint(data, position)
        elif tag & 7 == LENGTH:
            size, position = read_varint(data, position)
            value, position = data[position : position + size], position + size
        else:
            start, position = position, skip(data, position, tag & 7)
            value = data[start:position]
        yield tag >> 3, value


def _text(data: bytes) -> str:
    return data.decode()


def _type(data: bytes) -> Type:
    message = _Message(data)
    if 3 in message:
        return Type(_PRIMITIVES[message.number(3)])
    if 4 in message:
        return Type(f"wrapper({_PRIMITIVES[message.number(4)]})")
    if 5 in message:
        return Type(_WELL_KNOWN[message.number(5)])
    if 6 in message:
        return Type("list", (_type(_Message(message.data(6)).data(1)),))
    if 7 in message:
        entry = _Message(message.data(7))
        return Type("map", (_type(entry.data(1)), _type(entry.data(2))))
    if 9 in message:
        return Type(message.text(9), is_message=True)
    if 10 in message:
        return Type("type_param")
    if 14 in message:
        abstract = _Message(message.data(14))
        return Type(abstract.text(1), tuple(map(_type, abstract.all(2))))
    return Type("null") if 2 in message else DYN


def _node(data: bytes) -> Node:
    message = _Message(data)
    number = message.number(2)
    for kind, read in _KINDS.items():
        if kind in message:
            return read(number, message.data(kind))
    return Constant(number, None)


def _constant(number: int, data: bytes) -> Node:
    for kind, value in _items(data):
        read = _CONSTANTS.get(kind)
        return Constant(number, read(value) if read else None)
    return Constant(number, None)


_CONSTANTS: dict[int, Callable[[Any], Any]] = {
    2: bool,
    3: signed,
    4: int,
    5: lambda value: struct.unpack("<d", value)[0],
    6: _text,
    7: bytes,
}


def _identifier(number: int, data: bytes) -> Node:
    return Identifier(number, _Message(data).text(1))


def _select(number: int, data: bytes) -> Node:
    message = _Message(data)
    operand = _node(message.data(1))
    return Select(number, operand, message.text(2), bool(message.number(3)))


def _call(number: int, data: bytes) -> Node:
    message = _Message(data)
    target = _node(message.data(1)) if 1 in message else None
    return Call(number, target, message.text(2), list(map(_node, message.all(3))))


def _create_list(number: int, data: bytes) -> Node:
    message = _Message(data)
    optional, packed, position = set[int](), message.data(2), 0
    while position < len(packed):
        place, position = read_varint(packed, position)
        optional.add(place)
    elements = list(map(_node, message.all(1)))
    return CreateList(number, elements, frozenset(optional))


def _create_struct(number: int, data: bytes) -> Node:
    message = _Message(data)
    entries = message.messages(2)
    if message.data(1):
        return CreateStruct(number, [_node(each.data(4)) for each in entries])
    pairs = [(_node(each.data(3)), _node(each.data(4))) for each in entries]
    optional = {i for i, each in enumerate(entries) if each.number(5)}
    return CreateMap(number, pairs, frozenset(optional))


def _comprehension(number: int, data: bytes) -> Node:
    message = _Message(data)
    return Comprehension(
        number,
        iter_var=message.text(1),
        iter_range=_node(message.data(2)),
        accu_var=message.text(3),
        accu_init=_node(message.data(4)),
        loop_condition=_node(message.data(5)),
        loop_step=_node(message.data(6)),
        result=_node(message.data(7)),
    )


_KINDS: dict[int, Callable[[int, bytes], Node]] = {
    3: _constant,
    4: _identifier,
    5: _select,
    6: _call,
    7: _create_list,
    8: _create_struct,
    9: _comprehension,
}
