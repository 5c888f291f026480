"""Go's complaints about JSON that is none.

Upstream: Go's `encoding/json/scanner.go` (`SyntaxError`). Enough of the scanner to name
the first offending character in its context.
"""

from __future__ import annotations

import orjson

_LITERALS = (("true", "true"), ("false", "false"), ("null", "null"))


def json_object_complaint(data: bytes) -> str:
    """What `json.Unmarshal` into a map says about some bytes; empty if they hold an
    object (or null).
    """
    try:
        value = orjson.loads(data)
    except ValueError:
        return _syntax_complaint(data.decode("utf-8", "replace"))
    if value is None or isinstance(value, dict):
        return ""
    kind = {bool: "bool", str: "string", int: "number", float: "number", list: "array"}[
        type(value)
    ]
    return (
        f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
    )


def _quoted(char: str) -> str:
    if char == "'":
        return "'\\''"
    if char == '"':
        return "'\"'"
    return (
        "'" + char.encode("unicode_escape").decode() + "'"
        if not char.isprintable()
        else f"'{char}'"
    )


class _Stop(Exception):
    pass


def _syntax_complaint(text: str) -> str:
    try:
        rest = _value(text, _space(text, 0), "looking for beginning of value")
        rest = _space(text, rest)
        if rest < len(text):
            return f"invalid character {_quoted(text[rest])} after top-level value"
    except _Stop as stop:
        return str(stop)
    return "unexpected end of JSON input"


def _space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _char(text: str, at: int) -> str:
    if at >= len(text):
        raise _Stop("unexpected end of JSON input")
    return text[at]


def _fail(char: str, context: str) -> _Stop:
    return _Stop(f"invalid character {_quoted(char)} {context}")


def _value(text: str, at: int, context: str) -> int:
    char = _char(text, at)
    if char == "{":
        return _object(text, at + 1)
    if char == "[":
        return _array(text, at + 1)
    if char == '"':
        return _string(text, at + 1)
    for literal, name in _LITERALS:
        if char == literal[0]:
            for index, wanted in enumerate(literal[1:], 1):
                found = _char(text, at + index)
                if found != wanted:
                    raise _fail(
                        found, f"in literal {name} (expecting {_quoted(wanted)})"
                    )
            return at + len(literal)
    if char == "-" or char.isdigit():
        at += 1
        while at < len(text) and text[at] in "0123456789+-.eE":
            at += 1
        return at
    raise _fail(char, context)


def _string(text: str, at: int) -> int:
    while True:
        char = _char(text, at)
        if char == '"':
            return at + 1
        if char < " ":
            raise _fail(char, "in string literal")
        if char == "\\":
            escaped = _char(text, at + 1)
            if escaped not in 'bfnrt\\/"u':
                raise _fail(escaped, "in string escape code")
            at += 1
        at += 1


def _object(text: str, at: int) -> int:
    at = _space(text, at)
    if _char(text, at) == "}":
        return at + 1
    while True:
        at = _space(text, at)
        if _char(text, at) != '"':
            raise _fail(text[at], "looking for beginning of object key string")
        at = _space(text, _string(text, at + 1))
        if _char(text, at) != ":":
            raise _fail(text[at], "after object key")
        at = _space(
            text, _value(text, _space(text, at + 1), "looking for beginning of value")
        )
        char = _char(text, at)
        if char == "}":
            return at + 1
        if char != ",":
            raise _fail(char, "after object key:value pair")
        at += 1


def _array(text: str, at: int) -> int:
    at = _space(text, at)
    if _char(text, at) == "]":
        return at + 1
    while True:
        at = _space(
            text, _value(text, _space(text, at), "looking for beginning of value")
        )
        char = _char(text, at)
        if char == "]":
            return at + 1
        if char != ",":
            raise _fail(char, "after array element")
        at += 1
