"""What compiles, and is refused all the same: lists and maps of several types, times
and patterns that are none.

Upstream: cel-go's `cel/validator.go` (`ValidateHomogeneousAggregateLiterals`,
`ValidateDurationLiterals`, `ValidateTimestampLiterals`, `ValidateRegexLiterals`),
v0.26; `apiserver/pkg/cel/environment/base.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lifecycle.api import fast_json
from lifecycle.api.go.regexp import compile_regexp
from lifecycle.apiserver.cel import object_literals
from lifecycle.apiserver.cel.syntax import (
    DYN,
    Call,
    CheckedExpression,
    Constant,
    CreateList,
    CreateMap,
    Node,
    Type,
    parts_of,
)

_TIMES = ("duration", "timestamp")


def literal_errors(
    checked: CheckedExpression, evaluates: Callable[[str], bool]
) -> list[tuple[int, str]]:
    """Where something is wrong, and what. `evaluates`: whether a call of a function
    with a text has a value.
    """
    found = list(_mixed(checked))
    for part in checked.parts() if not found else ():
        if not isinstance(part, Call) or not part.args:
            continue
        text = part.args[0]
        if not isinstance(text, Constant) or not isinstance(text.value, str):
            continue
        if part.function in _TIMES:
            fine = evaluates(f"{part.function}({fast_json.dumps(text.value).decode()})")
        elif part.function == "matches":
            fine = _is_regexp(text.value)
        else:
            continue
        if not fine:
            place = checked.offsets.get(text.id, 0)
            found.append((place, f"invalid {part.function} argument"))
    return sorted(found)


def _mixed(checked: CheckedExpression) -> Iterator[tuple[int, str]]:
    calls = (part for part in checked.parts() if isinstance(part, Call))
    formatted = {
        inner.id
        for call in calls
        if call.function == "format"
        for inner in parts_of(call)
    }
    for part in checked.parts():
        if part.id in formatted:  # `'%s is %d'.format(['a', 1])`
            continue
        if isinstance(part, CreateList):
            yield from list(_differing(checked, part.elements, part.optional))[:1]
        elif isinstance(part, CreateMap) and not _is_object(part):
            keys = [key for key, _ in part.entries]
            values = [value for _, value in part.entries]
            yield from _differing(checked, keys, frozenset())
            yield from _differing(checked, values, part.optional)


def _is_object(part: CreateMap) -> bool:
    """Whether it was `Object{}` before it was rewritten."""
    keys = (key.value for key, _ in part.entries if isinstance(key, Constant))
    return object_literals.TYPE in keys


def _differing(
    checked: CheckedExpression, nodes: list[Node], optional: frozenset[int]
) -> Iterator[tuple[int, str]]:
    first: Type | None = None
    for index, node in enumerate(nodes):
        kind = checked.types.get(node.id, DYN)
        if index in optional and kind.parameters:
            kind = kind.parameters[0]
        if first is None:
            first = kind
        elif kind != first:
            place = checked.offsets.get(node.id, 0)
            yield place, f"expected type '{first}' but found '{kind}'"


def _is_regexp(pattern: str) -> bool:
    try:
        compile_regexp(pattern)
    except ValueError:
        return False
    return True
