"""Paths into a schema: of fields to select by, and of fields that a rule speaks of.

Upstream: `apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go`
(`ValidFieldPath`), v1.36.
"""

from __future__ import annotations

import re
from typing import Any

from lifecycle.api.http.wire import Object

_TOKEN = re.compile(r"'(?:\\'|[^'])*'|[.\[\]]|[^.\[\]]+")
_NOWHERE = "does not refer to a valid field"
_END = "unexpected end of JSON path"


class PathError(ValueError):
    """A path that leads nowhere, with upstream's reason."""


def field_at(
    path: str, schema: Object, *, brackets: bool = True
) -> tuple[tuple[str, ...], Object | None]:
    """The steps of a path and the schema it ends at. Without `brackets`, names in them
    are refused. Raises PathError.
    """
    node: Any = schema
    steps: list[str] = []
    tokens = iter(_TOKEN.findall(path))
    for token in tokens:
        if token == ".":
            node = _step(node, _next(tokens), steps)
        elif token != "[":
            raise PathError(f"expected [ or . but got: {token}")
        elif not brackets:
            raise PathError("array notation is not allowed")
        else:
            quoted = _next(tokens)
            if len(quoted) < 2 or quoted[0] != "'" or quoted[-1] != "'":
                raise PathError(f"expected single quoted string but got {quoted}")
            node = _step(node, quoted[1:-1].replace("\\'", "'"), steps)
            if (closing := _next(tokens)) != "]":
                raise PathError(f"expected ] but got {closing}")
    return tuple(steps), node


def _next(tokens: Any) -> str:
    token = next(tokens, None)
    if token is None:
        raise PathError(_END)
    return str(token)


def _step(node: Any, name: str, steps: list[str]) -> Any:
    properties, additional = (
        (node or {}).get("properties"),
        (node or {}).get("additionalProperties"),
    )
    steps.append(name)
    if properties:
        if name not in properties:
            raise PathError(_NOWHERE)
        return properties[name]
    if additional is None:
        raise PathError(_NOWHERE)
    return additional if isinstance(additional, dict) else None
