"""What the library complains about, as cel-go words it.

cel-go and the library here say the same things in other words, and of expressions with
literals (`object_literals`) the library has seen another text than was written.

Upstream: cel-go v0.26 (`checker/errors.go`, `common/errors.go`, `common/types`).
"""

from __future__ import annotations

import re

from lifecycle.apiserver.cel import object_literals
from lifecycle.apiserver.cel.types import PACKAGE

_STATUS = re.compile(r"^(?!ERROR: )[A-Z_]+: |\s*\[[A-Z_]+\]$")
_UNDECLARED = re.compile(
    r"ERROR: <input>:(\d+):(\d+): undeclared reference to '([\w.]+)' (\(in container"
    r" '.*?'\))\n( \| .*)\n \| (\.*)\^"
)
_UNDEFINED = re.compile(
    r"undefined field '(\w+)' not found in (?:struct|type|message) '[\w.]+'"
)
_NO_FIELDS = re.compile(
    r"expression of type '([^']*)' cannot be the operand of a select operation"
)
_OF_AN_ERROR = re.compile(
    r"(?<!\A)\nERROR: <input>:\d+:\d+: expression of type '\*error\*' cannot be the"
    r" operand of a select operation\n \| .*\n \| \.*\^"
)
_WORDS = {
    "cannot be the range of a comprehension": "cannot be range of a comprehension",
    "has() argument must be a field selection": "invalid argument to has() macro",
}
_NULL = re.compile(r"(applied to '.*)\bnull_type\b")
_OVERLOAD = re.compile(
    r"(ERROR: <input>:\d+:(\d+): found no matching overload for '(\w+)' applied to )"
    r"'\((.*)\)'\n \| (.*)"
)
_WELL_KNOWN = re.compile(r"\bgoogle\.protobuf\.(Timestamp|Duration)\b")

IN_THE_WAY = re.compile(
    rf"Syntax error|undeclared reference to '{object_literals.TEXT_FIELD}'"
)
"""A syntax in which a check's brackets, that nobody has written, play a part."""

_UNKNOWN = re.compile(r"\bT%\d+")  # a type that nothing decides
_ERROR = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)\n \| .*\n \| \.*\^")


def as_written(text: str, written: str, places: list[int], expression: str) -> str:
    """Complaints about a rewritten expression, at the places in the one that was
    written (`object_literals.rewritten`).
    """
    return _ERROR.sub(lambda match: _moved(match, written, places, expression), text)


def _moved(
    match: re.Match[str], written: str, places: list[int], expression: str
) -> str:
    starts = [0, *(index + 1 for index, char in enumerate(written) if char == "\n")]
    place = places[min(starts[int(match[1]) - 1] + int(match[2]) - 1, len(places) - 1)]
    message = object_literals.wrong_field(match[3], expression, place)
    return error_at(place, message, expression)


def error_at(place: int, message: str, expression: str) -> str:
    """A complaint about a place in an expression, with the line and a mark below it."""
    before, line = expression[:place], expression[:place].count("\n") + 1
    column = place - (before.rfind("\n") + 1)
    return (
        f"ERROR: <input>:{line}:{column + 1}: {message}\n |"
        f" {expression.splitlines()[line - 1]}\n | {'.' * column}^"
    )


def compiler_message(text: str) -> str:
    """The compiler's complaint, with the places and words of cel-go's."""
    text = _STATUS.sub("", text).strip("\n")

    def moved(match: re.Match[str]) -> str:
        line, column, name, container, source, dots = match.groups()
        root, _, _ = name.partition(".")
        if root == name:
            return match[0]
        if root == "variables":
            return (
                f"ERROR: <input>:{line}:{column}: undefined field"
                f" '{name.partition('.')[2]}'\n{source}\n | {dots}^"
            )
        start = max(0, source[3:].find(name, max(0, int(column) - len(name) - 1)))
        return (
            f"ERROR: <input>:{line}:{start + 1}: undeclared reference to '{root}'"
            f" {container}\n{source}\n | {'.' * start}^"
        )

    text = _OF_AN_ERROR.sub("", text)  # what is wrong with it has been said
    text = _NO_FIELDS.sub(r"type '\1' does not support field selection", text)
    text = _WELL_KNOWN.sub(lambda match: match[1].lower(), text)
    text = text.replace(f"{PACKAGE}.net.", "net.")
    for words, others in _WORDS.items():
        text = text.replace(words, others)
    text = _NULL.sub(r"\1null", text)
    text = _OVERLOAD.sub(_of_receiver, text)
    unknown = list(dict.fromkeys(_UNKNOWN.findall(text)))
    text = _UNKNOWN.sub(lambda match: f"_var{unknown.index(match[0])}", text)
    return _UNDEFINED.sub(r"undefined field '\1'", _UNDECLARED.sub(moved, text))


def _of_receiver(match: re.Match[str]) -> str:
    """`A.(B)` instead of `(A, B)` where a method is called."""
    before, column, name, kinds, source = match.groups()
    called = source[: int(column) - 1].rstrip()
    if not re.search(rf"\.\s*{name}$", called):
        return match[0]
    receiver, rest = _first_type(kinds)
    return f"{before}'{receiver}.({rest})'\n | {source}"


def _first_type(kinds: str) -> tuple[str, str]:
    depth = 0
    for place, sign in enumerate(kinds):
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            return kinds[:place], kinds[place + 1 :].strip()
    return kinds, ""


_RUNTIME = (
    (re.compile(r"Key not found in map : \"?(.*?)\"?$"), r"no such key: \1"),
    (re.compile(r"Index error: index=(-?\d+) size=\d+$"), r"index out of bounds: \1"),
    (
        re.compile(
            r"No matching overloads found.*|Applying SELECT to non-message type",
            re.DOTALL,
        ),
        "no such overload",
    ),
    (re.compile(r"(?:divide|modulus) by zero$"), "division by zero"),
    (
        re.compile("malformed UTF-8 bytes$"),
        "invalid UTF-8 in bytes, cannot convert to string",
    ),
    (
        re.compile(r"No value with name \"?(.*?)\"? found in Activation.*"),
        r"no such attribute(s): \1",
    ),
)


def runtime_message(text: str) -> str:
    """What went wrong with the values, in cel-go's words."""
    text = _STATUS.sub("", text)
    for pattern, words in _RUNTIME:
        match = pattern.search(text)
        if match:
            return match.expand(words)
    return text
