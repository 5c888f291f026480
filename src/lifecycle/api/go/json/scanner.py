"""What Go says of a text that is not JSON.

Clients see these words, and people search for them, so they are worth getting right. Go
reads byte by byte and complains of the first byte that cannot go on; what it says
depends on what it was in the middle of.

Upstream: Go's `encoding/json/scanner.go` (`checkValid`, `SyntaxError`), the same in
`sigs.k8s.io/json`. Left out: offsets, which these messages do not show.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import NamedTuple

MAX_DEPTH = 10_000
"""How many arrays and objects Go opens before it gives up: `maxNestingDepth`."""
_END = "unexpected end of JSON input"
_SPACE = re.compile(rb"[ \t\r\n]*+")


def _repeated(group: bytes, times: bytes = b"*") -> bytes:
    """A group as often as it comes, and never tried again. Before Python 3.11.5 `*+`
    goes on from where the last, failing attempt had come to; the other form, which does
    not, takes four times as long.
    """
    form = b"%b%b+" if sys.version_info >= (3, 11, 5) else b"(?>%b%b)"
    return form % (group, times)


_PLAIN = rb'[^"\\\x00-\x1f]*+' + _repeated(
    rb'(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)'
)
_IN_STRING = re.compile(_PLAIN)
_ESCAPE = re.compile(rb"\\u([0-9a-fA-F]{0,3})")
_STRIDE_DEPTH = 4
WINDOW = 64 << 10
"""Bytes that are passed over in one go, more than an escape has: a few milliseconds."""


class _Patterns(NamedTuple):
    items: re.Pattern[bytes]
    members: re.Pattern[bytes]
    openings: re.Pattern[bytes]
    opening: re.Pattern[bytes]


@cache
def _patterns() -> _Patterns:
    """What passes over many items (members) with their commas at once, if they nest at
    most `_STRIDE_DEPTH` deep.

    Nothing is tried twice (`*+`, `(?>…)`), so an attempt is linear; one that fails is
    repeated once for each level that it went into.
    """
    space, string = rb"[ \t\r\n]*+", b'"%b"' % _PLAIN
    number = rb"-?+(?:0|[1-9][0-9]*+)(?>(?:\.[0-9]++)?)(?>(?:[eE][+-]?+[0-9]++)?)"
    value = b"(?:%b|%b|true|false|null)" % (string, number)
    for _ in range(_STRIDE_DEPTH):
        item = rb"(?:%b%b(?:,%b(?!\])|(?=\])))" % (value, space, space)
        items = rb"\[%b%b\]" % (space, _repeated(item))
        member = rb"(?:%b%b:%b%b%b(?:,%b(?!\})|(?=\})))" % (
            string,
            space,
            space,
            value,
            space,
            space,
        )
        members = rb"\{%b%b\}" % (space, _repeated(member))
        value = b"(?:%b|%b|%b|%b|true|false|null)" % (string, number, items, members)
    end = b"%b,%b" % (space, space)
    member = b"%b%b:%b%b" % (string, space, space, value)
    opening = rb"\[%b(?!\])|(\{)%b%b%b:%b" % (space, space, string, space, space)
    patterns = (
        _repeated(b"(?:%b%b)" % (value, end)),
        _repeated(b"(?:%b%b)" % (member, end)),
        _repeated(b"(?:%b)" % opening, b"{0,4096}"),  # more are too many soon
        opening,
    )
    return _Patterns(*map(re.compile, patterns))


_CLOSINGS = re.compile(rb"[\]}][\]} \t\r\n]*+")
_OPENED_BY = bytes.maketrans(b"]}", b"[{")
_LITERALS = {b"t": b"true", b"f": b"false", b"n": b"null"}
_DIGITS = re.compile(rb"[0-9]+")
_ESCAPES = {
    7: "\\a",
    8: "\\b",
    9: "\\t",
    10: "\\n",
    11: "\\v",
    12: "\\f",
    13: "\\r",
    34: '"',
    39: "\\'",
    92: "\\\\",
}


class _ComplaintError(Exception):
    """Ends the reading; carries what Go says."""


def syntax_error_message(body: bytes) -> str:
    """What Go's JSON decoder says of a text; empty if it is JSON after all."""
    try:
        _read(body)
    except _ComplaintError as complaint:
        return str(complaint)
    return ""


def _complain(
    body: bytes, at: int, where: str, *, in_token: bool = False
) -> _ComplaintError:
    """A text that ends within a literal, a number or an escape is read as if a space
    followed.
    """
    if at >= len(body) and not in_token:
        return _ComplaintError(_END)
    return _ComplaintError(
        f"invalid character {_quote_char(body[at] if at < len(body) else 0x20)} {where}"
    )


def _too_deep(open_: bytearray) -> _ComplaintError:
    bracket = _quote_char(open_[MAX_DEPTH])
    return _ComplaintError(f"invalid character {bracket} exceeded max depth")


def _quote_char(byte: int) -> str:
    """A byte as Go shows it: taken for a character of Latin-1, escaped if that cannot
    be printed. Upstream: `quoteChar`.
    """
    if byte in _ESCAPES:
        char = _ESCAPES[byte]
    elif byte < 0x20 or byte == 0x7F:
        char = f"\\x{byte:02x}"
    else:
        char = chr(byte) if chr(byte).isprintable() else f"\\u{byte:04x}"
    return f"'{char}'"


