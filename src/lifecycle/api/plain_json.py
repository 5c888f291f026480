"""JSON as `orjson` reads and writes it, by the standard library alone.

For where no compiled library can be loaded: a browser tab. It is the same to the byte
(the tests hold one against the other), and some ten times slower.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass
from datetime import datetime
from json import JSONDecodeError
from typing import Any

OPT_APPEND_NEWLINE = 1 << 10
OPT_INDENT_2 = 1
OPT_NON_STR_KEYS = 1 << 2
OPT_SORT_KEYS = 1 << 5

_STRING_OR_EXPONENT = re.compile(
    r'"(?:[^"\\]|\\.)*"|(\d)(?:\.(\d+))?e-0(\d)', re.DOTALL
)
"""A string, or a small number's first digit, the others, and its exponent."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class JSONEncodeError(TypeError):
    """What JSON has no word for."""


def loads(data: bytes | bytearray | memoryview | str) -> Any:
    """The value that a text describes. Numbers beyond 64 bits become floats.

    Raises JSONDecodeError (a ValueError): also for what the standard library lets pass,
    `NaN`, half a surrogate pair, and nesting that is too deep.
    """
    try:
        text = data if isinstance(data, str) else bytes(data).decode()
    except UnicodeDecodeError as error:
        raise JSONDecodeError("str is not valid UTF-8", "", error.start) from None
    if _SURROGATE.search(text):
        raise JSONDecodeError("str is not valid UTF-8", "", 0)
    try:
        value = json.loads(
            text, parse_int=_integer, parse_float=_finite, parse_constant=_no_constant
        )
    except RecursionError:
        raise JSONDecodeError("recursion limit reached", text, 0) from None
    if "\\ud" in text or "\\uD" in text:
        _refuse_surrogates(value, text)
    return value


def _integer(digits: str) -> int | float:
    if len(digits) < 19:
        return int(digits)
    number = int(digits) if len(digits) < 400 else None
    if number is not None and -(1 << 63) <= number < 1 << 64:
        return number
    return _finite(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if number - number != 0:
        raise JSONDecodeError("number out of range", digits[:40], 0)
    return number


def _no_constant(name: str) -> Any:
    raise JSONDecodeError("unexpected character", name, 0)


def _refuse_surrogates(value: Any, text: str) -> None:
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise JSONDecodeError("lone leading surrogate in hex escape", text, 0)
    elif isinstance(value, dict):
        for key, item in value.items():
            _refuse_surrogates(key, text)
            _refuse_surrogates(item, text)
    elif isinstance(value, list):
        for item in value:
            _refuse_surrogates(item, text)


def dumps(value: Any, default: None = None, option: int = 0) -> bytes:
    """A value as compact UTF-8. Raises JSONEncodeError."""
    indent = 2 if option & OPT_INDENT_2 else None
    try:
        text = json.dumps(
            value,
            ensure_ascii=False,
            indent=indent,
            separators=(",", ":" if indent is None else ": "),
            default=_part,
            sort_keys=bool(option & OPT_SORT_KEYS),
            allow_nan=False,
        )
    except ValueError:  # orjson writes null for what is no number, json refuses it
        return dumps(_without_nan(value), default, option)
    except RecursionError as error:
        raise JSONEncodeError("Recursion limit reached") from error
    except TypeError as error:
        raise JSONEncodeError(str(error)) from error
    if "e-0" in text:
        text = _STRING_OR_EXPONENT.sub(_short_exponent, text)
    if option & OPT_APPEND_NEWLINE:
        text += "\n"
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        message = "str is not valid UTF-8: surrogates not allowed"
        raise JSONEncodeError(message) from error


def _part(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"Type is not JSON serializable: {type(value).__name__}")


def _short_exponent(match: re.Match[str]) -> str:
    """As orjson writes it: five places need no exponent, others one digit of it."""
    digit, more, exponent = match.groups()
    if digit is None:  # a string, whatever it holds
        return match[0]
    if exponent == "5":
        return f"0.0000{digit}{more or ''}"
    return f"{digit}{'.' + more if more else ''}e-{exponent}"


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return value
