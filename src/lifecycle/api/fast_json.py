"""JSON for who reads or writes much: `orjson`, or where that cannot be loaded (in a
browser tab) the standard library's with the same manners.
"""

from __future__ import annotations

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
    "loads",
    "trimmed",
)


def trimmed(data: bytes) -> bytes:
    """The same bytes in no more room than they need. For whatever is kept: what orjson
    hands out has all the room that was taken for it, 4 KiB for the shortest text and
    8 for the next, and a store full of objects would be five times as large.
    """
    return b"%b" % data
