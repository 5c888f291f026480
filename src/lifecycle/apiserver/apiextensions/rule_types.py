"""Where the rules of a schema are compiled when a definition is written: `self` is of
the schema's type, so a misspelt field is found before there is an object.

Upstream: `apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go`
(`prepareEnvSet`, `generateUniqueSelfTypeName`), `apiserver/pkg/cel/types.go`
(`MaybeAssignTypeName`), v1.36. Left out: what is in a list within a list, or in a map
within one, may be anything, since the library's fields cannot say more.
"""

from __future__ import annotations

import re
import time
from functools import cached_property
from typing import Any

from lifecycle.api.extras import MissingExtraError
from lifecycle.apiserver.cel.decl_type import DeclType
from lifecycle.apiserver.cel.environment import (
    DYN,
    CompileError,
    Environment,
    Program,
    message_type,
)
from lifecycle.apiserver.cel.library import T, library_type
from lifecycle.apiserver.cel.types import (
    ANY,
    DURATION,
    MESSAGES,
    TIMESTAMP,
    build_types,
    list_of,
    map_of,
)

_PACKAGE = "rules"
_FIELDS = {
    "bool": "bool",
    "double": "double",
    "int": "int64",
    "string": "string",
    "bytes": "bytes",
    "timestamp": TIMESTAMP,
    "duration": DURATION,
    "dyn": ANY,
}
_OPTIONAL_OLD_SELF = "cel.bind(oldSelf, optional.of(old__self),\n{}\n)"
"""The library has no optional variables. The rule's lines stay lines of their own."""

_PLACE = re.compile(r"<input>:(\d+):")


class RuleTypes:
    """The types of `self` and of all that is in it. What upstream calls them changes
    with each compilation, so that nobody relies on it.
    """

    def __init__(self, decl_type: DeclType) -> None:
        self._messages: dict[str, dict[str, str]] = {}
        self._names: dict[str, str] = {}
        self._decl_type = decl_type

    @cached_property
    def _environments(self) -> tuple[Environment, Environment]:
        """Where `oldSelf` is there, where it is optional."""
        name = f"selfType{time.time_ns() % 1_000_000_000}"
        kind = self._variable(self._decl_type, name)
        pool = build_types({**MESSAGES, **self._messages}).pool
        return (
            Environment({"self": kind, "oldSelf": kind}, pool=pool),
            Environment({"self": kind, "old__self": kind}, pool=pool),
        )

    def compile(self, expression: str, *, optional_old_self: bool = False) -> Program:
        """A program that is only looked at, never run. Raises CompileError."""
        try:
            plain, optional = self._environments
            if not optional_old_self:
                return plain.compile(expression)
            return optional.compile(_OPTIONAL_OLD_SELF.format(expression))
        except MissingExtraError as error:
            raise CompileError(str(error)) from None
        except CompileError as error:
            text = str(error)
            if optional_old_self:
                text = _PLACE.sub(lambda match: f"<input>:{int(match[1]) - 1}:", text)
            for message, name in self._names.items():
                text = re.sub(rf"\b{re.escape(message)}\b", name, text)
            raise CompileError(text) from None

    def _variable(self, kind: DeclType, name: str) -> Any:
        if kind.kind == "object":
            return library_type(message_type(self._object(kind, name)))
        if kind.elem_type is None:
            return library_type(DYN if kind.kind == "dyn" else kind.kind.upper())
        if kind.kind == "list":
            return T.List(self._variable(kind.elem_type, f"{name}.@idx"))
        return T.Map(T.STRING, self._variable(kind.elem_type, f"{name}.@elem"))

    def _field(self, kind: DeclType, name: str) -> str:
        if kind.kind == "object":
            return self._object(kind, name)
        if kind.elem_type is None:
            return _FIELDS[kind.kind]
        if kind.kind == "list":
            return list_of(self._field(kind.elem_type, f"{name}.@idx"))
        return map_of(self._field(kind.elem_type, f"{name}.@elem"))

    def _object(self, kind: DeclType, name: str) -> str:
        message = f"{_PACKAGE}.T{len(self._names)}"
        self._names[message_type(message)] = name
        fields = self._messages[message] = dict[str, str]()
        for key, child in kind.fields.items():
            fields[key] = self._field(child, f"{name}.{key}")
        return message
