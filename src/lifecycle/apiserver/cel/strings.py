"""Strings: cel-go's extension of them, version 2, and Kubernetes' `find` and `findAll`.

Positions count characters. What is out of range is an error of the expression, as
everything is that these functions cannot do.

Upstream: `cel-go/ext/strings.go`, `apiserver/pkg/cel/library/regex.go`, v1.36.
"""

from __future__ import annotations

import datetime
import re
from typing import Any

from lifecycle.api.go.format import ESCAPES
from lifecycle.api.go.regexp import compile_regexp
from lifecycle.apiserver.cel.cost import charge_text
from lifecycle.apiserver.cel.declare import T, declared, function

WHITE = "".join(
    map(
        chr,
        (
            *range(9, 14),
            32,
            0x85,
            0xA0,
            0x1680,
            *range(0x2000, 0x200B),
            0x2028,
            0x2029,
            0x202F,
            0x205F,
            0x3000,
        ),
    )
)


def _char_at(text: str, index: int) -> str:
    if index < 0 or index > len(text):
        raise ValueError(f"index out of range: {index}")
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if start < 0:
        raise ValueError(f"index out of range: {start}")
    return text.find(part, start)


def _last_index_of(text: str, part: str, end: int | None = None) -> int:
    if end is not None and (end < 0 or end > len(text)):
        raise ValueError(f"index out of range: {end}")
    return text.rfind(part) if end is None else text.rfind(part, 0, end + len(part))


def _replace(text: str, old: str, new: str, limit: int = -1) -> str:
    count = text.count(old) if limit < 0 else min(text.count(old), limit)
    charge_text(len(text) + count * (len(new) - len(old)))
    return text.replace(old, new, max(limit, -1))


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if not separator:
        parts = list(text)
        return (
            parts
            if limit < 0 or len(parts) <= limit
            else [*parts[: limit - 1], "".join(parts[limit - 1 :])]
        )
    return text.split(separator, limit - 1 if limit > 0 else -1)


def _substring(text: str, start: int, end: int | None = None) -> str:
    if start < 0 or start > len(text):
        raise ValueError(f"index out of range: {start}")
    if end is None:
        return text[start:]
    if end < 0 or end > len(text):
        raise ValueError(f"index out of range: {end}")
    if start > end:
        raise ValueError(f"invalid substring range. start: {start}, end: {end}")
    return text[start:end]


def _lower(text: str) -> str:
    return "".join(c.lower() if c.isascii() else c for c in text)


def _upper(text: str) -> str:
    return "".join(c.upper() if c.isascii() else c for c in text)


def _join(items: list[Any], separator: str = "") -> str:
    if not all(isinstance(item, str) for item in items):
        raise ValueError("no such overload")
    charge_text(sum(map(len, items)) + len(separator) * len(items))
    return separator.join(items)


def format_value(value: Any) -> str:
    """A value as `%s` shows it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}" if value != int(value) else str(int(value))
    if isinstance(value, bytes | bytearray):
        return value.decode(errors="replace")
    if isinstance(value, list):
        return f"[{', '.join(format_value(item) for item in value)}]"
    if isinstance(value, dict):
        items = sorted(value.items(), key=lambda item: str(item[0]))
        pairs = (f"{format_value(k)}: {format_value(v)}" for k, v in items)
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, datetime.timedelta):
        return f"{value.total_seconds():g}s"
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    return getattr(value, "text", None) or str(value)


_CLAUSE = re.compile(r"%(%|(?:\.(\d+))?([sdfexXob]))")


def _format(template: str, values: list[Any]) -> str:
    rest = list(values)

    def clause(match: re.Match[str]) -> str:
        if match[1] == "%":
            return "%"
        if not rest:
            raise ValueError(f"index {len(values)} out of range")
        value, kind = rest.pop(0), match[3]
        if kind == "s":
            return format_value(value)
        if kind in "fe":
            digits = int(match[2]) if match[2] else 6
            charge_text(digits)
            return f"{float(value):.{digits}{kind}}"
        if kind in "xX" and isinstance(value, str | bytes | bytearray):
            text = (value.encode() if isinstance(value, str) else bytes(value)).hex()
            return text.upper() if kind == "X" else text
        if not isinstance(value, int) or (kind == "d" and isinstance(value, bool)):
            raise ValueError(
                f"error during formatting: {'decimal' if kind == 'd' else 'integer'} "
                f"clause got {format_value(value)}"
            )
        return format(value, kind)

    return _CLAUSE.sub(clause, template)


def _find(text: str, pattern: str) -> str:
    match = _compiled(pattern).search(text)
    return match[0] if match else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    matches: list[str] = []
    end = -1
    for match in _compiled(pattern).finditer(text):
        if len(matches) == limit:
            break
        if (
            match[0] or match.start() != end
        ):  # for Go, nothing does not match next to something
            matches.append(match[0])
        end = match.end()
    return matches


def _compiled(pattern: str) -> Any:
    try:
        return compile_regexp(pattern)
    except ValueError as error:
        raise ValueError(f"Illegal regex: {error}") from None


def functions() -> list[Any]:
    """Declarations. `indexOf` and `lastIndexOf` are declared with those of lists."""
    s, n, texts = T.STRING, T.INT, T.List(T.STRING)
    return [
        function("charAt", _char_at, (s, (s, n))),
        function("lowerAscii", _lower, (s, (s,))),
        function("upperAscii", _upper, (s, (s,))),
        function("trim", lambda text: text.strip(WHITE), (s, (s,))),
        declared(
            "replace", [(_replace, [(s, (s, s, s))]), (_replace, [(s, (s, s, s, n))])]
        ),
        declared(
            "split", [(_split, [(texts, (s, s))]), (_split, [(texts, (s, s, n))])]
        ),
        declared(
            "substring", [(_substring, [(s, (s, n))]), (_substring, [(s, (s, n, n))])]
        ),
        declared("join", [(_join, [(s, (texts,))]), (_join, [(s, (texts, s))])]),
        function("format", _format, (s, (s, T.List(T.DYN)))),
        function("strings.quote", quote, (s, (s,)), member=False),
        function("find", _find, (s, (s, s))),
        declared(
            "findAll",
            [(_find_all, [(texts, (s, s))]), (_find_all, [(texts, (s, s, n))])],
        ),
    ]


def positions() -> dict[str, list[Any]]:
    """The string overloads of the names that lists have as well."""
    s, n = T.STRING, T.INT
    return {
        "indexOf": [(_index_of, [(n, (s, s))]), (_index_of, [(n, (s, s, n))])],
        "lastIndexOf": [
            (_last_index_of, [(n, (s, s))]),
            (_last_index_of, [(n, (s, s, n))]),
        ],
    }


def quote(text: str) -> str:
    """A string as a literal."""
    return '"' + "".join(ESCAPES.get(c, c) for c in text) + '"'
