"""What went wrong while an object was decoded, and where.

A path is linked pairs, rendered only when something is wrong.

Upstream: `sigs.k8s.io/json/internal/golang/encoding/json/decode.go` (`decodeState`,
`saveError`, `saveStrictError`, `UnmarshalTypeError`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.go.json.decode import json_type
from lifecycle.api.go.json.encode import go_float
from lifecycle.api.schema.empties import Empty, Strict
from lifecycle.api.schema.gotypes import alias_of, go_type_name

Path = tuple[Any, ...]  # (parent path, key or index); () is the root

_STRICT_LIMIT = 100
_NUMBERS = ("int32", "int64", "int", "float64", "byte")


class DecodeState:
    """What went wrong on the way: strict errors, and the first wrong type (decoding
    goes on behind it, as in Go); and which empty lists and maps were left out.
    """

    __slots__ = ("empties", "saved", "strict")

    def __init__(self) -> None:
        self.strict = Strict()
        self.empties: list[Empty] = []
        self.saved = ""

    def save_unknown_field(self, path: Path, key: str) -> None:
        """A field that no struct has."""
        message = f'unknown field "{render_path((path, key))}"'
        if len(self.strict) < _STRICT_LIMIT and message not in self.strict:
            self.strict.append(message)

    def save_type_error(self, value: Any, path: Path, type_: str) -> None:
        """A value that is not of the field's type."""
        self.saved = self.saved or cannot_unmarshal(value, path, type_)

    def save_error(self, error: ValueError) -> None:
        """A leaf that the decoder itself cannot read, e.g. base64."""
        self.saved = self.saved or str(error)


def cannot_unmarshal(value: Any, path: Path, type_: str) -> str:
    """What Go says of a value that is not of the type expected at a path."""
    json_value = json_type(value)
    if json_value == "number" and (alias_of(type_) or type_) in _NUMBERS:
        shown = repr(value)  # as it stood in the text, mostly
        json_value = f"number {go_float(value) if 'e' in shown else shown}"
    struct, names = _struct_and_names(path)
    where = f"Go struct field {struct}.{names} of" if names else "Go value of"
    return (
        f"json: cannot unmarshal {json_value} into {where} type {go_type_name(type_)}"
    )


def render_path(path: Path) -> str:
    """A path as strict errors print it: `spec.containers[0].name`."""
    parts: list[str] = []
    while path:
        path, key = path[0], path[1]
        if isinstance(key, Key):
            key = key.name
        parts.append(f"[{key}]" if type(key) is int else f".{key}")
    return "".join(reversed(parts)).removeprefix(".")


class Key:
    """A struct field in a path, knowing the struct it belongs to, and through which
    embedded structs.
    """

    __slots__ = ("embedded", "name", "struct")

    def __init__(self, name: str, struct: str, embedded: tuple[str, ...]) -> None:
        self.name = name
        self.struct = struct
        self.embedded = embedded


def _struct_and_names(path: Path) -> tuple[str, str]:
    struct = ""
    names: list[str] = []
    while path:
        path, key = path[0], path[1]
        if isinstance(key, Key):
            struct = struct or key.struct
            names += (key.name, *reversed(key.embedded))
    return struct, ".".join(reversed(names))
