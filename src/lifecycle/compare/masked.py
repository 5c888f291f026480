"""A value that Kubernetes was free to choose, and what it stood for.

Where two honest clusters must differ – a uid, a time, a random suffix – the normaliser
puts a placeholder. It is an ordinary string to everybody who reads or prints the
document; to the comparator it also says which rule put it there, what was there before,
and *whose* name or address it was, so that references must still match up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Identity = tuple[str, str]
"""Whose value it is: a class that both clusters share (`Pod
journey/nginx-747d4c55d8-<random>`) and this cluster's member of it (a uid).
"""


@dataclass(slots=True, frozen=True)
class Mark:
    """One replacement inside a value. `instead`: what the other cluster may have in its
    place without any placeholder. `near`: of a number, how far the other's may be.
    """

    rule: str
    raw: str
    identity: Identity | None = None
    instead: Any = None
    near: Near | None = None


@dataclass(slots=True, frozen=True)
class Near:
    """A number that two clusters count up to while time passes: the other's may be
    `steps` more or less, or the `share` of the larger one, whichever is more.
    """

    number: int
    steps: int
    share: float = 0.0

    def holds(self, other: Near) -> bool:
        """Whether two counts are as near as that."""
        larger = max(self.number, other.number)
        return abs(self.number - other.number) <= max(self.steps, self.share * larger)


ABSENT = "(absent)"
"""As `Mark.instead`: the other cluster may lack the field altogether."""


class Masked(str):
    """A string with placeholders. `raw` is the original value, of its original type."""

    marks: tuple[Mark, ...]
    raw: Any

    def __new__(cls, text: str, marks: Iterable[Mark], raw: Any) -> Masked:
        """A placeholder text with the marks that made it."""
        self = super().__new__(cls, text)
        self.marks = tuple(marks)
        self.raw = raw
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (str(self), self.marks, self.raw)


def raw_of(value: Any) -> Any:
    """The original of a value that may be a placeholder."""
    return value.raw if isinstance(value, Masked) else value


def marks_of(value: Any) -> tuple[Mark, ...]:
    """The marks of a value, none if it is no placeholder."""
    return value.marks if isinstance(value, Masked) else ()


def as_optional(value: Any, rule: str) -> Any:
    """A subtree that the other cluster may lack: every leaf of it becomes an optional
    placeholder showing its own value.
    """
    if isinstance(value, dict) and value:
        return {key: as_optional(item, rule) for key, item in value.items()}
    if isinstance(value, list) and value:
        return [as_optional(item, rule) for item in value]
    text = str(value) if isinstance(value, str) else repr(value)
    return Masked(
        text, (*marks_of(value), Mark(rule, text, None, ABSENT)), raw_of(value)
    )


def optional_rule(value: Any) -> str:
    """The rule that lets the other cluster lack this whole subtree, or an empty
    string.
    """
    if isinstance(value, dict | list) and value:
        parts = iter(value.values() if isinstance(value, dict) else value)
        rule = optional_rule(next(parts))
        return (
            rule if rule and all(optional_rule(part) == rule for part in parts) else ""
        )
    return next((mark.rule for mark in marks_of(value) if mark.instead == ABSENT), "")


def count_leaves(value: Any) -> int:
    """How many fields a document has: its scalars, and its empty maps and lists."""
    if isinstance(value, dict) and value:
        return sum(count_leaves(v) for v in value.values())
    if isinstance(value, list) and value:
        return sum(count_leaves(v) for v in value)
    return 1
