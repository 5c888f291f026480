"""Values as a Go template sees them: decoded JSON, and a few kinds of number that only
templates make.

Go's reflection knows two kinds of nothing. A key that is not there gives *no value*; a
`null`, a value that is nil. And a value found in a map or a list is still wrapped in
the map's own element type, `interface {}`, until a pipeline takes it out; complaints
name that type.

Upstream: Go's `reflect.Value`, and `text/template/exec.go` (`indirectInterface`,
`isTrue`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from lifecycle.api.go.format import go_json_type


class GoInt(int):
    """An `int`: numbers in templates, lengths and places; those in objects are
    `int64`.
    """


class Byte(int):
    """A `uint8`: one byte of a text."""


@dataclass(slots=True, frozen=True)
class Boxed:
    """A value in a variable of type `interface {}`."""

    value: Any


class _Nothing:
    def __repr__(self) -> str:
        return "<no value>"


INVALID: Final = _Nothing()
"""No value at all."""


class TemplateError(Exception):
    """What a function of a template says when it cannot answer."""


def unboxed(value: Any) -> Any:
    """The concrete value; a nil becomes no value."""
    if isinstance(value, Boxed):
        return INVALID if value.value is None else value.value
    return INVALID if value is None else value


def type_of(value: Any) -> str:
    """The name of a value's type."""
    if isinstance(value, Boxed):
        return "interface {}"
    if isinstance(value, GoInt):
        return "int"
    if isinstance(value, Byte):
        return "uint8"
    return "<nil>" if value is INVALID else go_json_type(value)


def truth(value: Any) -> bool:
    """Whether a value is anything but the zero of its type."""
    value = unboxed(value)
    return value is not INVALID and bool(value)
