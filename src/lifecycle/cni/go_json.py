"""JSON as Go writes and reads it: what a plugin prints, and what libcni hands on, must
be the same bytes that the Go programs write, and what is no JSON must be refused in the
same words.

A plugin starts for every pod, so it loads nothing but Python's own modules.

Upstream: `encoding/json` (`Marshal`, `MarshalIndent`): `<`, `>` and `&` are escaped,
maps are sorted by key; `scanner.go` (`SyntaxError`).
"""

from __future__ import annotations

import json
import re
from typing import Any

_ESCAPED = str.maketrans(
    {
        "<": "\\u003c",
        ">": "\\u003e",
        "&": "\\u0026",
        "\u2028": "\\u2028",
        "\u2029": "\\u2029",
    }
)


def marshal(value: Any, *, sort: bool = True, indent: bool = False) -> str:
    """`json.Marshal` of a map (`sort`) or of a struct (not), or `json.MarshalIndent`
    with four spaces.
    """
    separators = (",", ": ") if indent else (",", ":")
    text = json.dumps(
        value,
        ensure_ascii=False,
        sort_keys=sort,
        separators=separators,
        indent=4 if indent else None,
    )
    return text.translate(_ESCAPED)


def unmarshal(text: str) -> Any:
    """The text as data. Raises ValueError with Go's complaint about the first character
    that cannot go on.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as why:
        raise ValueError(_complaint(text, why.msg, why.pos)) from None


def _complaint(text: str, said: str, at: int) -> str:
    """Python's complaint in Go's words."""
    at += said.startswith(("Invalid \\escape", "Illegal trailing comma"))
    while at < len(text) and text[at] in " \t\r\n" and not said.startswith("Invalid"):
        at += 1
    literal = next(
        (word for word in ("true", "false", "null") if text[at : at + 1] == word[0]), ""
    )
    context = next(
        (words for start, words in _CONTEXTS if said.startswith(start)),
        "looking for beginning of value",
    )
    if "'," in said:
        context = (
            "after object key:value pair"
            if _innermost(text[:at]) == "{"
            else "after array element"
        )
    elif literal and context.endswith("of value"):
        right = next(
            i
            for i in range(len(literal) + 1)
            if text[at : at + i + 1] != literal[: i + 1]
        )
        at, context = at + right, f"in literal {literal} (expecting {literal[right]!r})"
        character = text[at : at + 1] or " "  # Go's reader ends a text with a blank
        return f"invalid character {_quoted_character(character)} {context}"
    if at >= len(text) or said.startswith("Unterminated"):
        return "unexpected end of JSON input"
    return f"invalid character {_quoted_character(text[at])} {context}"


_CONTEXTS = (
    ("Extra data", "after top-level value"),
    ("Expecting property name", "looking for beginning of object key string"),
    (
        "Illegal trailing comma before end of obj",
        "looking for beginning of object key string",
    ),
    ("Expecting ':'", "after object key"),
    ("Invalid \\escape", "in string escape code"),
    ("Invalid control character", "in string literal"),
)


def _innermost(text: str) -> str:
    """The bracket that is still open at the end of a text, strings left out."""
    still_open = []
    for bracket in re.findall(r"[{}\[\]]", re.sub(r'"(?:[^"\\]|\\.)*"', "", text)):
        if bracket in "{[":
            still_open.append(bracket)
        elif still_open:
            still_open.pop()
    return still_open[-1] if still_open else ""


def _quoted_character(character: str) -> str:
    escaped = {"'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\"}.get(
        character, character
    )
    return f"'{escaped}'"


def go_quoted(text: str) -> str:
    """Go's `%q` of a name. Control characters and the like are left to
    `lifecycle.api.go_format`, which a plugin does not load.
    """
    escaped = (
        text.replace("\\", "\\\\")
        .replace('"', '\\"')
        .replace("\n", "\\n")
        .replace("\t", "\\t")
    )
    return f'"{escaped}"'
