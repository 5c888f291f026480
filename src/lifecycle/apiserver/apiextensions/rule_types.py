"""Where the rules of a schema are compiled when a definition is written: `self` is of
the schema's type, so a misspelt field is found before there is an object.

Upstream: `apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go`
(`prepareEnvSet`, `generateUniqueSelfTypeName`), `apiserver/pkg/cel/types.go`
(`MaybeAssignTypeName`, `FindStructFieldType`), v1.36. Left out: what is in a list
within a list, or in a map within one, may be anything, since the library's fields
cannot say more.
"""

from __future__ import annotations

import re
import time
from functools import cached_property
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.bounded_cache import short_lru_cache
from lifecycle.api.extras import MissingExtraError
from lifecycle.apiserver.cel.decl_type import DeclType
from lifecycle.apiserver.cel.environment import (
    DYN,
    CompileError,
    Environment,
    Program,
    message_type,
)
from lifecycle.apiserver.cel.escaping import RESERVED, unescaped
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


Shape = str | list[Any] | dict[str, Any]
"""A type without its sizes, as JSON: `"int"`, `["list", "int"]`, `{"a": "int"}`."""


def rule_types(decl_type: DeclType) -> RuleTypes:
    """Those of a type. Many are of one shape: texts, lists of texts."""
    return _rule_types(fast_json.dumps(_shape(decl_type)))


def _shape(decl_type: DeclType) -> Shape:
    if decl_type.kind == "object":
        return {key: _shape(child) for key, child in decl_type.fields.items()}
    if decl_type.elem_type is not None:
        return [decl_type.kind, _shape(decl_type.elem_type)]
    return decl_type.kind


@short_lru_cache(64, 2048)
def _rule_types(shape: bytes) -> RuleTypes:
    return RuleTypes(fast_json.loads(shape))


class RuleTypes:
    """The types of `self` and of all that is in it. What upstream calls them changes
    with each compilation, so that nobody relies on it.
    """

    def __init__(self, shape: Shape) -> None:
        self._messages: dict[str, dict[str, str]] = {}
        self._names: dict[str, str] = {}
        self._shape = shape

    @cached_property
    def _environments(self) -> tuple[Environment, Environment]:
        """Where `oldSelf` is there, where it is optional."""
        name = f"selfType{time.time_ns() % 1_000_000_000}"
        kind = self._variable(self._shape, name)
        pool = None
        if self._messages:
            pool = build_types({**MESSAGES, **self._messages}).pool
        return (
            Environment({"self": kind, "oldSelf": kind}, pool=pool),
            Environment({"self": kind, "old__self": kind}, pool=pool, bindings=True),
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

    def _variable(self, shape: Shape, name: str) -> Any:
        if isinstance(shape, dict):
            return library_type(message_type(self._object(shape, name)))
        if isinstance(shape, str):
            return library_type(DYN if shape == "dyn" else shape.upper())
        if shape[0] == "list":
            return T.List(self._variable(shape[1], f"{name}.@idx"))
        return T.Map(T.STRING, self._variable(shape[1], f"{name}.@elem"))

    def _field(self, shape: Shape, name: str) -> str:
        if isinstance(shape, dict):
            return self._object(shape, name)
        if isinstance(shape, str):
            return _FIELDS[shape]
        if shape[0] == "list":
            return list_of(self._field(shape[1], f"{name}.@idx"))
        return map_of(self._field(shape[1], f"{name}.@elem"))

    def _object(self, fields: dict[str, Any], name: str) -> str:
        message = f"{_PACKAGE}.T{len(self._names)}"
        self._names[message_type(message)] = name
        described = self._messages[message] = dict[str, str]()
        for key, shape in fields.items():
            described[key] = self._field(shape, f"{name}.{key}")
            if unescaped(key) in RESERVED:  # `self.namespace` is understood, too
                described[unescaped(key)] = described[key]
        return message