def _read(body: bytes) -> None:
    """Walk over the text. `open_` holds the bracket of every value that is open."""
    open_, patterns = bytearray(), _patterns()
    at = _skip(body, 0)
    while True:
        if (run := _end_of(patterns.openings, body, at, len(body))) > at:
            open_ += b"".join(
                bracket or b"[" for bracket in patterns.opening.findall(body, at, run)
            )
            at = run
            if len(open_) > MAX_DEPTH:
                raise _too_deep(open_)
            if open_.endswith(b"["):
                at = _stride(patterns.items, body, at, open_)
        if (opening := body[at : at + 1]) in (b"{", b"["):
            open_ += opening
            if len(open_) > MAX_DEPTH:
                raise _too_deep(open_)
            at = _skip(body, at + 1)
            if opening == b"[" and body[at : at + 1] != b"]":
                continue
            if opening == b"{" and body[at : at + 1] != b"}":
                at = _key(body, at)
                continue
        else:
            at = _scalar(body, at)
        at = _after_value(body, at, open_)
        if not open_:
            if at < len(body):
                raise _complain(body, at, "after top-level value")
            return


def _after_value(body: bytes, at: int, open_: bytearray) -> int:
    """From the end of a value (or from the bracket that closes an empty one) to the
    next, or to the end of the text.
    """
    at = _skip(body, at)
    if (run := _CLOSINGS.match(body, at)) is not None:
        closed = run[0].translate(_OPENED_BY, b" \t\r\n")[::-1]
        if open_.endswith(
            closed
        ):  # if not, the complaint is one of the next few brackets
            del open_[-len(closed) :]
            at = run.end()
    while open_:
        in_array = open_.endswith(b"[")
        char = body[at : at + 1]
        if char == (b"]" if in_array else b"}"):
            open_.pop()
            at = _skip(body, at + 1)
        elif char == b",":
            at = _skip(body, at + 1)
            at = _stride(
                _patterns().items if in_array else _patterns().members, body, at, open_
            )
            return at if in_array else _key(body, at)
        else:
            raise _complain(
                body,
                at,
                "after array element" if in_array else "after object key:value pair",
            )
    return at


def _stride(pattern: re.Pattern[bytes], body: bytes, at: int, open_: bytearray) -> int:
    """Over what nobody can complain of: not even of its depth."""
    if len(open_) + _STRIDE_DEPTH > MAX_DEPTH:
        return at
    return _skip(body, _pass(pattern, body, at))  # a window may end behind a comma


def _key(body: bytes, at: int) -> int:
    if body[at : at + 1] != b'"':
        raise _complain(body, at, "looking for beginning of object key string")
    at = _skip(body, _string(body, at))
    if body[at : at + 1] != b":":
        raise _complain(body, at, "after object key")
    return _skip(body, at + 1)


def _scalar(body: bytes, at: int) -> int:
    first = body[at : at + 1]
    if first == b'"':
        return _string(body, at)
    if first in _LITERALS:
        word = _LITERALS[first]
        for offset in range(1, len(word)):
            if body[at + offset : at + offset + 1] != word[offset : offset + 1]:
                where = f"in literal {word.decode()} (expecting '{chr(word[offset])}')"
                raise _complain(body, at + offset, where, in_token=True)
        return at + len(word)
    if first == b"-" or first.isdigit():
        return _number(body, at)
    raise _complain(body, at, "looking for beginning of value")


def _number(body: bytes, at: int) -> int:
    at += body[at : at + 1] == b"-"
    end = (
        at + 1 if body[at : at + 1] == b"0" else _digits(body, at, "in numeric literal")
    )  # nothing follows a leading zero
    if body[end : end + 1] == b".":
        end = _digits(body, end + 1, "after decimal point in numeric literal")
    if body[end : end + 1] in (b"e", b"E"):
        end += 1
        end += body[end : end + 1] in (b"+", b"-")
        end = _digits(body, end, "in exponent of numeric literal")
    return end


def _digits(body: bytes, at: int, where: str) -> int:
    digits = _DIGITS.match(body, at)
    if digits is None:
        raise _complain(body, at, where, in_token=True)
    return digits.end()


def _string(body: bytes, at: int) -> int:
    end = _pass(_IN_STRING, body, at + 1)
    if body[end : end + 1] == b'"':
        return end + 1
    if body[end : end + 1] != b"\\":
        raise _complain(body, end, "in string literal")
    if (digits := _ESCAPE.match(body, end)) is not None:
        raise _complain(
            body, digits.end(), "in \\u hexadecimal character escape", in_token=True
        )
    raise _complain(body, end + 1, "in string escape code", in_token=True)


def _skip(body: bytes, at: int) -> int:
    return _pass(_SPACE, body, at)


def _pass(pattern: re.Pattern[bytes], body: bytes, at: int) -> int:
    """As far as it matches: window by window, as the library lets nobody else do
    anything meanwhile. An item that is longer than a window is not passed over but
    walked into.
    """
    while at + WINDOW < len(body):
        run = _end_of(pattern, body, at, at + WINDOW)
        if run == at:
            return at
        at = run
    return _end_of(pattern, body, at, len(body))


def _end_of(pattern: re.Pattern[bytes], body: bytes, at: int, end: int) -> int:
    match = pattern.match(body, at, end)
    assert match is not None  # an empty match is one
    return match.end()
