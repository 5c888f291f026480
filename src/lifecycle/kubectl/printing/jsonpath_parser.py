"""JSONPath templates taken apart: text, and actions in braces, each a list of steps.

The grammar is what the real parser does, not what a book says of JSONPath: `['a.b']` is
two steps, a filter compares at the first `<`, `>`, `=` or `!`, and words mean nothing
until they are evaluated.

Upstream: `client-go/util/jsonpath/parser.go` (`Parser`), `node.go`, v1.36.2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_DICT_KEY = re.compile(r"'([^']*)'")
_SLICE = re.compile(r"(-?\d*)(:-?\d*)?(:-?\d*)?", re.ASCII)
_COMPARISON = re.compile(r"([^!<>=]+)([!<>=]+)(.+)", re.DOTALL)
_TERMINATORS = frozenset(" \t\r\n.,[]$@{}")
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "\\": "\\",
}
END = ""


@dataclass(slots=True, frozen=True)
class Literal:
    """A text, number or truth value: whatever comes in, this goes out."""

    value: Any


@dataclass(slots=True, frozen=True)
class Field:
    """A key of a map."""

    name: str


@dataclass(slots=True, frozen=True)
class Wildcard:
    """Everything inside."""


@dataclass(slots=True, frozen=True)
class Recursive:
    """Everything below that has something inside."""


@dataclass(slots=True, frozen=True)
class Word:
    """`range` or `end`; anything else is an error once it is evaluated."""

    name: str


@dataclass(slots=True, frozen=True)
class Slice:
    """`[start:stop:step]`; `derived`: it was a single index."""

    start: int | None
    stop: int | None
    step: int | None
    derived: bool = False


@dataclass(slots=True, frozen=True)
class Union:
    """Several bracketed steps: first all results of the one, then all of the next."""

    parts: tuple[Steps, ...]


@dataclass(slots=True, frozen=True)
class Filter:
    """Elements that compare; `operator` may be `exists`."""

    left: Steps
    operator: str
    right: Steps


Steps = tuple[Any, ...]


@dataclass(slots=True, frozen=True)
class Action:
    """What stands between braces."""

    steps: Steps


def parse(template: str) -> tuple[Any, ...]:
    """The parts of a template: `Literal` for text, `Action` for braces. Raises
    ValueError for what is no template.
    """
    nodes: list[Any] = []
    at = 0
    while at < len(template):
        brace = template.find("{", at)
        if brace < 0:
            nodes.append(Literal(template[at:]))
            break
        if brace > at:
            nodes.append(Literal(template[at:brace]))
        steps, at = _Reader(template, brace + 1).action()
        nodes.append(Action(steps))
    return tuple(nodes)


def _inner(text: str) -> Steps:
    """The steps of a text as if it stood in braces."""
    [first, *_] = parse("{" + text + "}")
    return tuple(first.steps)


class _Reader:
    """Reads one action, letter by letter."""

    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self._at = at
        self._steps: list[Any] = []

    def action(self) -> tuple[Steps, int]:
        """(its steps, where the text goes on behind the brace)."""
        while True:
            rest = self._text[self._at :]
            if rest.startswith("}"):
                return tuple(self._steps), self._at + 1
            if rest.startswith("[?("):
                self._filter()
            elif rest.startswith(".."):
                self._recursive()
            else:
                self._step(self._next())

    def _next(self) -> str:
        letter = self._text[self._at : self._at + 1]
        self._at += len(letter)
        return letter

    def _step(self, letter: str) -> None:
        if letter == END or letter in "\r\n":
            raise ValueError("unclosed action")
        if letter in " @$":
            return
        if letter == "[":
            self._array()
        elif letter in "\"'":
            self._quoted(letter)
        elif letter == ".":
            self._field()
        elif letter in "+-" or letter.isdecimal():
            self._at -= 1
            self._number()
        elif letter == "_" or letter.isalnum():
            self._at -= 1
            self._word()
        else:
            raise ValueError(
                f"unrecognized character in action: U+{ord(letter):04X} '{letter}'"
            )

    def _until(self, stop: Any) -> str:
        start = self._at
        while self._at < len(self._text) and not stop(self._text[self._at]):
            self._at += 1
        return self._text[start : self._at]

    def _field(self) -> None:
        start = self._at
        while (
            letter := self._text[self._at : self._at + 1]
        ) and letter not in _TERMINATORS:
            self._at += 2 if letter == "\\" else 1
        name = self._text[start : self._at]
        self._steps.append(Wildcard() if name == "*" else Field(name.replace("\\", "")))

    def _word(self) -> None:
        name = self._until(_TERMINATORS.__contains__)
        self._steps.append(
            Literal(name == "true") if name in ("true", "false") else Word(name)
        )

    def _number(self) -> None:
        sign = self._next() if self._text[self._at] in "+-" else ""
        digits = self._until(lambda letter: letter != "." and not letter.isdecimal())
        for read in (int, float):
            try:
                self._steps.append(Literal(read(sign + digits)))
                return
            except ValueError:
                continue
        raise ValueError(f"cannot parse number {sign}{digits}")

    def _recursive(self) -> None:
        if self._steps and isinstance(self._steps[-1], Recursive):
            raise ValueError("invalid multiple recursive descent")
        self._at += 2
        self._steps.append(Recursive())
        letter = self._text[self._at : self._at + 1]
        if letter == "_" or letter.isalnum():
            self._field()

    def _quoted(self, quote: str) -> None:
        start = self._at
        while True:
            letter = self._next()
            if letter in (END, "\n"):
                raise ValueError("unterminated quoted string")
            if letter == quote and self._text[self._at - 2] != "\\":
                break
        inside = self._text[start : self._at - 1]
        self._steps.append(
            Literal(re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), inside))
        )

    def _array(self) -> None:
        text = self._until("]\n".__contains__)
        if self._next() != "]":
            raise ValueError("unterminated array")
        text = ":" if text == "*" else text
        if "," in text:
            self._steps.append(
                Union(tuple(_inner(f"[{part.strip(' ')}]") for part in text.split(",")))
            )
        elif match := _DICT_KEY.fullmatch(text):
            self._steps += _inner(f".{match[1]}")
        elif match := _SLICE.fullmatch(text):
            self._steps.append(_slice(*match.groups()))
        else:
            raise ValueError(f"invalid array index {text}")

    def _filter(self) -> None:
        self._at += len("[?(")
        start = self._at
        begun = ended = False
        pair = ""
        while True:
            letter = self._next()
            if letter in (END, "\n"):
                raise ValueError("unterminated filter")
            if letter in "\"'":
                if not begun:
                    begun, pair = True, letter
                elif self._text[self._at - 2] != "\\" and letter == pair:
                    ended = True
            elif letter == ")" and begun == ended:
                break
        if self._next() != "]":
            raise ValueError("unclosed array expect ]")
        text = self._text[start : self._at - 2]
        if match := _COMPARISON.fullmatch(text):
            self._steps.append(Filter(_inner(match[1]), match[2], _inner(match[3])))
        else:
            self._steps.append(Filter(_inner(text), "exists", ()))


def _slice(first: str, second: str | None, third: str | None) -> Slice:
    start, stop, step = (
        _number(text) for text in (first, (second or "")[1:], (third or "")[1:])
    )
    if second is None:
        return Slice(start, (start or 0) + 1, step, derived=True)
    return Slice(start, stop, step)


def _number(text: str) -> int | None:
    try:
        return int(text) if text else None
    except ValueError:
        raise ValueError(f"array index {text} is not a number") from None
