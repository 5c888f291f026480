"""What Go's JSON decoder says of a text that is not JSON.

Clients see these words, and people search for them, so they are worth getting right.

Upstream: Go's `encoding/json` (`SyntaxError`), through `sigs.k8s.io/json`. Left out: offsets, which these messages do not show.
"""

from __future__ import annotations

import json


class _ConstantError(ValueError):
    """`NaN` and the like, which Python takes and JSON does not have; carries the first letter."""


def _no_constant(name: str) -> None:
    raise _ConstantError(name[0] if name[0] != "-" else name[:1])


def json_complaint(body: bytes) -> str:
    """What Go's JSON decoder says of a text that is not JSON."""
    text = body.decode("utf-8", "replace")
    try:
        json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        return "exceeded max depth"
    except _ConstantError as error:
        return f"invalid character '{error}' looking for beginning of value"
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()):
            return "unexpected end of JSON input"
        char = text[error.pos]
        shown = "'\\''" if char == "'" else "'\"'" if char == '"' else f"'{char}'"
        where = {
            "Expecting property name enclosed in double quotes": "looking for beginning of object key string",
            "Illegal trailing comma before end of object": "looking for beginning of object key string",
            "Expecting ':' delimiter": "after object key",
            "Extra data": "after top-level value",
            "Invalid control character at": "in string literal",
        }.get(error.msg)
        if where is None and error.msg == "Expecting ',' delimiter":
            in_array = text[: error.pos].count("[") > text[: error.pos].count("]")
            where = "after array element" if in_array else "after object key:value pair"
        return f"invalid character {shown} {where or 'looking for beginning of value'}"
    return "invalid character"
