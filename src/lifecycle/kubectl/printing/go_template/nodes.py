"""What a Go template is made of. `str()` of a node is what error messages show of it.

Upstream: Go's `text/template/parse/node.go`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lifecycle.api.go.format import go_quote


@dataclass(slots=True)
class Node:
    """Something that stands at a place in the text."""

    at: int


@dataclass(slots=True)
class Text(Node):
    """What goes out as it is."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(slots=True)
class Dot(Node):
    """`.`"""

    def __str__(self) -> str:
        return "."


@dataclass(slots=True)
class Nil(Node):
    """`nil`"""

    def __str__(self) -> str:
        return "nil"


@dataclass(slots=True)
class Bool(Node):
    """`true` or `false`"""

    value: bool

    def __str__(self) -> str:
        return str(self.value).lower()


@dataclass(slots=True)
class Number(Node):
    """A number or a letter; `value` is an int or a float."""

    text: str
    value: Any

    def __str__(self) -> str:
        return self.text


@dataclass(slots=True)
class String(Node):
    """A text; `quoted` is how it was written."""

    quoted: str
    text: str

    def __str__(self) -> str:
        return self.quoted


@dataclass(slots=True)
class Identifier(Node):
    """A function."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(slots=True)
class Field(Node):
    """`.a.b`"""

    names: list[str]

    def __str__(self) -> str:
        return "".join(f".{name}" for name in self.names)


@dataclass(slots=True)
class Variable(Node):
    """`$x.a.b`; the first name has its dollar sign."""

    names: list[str]

    def __str__(self) -> str:
        return ".".join(self.names)


@dataclass(slots=True)
class Chain(Node):
    """`(pipeline).a.b`"""

    of: Node
    names: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        node = f"({self.of})" if isinstance(self.of, Pipe) else str(self.of)
        return node + "".join(f".{name}" for name in self.names)


@dataclass(slots=True)
class Command(Node):
    """A function or a value, and what is given to it."""

    arguments: list[Node] = field(default_factory=list)

    def __str__(self) -> str:
        return " ".join(
            f"({each})" if isinstance(each, Pipe) else str(each)
            for each in self.arguments
        )


@dataclass(slots=True)
class Pipe(Node):
    """`$x := command | command`; the value of each is the last argument of the next."""

    declared: list[Variable] = field(default_factory=list)
    assigns: bool = False
    commands: list[Command] = field(default_factory=list)

    def __str__(self) -> str:
        declared = ", ".join(map(str, self.declared))
        operator = " = " if self.assigns else " := "
        return (declared + operator if declared else "") + " | ".join(
            map(str, self.commands)
        )


@dataclass(slots=True)
class Action(Node):
    """`{{pipeline}}`"""

    pipe: Pipe

    def __str__(self) -> str:
        return "{{" + str(self.pipe) + "}}"


@dataclass(slots=True)
class Branch(Node):
    """`{{if}}`, `{{with}}` or `{{range}}` (`word`), its blocks, and what to do
    otherwise.
    """

    word: str
    pipe: Pipe
    then: Block
    otherwise: Block | None

    def __str__(self) -> str:
        otherwise = "{{else}}" + str(self.otherwise) if self.otherwise else ""
        return (
            "{{"
            + f"{self.word} {self.pipe}"
            + "}}"
            + str(self.then)
            + otherwise
            + "{{end}}"
        )


@dataclass(slots=True)
class Jump(Node):
    """`{{break}}` or `{{continue}}`"""

    word: str

    def __str__(self) -> str:
        return "{{" + self.word + "}}"


@dataclass(slots=True)
class Call(Node):
    """`{{template "name" pipeline}}`"""

    name: str
    pipe: Pipe | None

    def __str__(self) -> str:
        return (
            "{{template "
            + go_quote(self.name)
            + (f" {self.pipe}" if self.pipe else "")
            + "}}"
        )


@dataclass(slots=True)
class Block(Node):
    """Nodes one after another."""

    nodes: list[Node] = field(default_factory=list)

    def __str__(self) -> str:
        return "".join(map(str, self.nodes))


@dataclass(slots=True)
class End(Node):
    """`{{end}}` or `{{else}}` (`word`): where a block stops."""

    word: str

    def __str__(self) -> str:
        return "{{" + self.word + "}}"
