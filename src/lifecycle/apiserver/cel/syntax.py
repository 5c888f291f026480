"""An expression as a tree, with the type of each part and the functions that it calls.

Upstream: cel-spec's `proto/cel/expr/syntax.proto`, cel-go's `common/ast/{ast,expr}.go`,
v0.26.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Type:
    """`name`: `int`, `list`, `map`, `dyn`, or a message's full name."""

    name: str
    parameters: tuple[Type, ...] = ()
    is_message: bool = False

    def __str__(self) -> str:
        held = ", ".join(map(str, self.parameters))
        return f"{self.name}({held})" if held else self.name


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
    """`[a, ?b]`; `optional` are the places of those with a question mark."""

    elements: list[Node]
    optional: frozenset[int]


@dataclass(frozen=True, slots=True)
class CreateMap(Node):
    """`{a: b, ?c: d}`; `optional` are the places of those with a question mark."""

    entries: list[tuple[Node, Node]]
    optional: frozenset[int]


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
    """`types`, `overloads` and `offsets`, where it stands in the text, by the number of
    a part.
    """

    root: Node
    types: dict[int, Type]
    overloads: dict[int, list[str]]
    offsets: dict[int, int]

    def parts(self) -> Iterator[Node]:
        """The whole and all that it consists of."""
        return parts_of(self.root)

    def mentions(self, name: str) -> bool:
        """Whether it reads a variable."""
        return any(
            isinstance(each, Identifier) and each.name == name for each in self.parts()
        )


DYN = Type("dyn")


def parts_of(node: Any) -> Iterator[Node]:
    """A part and all parts of it."""
    if isinstance(node, list | tuple):
        for each in node:
            yield from parts_of(each)
    elif isinstance(node, Node):
        yield node
        for each in fields(node):
            yield from parts_of(getattr(node, each.name))
