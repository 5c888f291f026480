"""JSON for who reads or writes much: `orjson`, or where that cannot be loaded (in a
browser tab) the standard library's with the same manners.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

try:
    from orjson import (
        OPT_APPEND_NEWLINE,
        OPT_INDENT_2,
        OPT_NON_STR_KEYS,
        OPT_SORT_KEYS,
        JSONDecodeError,
        JSONEncodeError,
        dumps,
        loads,
    )
except ImportError:
    from lifecycle.api.plain_json import (  # type: ignore[assignment]
        OPT_APPEND_NEWLINE,
        OPT_INDENT_2,
        OPT_NON_STR_KEYS,
        OPT_SORT_KEYS,
        JSONDecodeError,
        JSONEncodeError,
        dumps,
        loads,
    )

__all__ = (
    "OPT_APPEND_NEWLINE",
    "OPT_INDENT_2",
    "OPT_NON_STR_KEYS",
    "OPT_SORT_KEYS",
    "JSONDecodeError",
    "JSONEncodeError",
    "dumps",
    "dumps_in_parts",
    "loads",
    "trimmed",
)

AT_ONCE = 100
"""Members of a long map or list that are encoded in one go."""


def trimmed(data: bytes) -> bytes:
    """The same bytes in no more room than they need. For whatever is kept: what orjson
    hands out has all the room that was taken for it, 4 KiB for the shortest text and
    8 for the next, and a store full of objects would be five times as large.
    """
    return b"%b" % data


def dumps_in_parts(value: Any, depth: int = 4) -> bytes:
    """What `dumps` gives, for what may be very large: the encoder has the interpreter
    for as long as it runs, and nobody else does anything meanwhile. So it is called for
    one part after the other, down to a depth. Raises JSONEncodeError.
    """
    return _in_parts(value, 0, depth)


def _in_parts(value: Any, level: int, depth: int) -> bytes:
    if level == depth or not isinstance(value, dict | list):
        return _part(value, level)
    if isinstance(value, dict) and len(value) <= AT_ONCE:
        parts = [
            b"".join((dumps(name), b":", _in_parts(member, level + 1, depth)))
            for name, member in value.items()
        ]
    else:
        kind = type(value)
        rest = iter(value.items() if isinstance(value, dict) else value)
        portions = iter(lambda: kind(islice(rest, AT_ONCE)), kind())
        parts = [_part(portion, level)[1:-1] for portion in portions]
    begin, end = (b"{", b"}") if isinstance(value, dict) else (b"[", b"]")
    return b"".join((begin, b",".join(parts), end))


def _part(value: Any, level: int) -> bytes:
    """As deep inside as it stands in the whole, since the encoder has a limit."""
    for _ in range(level):
        value = [value]
    return dumps(value)[level : -level or None]
