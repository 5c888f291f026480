"""The grammar of label selectors.

    selector    = [ requirement { "," requirement } ] requirement = [ "!" ] KEY  |  KEY
    ( "=" | "==" | "!=" | ">" | "<" ) VALUE  |  KEY ( "in" | "notin" ) "(" VALUES ")"

`in` and `notin` are words only where an operator is due, so a label may be called `in`.
Empty values are allowed, in sets too: `x in (,a)`.

Upstream: `apimachinery/pkg/labels/selector.go` (`Lexer.Lex`, `Parser.parse`), v1.36.
The messages are upstream's: kubectl shows them.
"""

from __future__ import annotations

import re

from lifecycle.api.go.format import go_quote
from lifecycle.api.labels.requirements import (
    Requirement,
    new_requirement,
    validate_label_key,
)
from lifecycle.api.status import StatusError, bad_request

_SYMBOLS = ("==", "!=", "=", "!", ">", "<", "(", ")", ",")
_token = re.compile(r"[ \t\r\n]*(?:([=!(),><]+)|([^=!(),>< \t\r\n\0]+)|$|\0)")

END = "end"
WORD = "word"
_OPERATOR_TOKENS = {
    "=": "=",
    "==": "==",
    "!=": "!=",
    ">": "gt",
    "<": "lt",
    "in": "in",
    "notin": "notin",
}
_EXPECTED = "in, notin, =, ==, !=, gt, lt"

Token = tuple[str, str]
"""(kind, literal): kind is END, WORD or the symbol itself."""


def tokens(text: str) -> list[Token]:
    """Split a selector into symbols and words, longest symbol first; the last token is
    END. A zero byte ends the text.
    """
    scanned_items: list[Token] = []
    at = 0
    while True:
        match = _token.match(text, at)
        if match is None or match.lastindex is None:
            scanned_items.append((END, ""))
            return scanned_items
        at = match.end()
        symbols, word = match.groups()
        if word:
            scanned_items.append((WORD, word))
            continue
        while symbols:
            symbol = next(s for s in _SYMBOLS if symbols.startswith(s))
            scanned_items.append((symbol, symbol))
            symbols = symbols[len(symbol) :]


def _expected(literal: str, what: str) -> StatusError:
    return bad_request(f"found '{literal}', expected: {what}")


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = tokens(text)
        self.at = 0

    def peek(self) -> Token:
        return self.tokens[min(self.at, len(self.tokens) - 1)]

    def take(self) -> Token:
        token = self.peek()
        self.at += 1
        return token

    def selector(self) -> list[Requirement]:
        requirements: list[Requirement] = []
        while True:
            kind, literal = self.peek()
            if kind == END:
                return requirements
            if kind not in (WORD, "!"):
                raise _expected(literal, "!, identifier, or 'end of string'")
            try:
                requirements.append(self.requirement())
            except StatusError as wrong:
                raise bad_request(
                    f"unable to parse requirement: {wrong.message}"
                ) from None
            kind, literal = self.take()
            if kind == END:
                return requirements
            if kind != ",":
                raise _expected(literal, "',' or 'end of string'")
            kind, literal = self.peek()
            if kind not in (WORD, "!"):
                raise _expected(literal, "identifier after ','")

    def requirement(self) -> Requirement:
        kind, key = self.take()
        absent = kind == "!"
        if absent:
            kind, key = self.take()
        if kind != WORD:
            raise _expected(key, "identifier")
        if wrong := validate_label_key(key):
            raise bad_request(
                f"<nil>: Invalid value: {go_quote(key)}: {'; '.join(wrong)}"
            )
        if absent:
            return new_requirement(key, "!", [])
        if self.peek()[0] in (END, ","):
            return new_requirement(key, "exists", [])
        kind, literal = self.take()
        operator = _OPERATOR_TOKENS.get(literal)
        if operator is None:
            raise _expected(literal, _EXPECTED)
        values = self.values() if operator in ("in", "notin") else {self.exact_value()}
        return new_requirement(key, operator, sorted(values))

    def exact_value(self) -> str:
        kind, literal = self.peek()
        if kind in (END, ","):
            return ""
        self.take()
        if kind != WORD:
            raise _expected(literal, "identifier")
        return literal

    def values(self) -> set[str]:
        kind, literal = self.take()
        if kind != "(":
            raise bad_request(f"found '{literal}' expected: '('")
        kind, literal = self.peek()
        if kind == ")":
            self.take()
            return {""}
        if kind not in (WORD, ","):
            raise _expected(literal, "',', ')' or identifier")
        literals = self.list_of_values()
        self.take()  # the list only ends before a ")"
        return literals

    def list_of_values(self) -> set[str]:
        values: set[str] = set()
        while True:
            kind, literal = self.take()
            following, next_literal = self.peek()
            if kind == WORD:
                values.add(literal)
                if following == ")":
                    return values
                if following != ",":
                    raise _expected(next_literal, "',' or ')'")
            elif kind == ",":
                if not values:
                    values.add("")
                if following == ")":
                    values.add("")
                    return values
                if following == ",":
                    values.add("")
            else:
                raise _expected(literal, "',', or identifier")


def parse(text: str) -> list[Requirement]:
    """The requirements a selector's text names, in the order written. Raises
    StatusError 400.
    """
    return _Parser(text).selector()
