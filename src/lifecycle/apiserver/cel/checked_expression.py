"""A compiled expression as a tree, with the type of each part and the functions that it
calls.

The library gives away what it has compiled only as bytes, in the form that all
implementations of CEL share. So they are read here.

Upstream: cel-spec's `proto/cel/expr/{checked,syntax}.proto`, cel-go's `common/ast`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from lifecycle.api.protobuf.wire_format import (
    LENGTH,
    VARINT,
    read_varint,
    signed,
    skip,
)


@dataclass(frozen=True, slots=True)
class Type:
    """`name`: `int`, `list`, `map`, `dyn`, or a message's full name."""

    name: str
    parameters: tuple[Type, ...] = ()
    is_message: bool = False


@dataclass(frozen=True, slots=True)
class Node:
    """A part of an expression, known by its number."""

    id: int


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """A literal."""

    value: Any


@dataclass(frozen=True, slots=True)
class Identifier(Node):
    """A variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Select(Node):
    """`operand.field`, or `has(operand.field)`."""

    operand: Node
    field: str
    test_only: bool


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`target` is what a method is called of, None for a function."""

    target: Node | None
    function: str
    args: list[Node]


@dataclass(frozen=True, slots=True)
class CreateList(Node):
    """`[a, b]`."""

    elements: list[Node]


@dataclass(frozen=True, slots=True)
class CreateMap(Node):
    """`{a: b}`."""

    entries: list[tuple[Node, Node]]


@dataclass(frozen=True, slots=True)
class CreateStruct(Node):
    """`Object{a: b}`."""

    values: list[Node]


@dataclass(frozen=True, slots=True)
class Comprehension(Node):
    """What `all`, `exists`, `map`, `filter` and `cel.bind` stand for."""

    iter_var: str
    iter_range: Node
    accu_var: str
    accu_init: Node
    loop_condition: Node
    loop_step: Node
    result: Node


@dataclass(frozen=True, slots=True)
class CheckedExpression:
    """`types` and `overloads` by the number of a part."""

    root: Node
    types: dict[int, Type]
    overloads: dict[int, list[str]]

    def mentions(self, name: str) -> bool:
        """Whether it reads a variable."""
        return any(
            isinstance(each, Identifier) and each.name == name
            for each in _parts(self.root)
        )


DYN = Type("dyn")
_PRIMITIVES = ("", "bool", "int", "uint", "double", "string", "bytes")
_WELL_KNOWN = ("", "any", "timestamp", "duration")


def _parts(node: Any) -> Iterator[Node]:
    """A part and all parts of it."""
    if isinstance(node, list | tuple):
        for each in node:
            yield from _parts(each)
    elif isinstance(node, Node):
        yield node
        for each in fields(node):
            yield from _parts(getattr(node, each.name))


def checked_expression(serialized: bytes) -> CheckedExpression:
    """What the library wrote: an `Any` that holds a `CheckedExpr`."""
    checked = _Message(_Message(serialized).data(2))
    overloads = {}
    for entry in checked.messages(2):
        reference = _Message(entry.data(2))
        overloads[entry.number(1)] = [_text(each) for each in reference.all(3)]
    types = {entry.number(1): _type(entry.data(2)) for entry in checked.messages(3)}
    return CheckedExpression(_node(checked.data(4)), types, overloads)


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
    return CreateList(number, list(map(_node, _Message(data).all(1))))


def _create_struct(number: int, data: bytes) -> Node:
    message = _Message(data)
    entries = message.messages(2)
    if message.data(1):
        return CreateStruct(number, [_node(each.data(4)) for each in entries])
    pairs = [(_node(each.data(3)), _node(each.data(4))) for each in entries]
    return CreateMap(number, pairs)


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
