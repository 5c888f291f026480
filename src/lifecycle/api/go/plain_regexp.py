"""Go's regular expressions by Python's `re`: for where RE2 cannot be loaded.

In a browser tab the only one who can write a pattern that takes years is the one who
waits for it. What RE2 knows and `re` does not (`\\pL`, `\\z` in the middle of words) is
translated or refused; the words of refusals are RE2's, as far as the cause is the same.
"""

from __future__ import annotations

import re

_WORDS = (
    ("missing ), unterminated subpattern", "missing ): {pattern}"),
    ("unbalanced parenthesis", "unexpected ): {pattern}"),
    ("unterminated character set", "missing ]: {rest}"),
    ("nothing to repeat", "no argument for repetition operator: {rest}"),
    ("multiple repeat", "bad repetition operator: {rest}"),
    ("min repeat greater than max repeat", "invalid repetition size: {rest}"),
    ("bad escape (end of pattern)", "trailing \\: "),
    ("bad escape", "invalid escape sequence: {rest}"),
    ("bad character range", "invalid character class range: {rest}"),
    ("unknown extension", "invalid perl operator: {rest}"),
)
_TRANSLATED = re.compile(
    r"\\(?:[zQ]|[pP](?:\{[^}]*\}|.)|.)|\[\[:|\(\?<?[=!]", re.DOTALL
)


class error(Exception):  # noqa: N801  (the name that re2 has)
    """A pattern that is none; its first argument is RE2's words, as bytes."""


def compile(pattern: str) -> re.Pattern[str]:
    """The pattern compiled, `\\d`, `\\w` and `\\b` for ASCII alone. Raises error."""
    try:
        return re.compile(_TRANSLATED.sub(_translated, pattern), re.ASCII)
    except re.error as why:
        rest = pattern[why.pos or 0 :][:2]
        for known, words in _WORDS:
            if why.msg.startswith(known):
                raise error(words.format(pattern=pattern, rest=rest).encode()) from None
        raise error(f"{why.msg}: {rest}".encode()) from None
    except (OverflowError, RecursionError):
        raise error(f"pattern too large: {pattern}".encode()) from None


def _translated(match: re.Match[str]) -> str:
    piece = match[0]
    if piece == r"\z":
        return r"\Z"
    if piece.startswith("(?"):
        raise error(f"invalid perl operator: {piece}".encode())
    if piece == "[[:" or piece.startswith((r"\p", r"\P", r"\Q")):
        raise error(f"not known without RE2: {piece}".encode())
    return piece
