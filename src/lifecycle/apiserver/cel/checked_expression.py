"""A compiled expression as a tree, with the type of each part and the functions that it
calls.

The library gives away what it has compiled only as bytes, in the form that all
implementations of CEL share. So they are read here.

Upstream: cel-spec's `proto/cel/expr/{checked,syntax}.proto`, cel-go's `common/ast`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from lifecycle.api.protobuf.wire_format import (
    FIXED64,
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
    value: Any


@dataclass(frozen=True, slots=True)
class Identifier(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Select(Node):
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
    elements: list[Node]


@dataclass(frozen=True, slots=True)
class CreateMap(Node):
    entries: list[tuple[Node, Node]]


@dataclass(frozen=True, slots=True)
class CreateStruct(Node):
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
    """`types` and `overloads` by the number of a part; `names`: of the variables that
    it reads.
    """

    root: Node
    types: dict[int, Type] = field(default_factory=dict)
    overloads: dict[int, list[str]] = field(default_factory=dict)
    names: frozenset[str] = frozenset()


DYN = Type("dyn")
_PRIMITIVES = ("", "bool", "int", "uint", "double", "string", "bytes")
_WELL_KNOWN = ("", "any", "timestamp", "duration")
_Fields = dict[int, list[Any]]


def checked_expression(serialized: bytes) -> CheckedExpression:
    """What the library wrote: an `Any` that holds a `CheckedExpr`."""
    checked = _fields(_one(_fields(serialized), 2))
    references = {
        _number(entry): _fields(_one(entry, 2))
        for entry in map(_fields, checked.get(2, ()))
    }
    types = {
        _number(entry): _type(_one(entry, 2))
        for entry in map(_fields, checked.get(3, ()))
    }
    return CheckedExpression(
        _node(_one(checked, 4)),
        types,
        {
            number: [_text(each) for each in reference[3]]
            for number, reference in references.items()
            if 3 in reference
        },
        frozenset(_text(_one(each, 1)) for each in references.values()),
    )


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
            value = data[start:position] if tag & 7 == FIXED64 else None
        yield tag >> 3, value


def _fields(data: bytes) -> _Fields:
    fields: _Fields = {}
    for number, value in _items(data):
        fields.setdefault(number, []).append(value)
    return fields


def _one(fields: _Fields, number: int) -> bytes:
    held: bytes = fields[number][-1] if number in fields else b""
    return held


def _number(fields: _Fields, number: int = 1) -> int:
    return int(fields[number][-1]) if number in fields else 0


def _text(data: bytes) -> str:
    return data.decode()


def _type(data: bytes) -> Type:
    fields = _fields(data)
    if 3 in fields:
        return Type(_PRIMITIVES[_number(fields, 3)])
    if 4 in fields:
        return Type(f"wrapper({_PRIMITIVES[_number(fields, 4)]})")
    if 5 in fields:
        return Type(_WELL_KNOWN[_number(fields, 5)])
    if 6 in fields:
        return Type("list", (_type(_one(_fields(_one(fields, 6)), 1)),))
    if 7 in fields:
        held = _fields(_one(fields, 7))
        return Type("map", (_type(_one(held, 1)), _type(_one(held, 2))))
    if 9 in fields:
        return Type(_text(_one(fields, 9)), is_message=True)
    if 10 in fields:
        return Type("type_param")
    if 14 in fields:
        held = _fields(_one(fields, 14))
        inner = tuple(map(_type, held.get(2, ())))
        return Type(_text(_one(held, 1)), inner)
    return Type("null") if 2 in fields else DYN


def _node(data: bytes) -> Node:
    fields = _fields(data)
    number = _number(fields, 2)
    for kind, read in _KINDS.items():
        if kind in fields:
            return read(number, _one(fields, kind))
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
    return Identifier(number, _text(_one(_fields(data), 1)))


def _select(number: int, data: bytes) -> Node:
    fields = _fields(data)
    operand, name = _node(_one(fields, 1)), _text(_one(fields, 2))
    return Select(number, operand, name, bool(_number(fields, 3)))


def _call(number: int, data: bytes) -> Node:
    fields = _fields(data)
    target = _node(_one(fields, 1)) if 1 in fields else None
    args = list(map(_node, fields.get(3, ())))
    return Call(number, target, _text(_one(fields, 2)), args)


def _create_list(number: int, data: bytes) -> Node:
    return CreateList(number, list(map(_node, _fields(data).get(1, ()))))


def _create_struct(number: int, data: bytes) -> Node:
    fields = _fields(data)
    entries = list(map(_fields, fields.get(2, ())))
    if _one(fields, 1):
        return CreateStruct(number, [_node(_one(each, 4)) for each in entries])
    pairs = [(_node(_one(each, 3)), _node(_one(each, 4))) for each in entries]
    return CreateMap(number, pairs)


def _comprehension(number: int, data: bytes) -> Node:
    fields = _fields(data)
    return Comprehension(
        number,
        iter_var=_text(_one(fields, 1)),
        iter_range=_node(_one(fields, 2)),
        accu_var=_text(_one(fields, 3)),
        accu_init=_node(_one(fields, 4)),
        loop_condition=_node(_one(fields, 5)),
        loop_step=_node(_one(fields, 6)),
        result=_node(_one(fields, 7)),
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
