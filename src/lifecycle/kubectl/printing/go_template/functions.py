"""The functions that every template knows, and the two that kubectl adds: `exists` and
`base64decode`.

Each gets its arguments as values (`values.py`) and may raise TemplateError with Go's
words for it.

Upstream: Go's `text/template/funcs.go`, `cli-runtime/pkg/printers/template.go`
(`base64decode`), `jsonpath.go` (`exists`), v1.36.2.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import quote_plus

from lifecycle.api.go.format import go_value
from lifecycle.kubectl.flag_values import go_base64
from lifecycle.kubectl.printing.go_fmt import sprint, sprintf, sprintln
from lifecycle.kubectl.printing.go_template.values import (
    INVALID,
    Boxed,
    Byte,
    GoInt,
    TemplateError,
    truth,
    type_of,
    unboxed,
)


@dataclass(slots=True, frozen=True)
class Function:
    """How to call a function: the types of its parameters, and whether the last may
    come any number of times.

    A parameter is `string`, `any` (Go's `interface {}`), or `value`, which sees what is
    wrapped. `run` is None for `and` and `or`, whose arguments are not all looked at,
    and for `call`, which finds nothing to call in an object.
    """

    run: Callable[..., Any] | None
    parameters: tuple[str, ...]
    variadic: bool = False


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _place(index: Any, size: int) -> int:
    index = unboxed(index)
    if index is INVALID:
        raise TemplateError("cannot index slice/array with nil")
    if isinstance(index, bool) or not isinstance(index, int):
        raise TemplateError(f"cannot index slice/array with type {type_of(index)}")
    if not 0 <= index <= size:
        raise TemplateError(f"index out of range: {index}")
    return index


def _index(item: Any, *indexes: Any) -> Any:
    item = item if not isinstance(item, Boxed) else unboxed(item)
    if item is INVALID:
        raise TemplateError("index of untyped nil")
    for index in indexes:
        item = unboxed(item)
        if item is INVALID:
            raise TemplateError("index of nil pointer")
        if isinstance(item, (list, str)):
            whole = _bytes(item) if isinstance(item, str) else item
            at = _place(index, len(whole))
            if at == len(whole):
                raise TemplateError(
                    f"reflect: {'string' if isinstance(item, str) else 'slice'} index"
                    " out of range"
                )
            item = Byte(whole[at]) if isinstance(item, str) else Boxed(whole[at])
        elif isinstance(item, dict):
            key = unboxed(index)
            if key is INVALID:
                raise TemplateError("value is nil; should be of type string")
            if not isinstance(key, str):
                raise TemplateError(f"value has type {type_of(key)}; should be string")
            item = Boxed(item.get(key))
        else:
            raise TemplateError(f"can't index item of type {type_of(item)}")
    return item


def _slice(item: Any, *indexes: Any) -> Any:
    item = unboxed(item)
    if item is INVALID:
        raise TemplateError("slice of untyped nil")
    if len(indexes) > 3:
        raise TemplateError(f"too many slice indexes: {len(indexes)}")
    if not isinstance(item, (list, str)):
        raise TemplateError(f"can't slice item of type {type_of(item)}")
    if isinstance(item, str) and len(indexes) == 3:
        raise TemplateError("cannot 3-index slice a string")
    whole = _bytes(item) if isinstance(item, str) else item
    places = [_place(index, len(whole)) for index in indexes]
    start, end = (*places[:2], *[0, len(whole)][len(places[:2]) :])
    bounds = [start, end, *places[2:]]
    for low, high in pairwise(bounds):
        if low > high:
            raise TemplateError(f"invalid slice index: {low} > {high}")
    cut = whole[start:end]
    return cut.decode(errors="surrogateescape") if isinstance(cut, bytes) else cut


def _len(item: Any) -> Any:
    if isinstance(item, Boxed) and item.value is None:
        raise TemplateError("len of nil pointer")
    item = unboxed(item)
    if item is INVALID:
        raise TemplateError("reflect: call of reflect.Value.Type on zero Value")
    if isinstance(item, str):
        return GoInt(len(_bytes(item)))
    if isinstance(item, (dict, list)):
        return GoInt(len(item))
    raise TemplateError(f"len of type {type_of(item)}")


def _kind(value: Any) -> str:
    """What can be compared with each other; empty for what has no order and no
    equal.
    """
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    return (
        "float"
        if isinstance(value, float)
        else "string"
        if isinstance(value, str)
        else ""
    )


def _eq(left: Any, *rights: Any) -> bool:
    left = unboxed(left)
    if not rights:
        raise TemplateError("missing argument for comparison")
    for each in rights:
        right = unboxed(each)
        if _kind(left) != _kind(right):
            if left is not INVALID and right is not INVALID:
                raise _incompatible(left, right)
        elif _kind(left):
            if left == right:
                return True
        elif left is INVALID or right is INVALID:
            if left is right:
                return True
        elif type(left) is not type(right):
            types = (
                f"{_in_words(left)}: {type_of(left)}, {type_of(right)}:"
                f" {go_value(right)}"
            )
            raise TemplateError(f"non-comparable types {types}")
        else:
            raise TemplateError(
                f"non-comparable type {_in_words(left)}: {type_of(right)}"
            )
    return False


def _in_words(value: Any) -> str:
    return sprintf("%s", [value], type_of)


def _incompatible(left: Any, right: Any) -> TemplateError:
    return TemplateError(
        f"incompatible types for comparison: {type_of(left)} and {type_of(right)}"
    )


def _lt(left: Any, right: Any) -> bool:
    left, right = unboxed(left), unboxed(right)
    if not _kind(left) or not _kind(right):
        raise TemplateError("invalid type for comparison")
    if _kind(left) != _kind(right):
        raise _incompatible(left, right)
    if isinstance(left, bool):
        raise TemplateError("invalid type for comparison")
    return bool(left < right)


def _le(left: Any, right: Any) -> bool:
    return _lt(left, right) or _eq(left, right)


def _eval_args(values: tuple[Any, ...]) -> str:
    if len(values) == 1 and isinstance(values[0], str):
        return values[0]
    return sprint(
        ["<no value>" if value is None else value for value in values], type_of
    )


_HTML = {
    "\0": "\N{REPLACEMENT CHARACTER}",
    '"': "&#34;",
    "'": "&#39;",
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
}
_JS = {
    "\\": "\\\\",
    "'": "\\'",
    '"': '\\"',
    "<": "\\u003C",
    ">": "\\u003E",
    "&": "\\u0026",
    "=": "\\u003D",
}


def _js_letter(match: re.Match[str]) -> str:
    letter = match[0]
    if letter in _JS:
        return _JS[letter]
    return letter if letter >= " " and letter.isprintable() else f"\\u{ord(letter):04X}"


def _html(*values: Any) -> str:
    return re.sub("[\0\"'&<>]", lambda match: _HTML[match[0]], _eval_args(values))


def _js(*values: Any) -> str:
    return re.sub(r"[\\'\"<>&=]|[^ -~]", _js_letter, _eval_args(values))


def _urlquery(*values: Any) -> str:
    return quote_plus(_eval_args(values), safe="-_.~")


def _exists(item: Any, *indexes: Any) -> bool:
    for index in indexes:
        if isinstance(item, dict):
            if index is not None and not isinstance(index, str):
                return False
            item = item.get(index or "")
        elif isinstance(item, (list, str)):
            whole = _bytes(item) if isinstance(item, str) else item
            if (
                isinstance(index, bool)
                or not isinstance(index, int)
                or not 0 <= index < len(whole)
            ):
                return False
            item = whole[index]
        else:
            return False
    return (
        not indexes or item is not None
    )  # with nothing to look up, Go does not look either


def _base64decode(text: str) -> str:
    try:
        return go_base64(text).decode(errors="surrogateescape")
    except ValueError as error:
        raise TemplateError(f"base64 decode failed: {error}") from None


FUNCTIONS: dict[str, Function] = {
    "and": Function(None, ("value", "value"), True),
    "or": Function(None, ("value", "value"), True),
    "not": Function(lambda value: not truth(value), ("value",)),
    "call": Function(None, ("value", "value"), True),
    "index": Function(_index, ("value", "value"), True),
    "slice": Function(_slice, ("value", "value"), True),
    "len": Function(_len, ("value",)),
    "eq": Function(_eq, ("value", "value"), True),
    "ne": Function(lambda left, right: not _eq(left, right), ("value", "value")),
    "lt": Function(_lt, ("value", "value")),
    "le": Function(_le, ("value", "value")),
    "gt": Function(lambda left, right: not _le(left, right), ("value", "value")),
    "ge": Function(lambda left, right: not _lt(left, right), ("value", "value")),
    "print": Function(lambda *values: sprint(values, type_of), ("any",), True),
    "printf": Function(
        lambda form, *values: sprintf(form, values, type_of), ("string", "any"), True
    ),
    "println": Function(lambda *values: sprintln(values, type_of), ("any",), True),
    "html": Function(_html, ("any",), True),
    "js": Function(_js, ("any",), True),
    "urlquery": Function(_urlquery, ("any",), True),
    "exists": Function(_exists, ("any", "any"), True),
    "base64decode": Function(_base64decode, ("string",)),
}
