"""A Go template taken apart into tokens: text, and what stands between `{{` and `}}`.

`{{-` and `-}}` take away the white space beside them. The lexer stops at the first
thing that makes no sense; that is a token as well, so that the parser complains about
whatever comes first.

Upstream: Go's `text/template/parse/lex.go`. Left out: other delimiters, comments as
tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lifecycle.api.go.format import go_quote

KEYWORDS = frozenset(
    [
        ".",
        "block",
        "break",
        "continue",
        "define",
        "else",
        "end",
        "if",
        "nil",
        "range",
        "template",
        "with",
    ]
)
_SPACE = " \t\r\n"
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?"
    r"|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?",
    re.ASCII,
)
_QUOTED = {
    quote: re.compile(rf"{quote}(?:[^{quote}\\\n]|\\[^\n])*{quote}") for quote in "\"'"
}


@dataclass(slots=True, frozen=True)
class Token:
    """`kind`: text, left, right, space, assign, declare, char, pipe, string, raw,
    variable, rune, number, word, field, bool, open, close, error, eof, or a keyword
    itself.
    """

    kind: str
    at: int
    text: str
    line: int

    def __str__(self) -> str:
        """As complaints show it."""
        if self.kind == "eof":
            return "EOF"
        if self.kind == "error":
            return self.text
        if self.kind in KEYWORDS:
            return f"<{self.text}>"
        return (
            f"{go_quote(self.text[:10])}..."
            if len(self.text.encode()) > 10
            else go_quote(self.text)
        )


class _Wrong(Exception):
    """What stands here is no token."""


def tokens(text: str) -> Iterator[Token]:
    """All tokens of a template; the last one is an eof or an error."""
    at, line = 0, 1
    while True:
        start = text.find("{{", at)
        trimmed = (
            start >= 0
            and text[start + 2 : start + 3] == "-"
            and text[start + 3 : start + 4] in tuple(_SPACE)
        )
        end = len(text) if start < 0 else start
        literal = text[at:end].rstrip(_SPACE) if trimmed else text[at:end]
        if literal:
            yield Token("text", at, literal, line)
        line += text.count("\n", at, end)
        if start < 0:
            yield Token("eof", len(text), "", line)
            return
        inside = start + 2 + 2 * trimmed
        if text.startswith("/*", inside):
            at, wrong = _after_comment(text, inside)
            if wrong:
                yield Token("error", start, wrong, line)
                return
            line += text.count("\n", start, at)
            continue
        yield Token("left", start, "{{", line)
        at = inside
        for token in _inside(text, inside, line):
            yield token
            if token.kind == "error":
                return
            at = token.at + len(token.text)
        line += text.count("\n", start, at)
        if (
            text.startswith("-", token.at - 1) and token.at - 1 >= inside
        ):  # the closing one trims
            after = at + len(text[at:]) - len(text[at:].lstrip(_SPACE))
            line += text.count("\n", at, after)
            at = after


def _after_comment(text: str, at: int) -> tuple[int, str]:
    end = text.find("*/", at + 2)
    if end < 0:
        return at, "unclosed comment"
    end += 2
    trims = text[end : end + 1] in tuple(_SPACE) and text[end + 1 : end + 2] == "-"
    close = end + 2 * trims
    if not text.startswith("}}", close):
        return at, "comment ends before closing delimiter"
    close += 2
    return (
        close + len(text[close:]) - len(text[close:].lstrip(_SPACE)) if trims else close
    ), ""


def _closes(text: str, at: int) -> int:
    """How long a closing delimiter with its mark is before the `}}`: 0 or 2; -1 for
    none.
    """
    if text.startswith("}}", at):
        return 0
    return (
        2
        if text[at : at + 1] in tuple(_SPACE) and text.startswith("-}}", at + 1)
        else -1
    )


def _inside(text: str, at: int, line: int) -> Iterator[Token]:
    """The tokens of one action, its closing delimiter included."""
    depth = 0
    while True:
        mark = _closes(text, at)
        if mark >= 0:
            if depth:
                yield Token("error", at, "unclosed left paren", line)
            else:
                yield Token("right", at + mark, "}}", line)
            return
        try:
            kind, end = _token(text, at)
        except _Wrong as error:
            yield Token("error", at, str(error), line)
            return
        depth += {"open": 1, "close": -1}.get(kind, 0)
        if depth < 0:
            yield Token("error", at, "unexpected right paren", line)
            return
        yield Token(kind, at, text[at:end], line)
        line += text.count("\n", at, end)
        at = end


def _token(text: str, at: int) -> tuple[str, int]:
    """(kind, end) of the token that begins here. Raises _Wrong."""
    first = text[at : at + 1]
    if not first:
        raise _Wrong("unclosed action")
    if first in _SPACE:
        end = at
        while text[end : end + 1] in tuple(_SPACE) and _closes(text, end) < 0:
            end += 1
        return "space", end
    if text.startswith(":=", at):
        return "declare", at + 2
    if first == ":":
        raise _Wrong("expected :=")
    if first in _ONE:
        return _ONE[first], at + 1
    if first in _QUOTED:
        match = _QUOTED[first].match(text, at)
        if match is None:
            raise _Wrong(
                "unterminated quoted string"
                if first == '"'
                else "unterminated character constant"
            )
        return "string" if first == '"' else "rune", match.end()
    if first == "`":
        end = text.find("`", at + 1)
        if end < 0:
            raise _Wrong("unterminated raw quoted string")
        return "raw", end + 1
    if first == "$" or (first == "." and not text[at + 1 : at + 2].isdecimal()):
        return _name(text, at)
    if first in ".+-" or "0" <= first <= "9":
        return _number(text, at)
    if match := _WORD.match(text, at):
        _terminated(text, match.end())
        word = match[0]
        return (
            word
            if word in KEYWORDS
            else (
                "bool"
                if word
                in (
                    "true",
                    "false",
                )
                else "word"
            )
        ), match.end()
    if first.isascii() and first.isprintable():
        return "char", at + 1
    raise _Wrong(f"unrecognized character in action: {_code_point(first)}")


_ONE = {"=": "assign", "|": "pipe", "(": "open", ")": "close"}


def _name(text: str, at: int) -> tuple[str, int]:
    """`.`, `.field`, `$` or `$variable`."""
    match = _WORD.match(text, at + 1)
    end = match.end() if match else at + 1
    _terminated(text, end)
    if text[at] == "$":
        return "variable", end
    return "field" if match else ".", end


def _number(text: str, at: int) -> tuple[str, int]:
    match = _NUMBER.match(text, at)
    assert match is not None
    end = match.end()
    if _WORD.match(text, end):
        raise _Wrong(f"bad number syntax: {go_quote(text[at : end + 1])}")
    return "number", end


def _terminated(text: str, at: int) -> None:
    after = text[at : at + 1]
    if after and after not in _SPACE + ".,|:)(" and not text.startswith("}}", at):
        raise _Wrong(f"bad character {_code_point(after)}")


def _code_point(letter: str) -> str:
    """As Go's `%#U`."""
    return f"U+{ord(letter):04X}" + (f" '{letter}'" if letter.isprintable() else "")
