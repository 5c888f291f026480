"""JSON as Go writes it: `<`, `>`, `&` and two line separators are escaped, the keys of
a map are sorted (those of a struct are not), floats are plain digits unless they are
very large or small.

Upstream: Go's `encoding/json/encode.go` (`Marshal`, `floatEncoder`, `HTMLEscape`),
`indent.go` (`MarshalIndent`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from json.encoder import encode_basestring
from typing import Any

_HTML_ESCAPES = {
    "&": "\\u0026",
    "<": "\\u003c",
    ">": "\\u003e",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def html_escape(text: str) -> str:
    """JSON that can stand in HTML: no tag begins in it, and no line of JavaScript
    ends.
    """
    for character, escape in _HTML_ESCAPES.items():
        if character in text:
            text = text.replace(character, escape)
    return text


def marshal(
    value: Any,
    *,
    sort_keys: bool = False,
    as_is: Callable[[Any], str | None] | None = None,
) -> str:
    """Compact JSON. `sort_keys`: all objects are maps in Go. `as_is`: the JSON of a
    value that has some already (a `RawMessage`); None for one that has not.

    Raises TypeError for what is no JSON, ValueError for infinities and NaN.
    """
    return _Writer(sort_keys, "", as_is).written(value)


def marshal_indent(value: Any, indent: str = "    ", *, sort_keys: bool = False) -> str:
    """JSON with a line for each item and member, `indent` before it for each level."""
    return _Writer(sort_keys, indent).written(value)


class _Writer:
    def __init__(
        self,
        sort_keys: bool,
        indent: str,
        as_is: Callable[[Any], str | None] | None = None,
    ) -> None:
        self._sort_keys = sort_keys
        self._as_is = as_is
        self._indent = indent
        self._colon = ": " if indent else ":"
        self._pieces: list[str] = []

    def written(self, value: Any) -> str:
        self._write(value, "\n" if self._indent else "")
        return html_escape("".join(self._pieces))

    def _write(self, value: Any, line: str) -> None:
        """`line`: the line break and the indentation of what holds the value."""
        if self._as_is is not None and (text := self._as_is(value)) is not None:
            self._pieces.append(text)
        elif isinstance(value, str):
            self._pieces.append(encode_basestring(value))
        elif isinstance(value, Mapping) and value:
            self._write_object(value, line)
        elif isinstance(value, (list, tuple)) and value:
            separator = "["
            for item in value:
                self._pieces.append(separator + line + self._indent)
                self._write(item, line + self._indent)
                separator = ","
            self._pieces.append(line + "]")
        else:
            self._pieces.append(_scalar(value))

    def _write_object(self, value: Mapping[str, Any], line: str) -> None:
        separator, inner, colon = "{", line + self._indent, self._colon
        for key in sorted(value) if self._sort_keys else value:
            self._pieces.append(
                f"{separator}{inner}{encode_basestring(key)}{colon}",
            )
            self._write(value[key], inner)
            separator = ","
        self._pieces.append(line + "}")


def _scalar(value: Any) -> str:
    """Also an empty object or array."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return go_float(value)
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, (list, tuple)):
        return "[]"
    raise TypeError(f"json: unsupported type: {type(value).__name__}")


def go_float(value: float) -> str:
    """The shortest digits that mean the number; with an exponent below 1e-6 and from
    1e21 on. Raises ValueError for infinities and NaN.
    """
    if not math.isfinite(value):
        raise ValueError(f"json: unsupported value: {value}")
    mantissa, _, exponent = repr(value).partition("e")
    mantissa = mantissa.removesuffix(".0")
    if not exponent:
        return mantissa
    power = int(exponent)
    if not -6 <= power < 21:
        return f"{mantissa}e{power:+}"
    sign, digits = mantissa[: -len(mantissa.lstrip("-"))], mantissa.lstrip("-")
    whole, _, fraction = digits.partition(".")
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{whole}{fraction}"
    return f"{sign}{whole}{fraction.ljust(power, '0')}"
