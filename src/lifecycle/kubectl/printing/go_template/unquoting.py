"""Texts and letters as Go's source code has them.

Upstream: Go's `strconv` (`Unquote`, `UnquoteChar`).
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"\\(?:([abfnrtv\\'\"])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3}))"
)
_NAMED = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
}


def unquote(text: str) -> str:
    """What stands between quotes or backticks. Raises ValueError."""
    if text[0] == "`":
        return text[1:-1].replace("\r", "")
    out = bytearray()
    at, end = 1, len(text) - 1
    while at < end:
        if text[at] != "\\":
            out += text[at].encode(errors="surrogateescape")
            at += 1
            continue
        match = _ESCAPE.match(text, at, end)
        if match is None or (match[1] in tuple("'\"") and match[1] != text[0]):
            raise ValueError("invalid syntax")
        out += _meant(match)
        at = match.end()
    return out.decode(errors="surrogateescape")


def _meant(match: re.Match[str]) -> bytes:
    if match[1]:
        return _NAMED[match[1]].encode()
    if match[2] or match[5]:
        value = int(match[2], 16) if match[2] else int(match[5], 8)
        if value > 255:
            raise ValueError("invalid syntax")
        return bytes([value])
    code = int(match[3] or match[4], 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise ValueError("invalid syntax")
    return chr(code).encode()
