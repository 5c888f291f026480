"""Answers to a lab's questions: is one there, which parts has it, do two agree?"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any

ONLY_A_GAP = (NotImplementedError.__name__,)


def is_open(answer: Any) -> bool:
    """Whether there is a gap left: `...` anywhere in a value, or a function that does
    nothing but raise NotImplementedError.
    """
    if isinstance(answer, FunctionType):
        return answer.__code__.co_names == ONLY_A_GAP
    if isinstance(answer, Mapping):
        return any(map(is_open, answer.values()))
    if isinstance(answer, list | tuple | set | frozenset):
        return any(map(is_open, answer))
    return answer is ...


def parts(answer: Any) -> dict[Any, Any]:
    """What can be right or wrong of its own: a dict's values by key, a list's items by
    place, and anything else as a whole, under "".
    """
    if isinstance(answer, Mapping):
        return dict(answer)
    if isinstance(answer, list | tuple):
        return dict(enumerate(answer))
    return {"": answer}


def agrees(mine: Any, right: Any, within: float = 0) -> bool:
    """Whether two answers are the same: a list and a tuple of the same are, numbers may
    differ by `within`.
    """
    if isinstance(right, Mapping) and isinstance(mine, Mapping):
        return mine.keys() == right.keys() and all(
            agrees(mine[key], right[key], within) for key in right
        )
    if isinstance(right, list | tuple) and isinstance(mine, list | tuple):
        return len(mine) == len(right) and all(
            agrees(one, other, within) for one, other in zip(mine, right, strict=True)
        )
    if isinstance(right, int | float) and isinstance(mine, int | float):
        return abs(mine - right) <= within
    return bool(mine == right)


def differing(mine: Any, right: Any, within: float = 0) -> list[Any]:
    """The parts in which an answer is not the right one: wrong, missing or too many."""
    my, their = parts(mine), parts(right)
    return [
        key
        for key in {**their, **my}
        if key not in my or key not in their or not agrees(my[key], their[key], within)
    ]


def spoilt(right: Any, wrong: Any) -> Any:
    """The right answer with the parts of `wrong` put in its place, where it has
    parts.
    """
    if isinstance(wrong, Mapping) and isinstance(right, Mapping):
        return {**right, **wrong}
    if isinstance(wrong, Mapping) and isinstance(right, list | tuple):
        return list({**parts(right), **wrong}.values())
    return wrong
