"""Why a pattern is no regular expression, in the words of Go's parser.

Upstream: Go's `regexp/syntax/parse.go` (`ErrorCode`, `Error.Error`). Left out: what Go
refuses and Python does not.
"""

from __future__ import annotations

import re

_QUOTE_REST = {"unterminated character set": "missing closing ]"}
_QUOTE_ALL = {
    "missing ), unterminated subpattern": "missing closing )",
    "unbalanced parenthesis": "unexpected )",
}


def parse_error(pattern: str) -> str:
    """`error parsing regexp: …`, or nothing."""
    try:
        re.compile(pattern)
    except re.error as error:
        place = error.pos or 0
        if error.msg in _QUOTE_REST:
            return (
                f"error parsing regexp: {_QUOTE_REST[error.msg]}: `{pattern[place:]}`"
            )
        if error.msg == "nothing to repeat":
            return (
                "error parsing regexp: missing argument to repetition operator:"
                f" `{pattern[place : place + 1]}`"
            )
        if error.msg == "multiple repeat":
            return (
                "error parsing regexp: invalid nested repetition operator:"
                f" `{pattern[place - 1 : place + 1]}`"
            )
        if error.msg.startswith("bad escape"):
            return (
                "error parsing regexp: invalid escape sequence:"
                f" `{pattern[place : place + 2]}`"
            )
        if error.msg.startswith("bad character range"):
            why = error.msg.removeprefix("bad character range ")
            return f"error parsing regexp: invalid character class range: `{why}`"
        return (
            f"error parsing regexp: {_QUOTE_ALL.get(error.msg, error.msg)}: `{pattern}`"
        )
    return ""
