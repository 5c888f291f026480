"""Loops over what is long.

What `map` and `filter` make grows by one element at a time, and the library makes a new
list for each: for 9,000 elements it copies forty million, which takes two seconds, in
which nothing else of this process runs, and more than a gigabyte. And what a loop does
with each element may look through all there is: ten thousand looks at a map of 60,000
keys are a minute. So a loop over what may be long goes piece by piece: `xs.map(x, f)`
is evaluated as if it were

    xs.__in_pieces().map(__piece, __piece.__in_time().map(x, f)).__together()

in which every list that grows is short, and between two pieces others have their turn
and it is seen how long all of it has taken (`cost.charge_time`). What an expression
means is found out before, from how it was written: types, mistakes and their places are
those.

To copy elements from one list to another costs more than to look at a few. So an
expression goes this way only if a value that it looks at is large, or if it might make
something long itself.

Upstream: cel-go's `interpreter/interpretable.go` (`evalFold`), where a list that a loop
makes is changed in place, and each step costs something. Left out: an unsigned number,
a fraction of a microsecond or an optional value in a long list comes out of it as a
number, without the fraction, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from lifecycle.apiserver.cel.cost import charge_time
from lifecycle.apiserver.cel.declare import T, any_value, declared
from lifecycle.apiserver.cel.object_literals import TOKEN

LONG = 300
"""Elements of what is long."""

MUCH = 3_000
"""Values, or characters of one, or of an expression, from which on it is not asked how
long each list is.
"""

PIECE = 16
_LOOPS = re.compile(r"(?s)(.*\.)?\s*(map|filter|all|exists|exists_one)$")
_MAKES_LISTS = re.compile(r"\b(split|findAll|flatten|range)\b")
_IN_PIECES, _IN_TIME, _PIECE = "__in_pieces", "__in_time", "__piece"
_TOGETHER, _JUST_ONE = "__together", "__just_one"
_WAYS = {
    "map": ("map", "map", f".{_TOGETHER}()"),
    "filter": ("map", "filter", f".{_TOGETHER}()"),
    "all": ("all", "all", ""),
    "exists": ("exists", "exists", ""),
    "exists_one": ("map", "filter", f".{_TOGETHER}().{_JUST_ONE}()"),
}
"""The loop over pieces, that over one of them, and what is made of the results."""


def rewritten(expression: str) -> str:
    """An expression that means the same; the same, if there is no loop in it."""
    tokens = [(match.lastgroup or "", match[0]) for match in TOKEN.finditer(expression)]
    out: list[str] = []
    closing: list[str] = []  # what is to stand behind each bracket that is open
    receiver, behind = False, ""
    for position, (kind, text) in enumerate(tokens):
        if kind in ("space", "comment"):
            out.append(text)
            continue
        if kind == "name":
            called = _next_sign(tokens, position) == "("
            match = _LOOPS.match(text)
            if called and match and (match[1] or receiver):
                before = (match[1] or "").rstrip()[:-1]
                if not match[1]:
                    _take_back_dot(out)
                outer, inner, then = _WAYS[match[2]]
                behind = f"){then}"
                out.append(
                    f"{before}.{_IN_PIECES}().{outer}({_PIECE},"
                    f" {_PIECE}.{_IN_TIME}().{inner}"
                )
            else:
                out.append(text)
        else:
            out.append(text)
            if text in ("(", "[", "{"):
                closing.append(behind)
                behind = ""
            elif text in (")", "]", "}") and closing:
                out.append(closing.pop())
        receiver = text == "."
    return "".join(out)


def _take_back_dot(out: list[str]) -> None:
    for i in range(len(out) - 1, -1, -1):
        if out[i] == ".":
            out[i] = ""
            return


def _next_sign(tokens: list[tuple[str, str]], position: int) -> str:
    return next(
        (
            text
            for kind, text in tokens[position + 1 :]
            if kind not in ("space", "comment")
        ),
        "",
    )


def may_make_long(expression: str) -> bool:
    """Whether an expression might make a long list of short ones: by its own length, or
    by a function of ours.
    """
    return len(expression) > MUCH or _MAKES_LISTS.search(expression) is not None


def is_long(values: Iterable[Any]) -> bool:
    """Whether any list, map or text in these values is long, or there are many."""
    waiting, seen = list(values), 0
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if len(value) > MUCH:
                return True
        elif isinstance(value, dict | list):
            seen += len(value)
            if len(value) > LONG or seen > MUCH:
                return True
            waiting.extend(value.values() if isinstance(value, dict) else value)
    return False


def _pieces(items: Any) -> list[list[Any]]:
    whole = list(items)
    return [whole[at : at + PIECE] for at in range(0, len(whole), PIECE)]


def _in_time(piece: list[Any]) -> list[Any]:
    charge_time()
    return piece


def _together(pieces: list[list[Any]]) -> list[Any]:
    return [item for piece in pieces for item in piece]


def functions() -> list[Any]:
    """Declarations. What is neither list nor map stays what it is, and the loop says
    what is wrong with it.
    """
    long = (T.List(T.DYN), T.Map(T.DYN, T.DYN))
    groups = [
        (_pieces if kind in long else _same, [(T.DYN, (kind,))]) for kind in any_value()
    ]
    return [
        declared(_IN_PIECES, groups),
        declared(_IN_TIME, [(_in_time, [(T.DYN, (T.List(T.DYN),))])]),
        declared(_JUST_ONE, [(_just_one, [(T.BOOL, (T.List(T.DYN),))])]),
        declared(_TOGETHER, [(_together, [(T.DYN, (T.List(T.DYN),))])]),
    ]


def _just_one(items: list[Any]) -> bool:
    return len(items) == 1


def _same(value: Any) -> Any:
    return value
