"""What a row of the tables of breakages says: one behaviour, broken by one patch, and the claims whose checks have to notice."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import iscoroutinefunction
from pkgutil import resolve_name
from typing import Any

import pytest


@dataclass(slots=True, frozen=True)
class Breakage:
    """`what` somebody did wrong. `target`: what is replaced, below `lifecycle` (the last part may be a key of a dict); `instead`:
    by what. `reddens`: claims."""

    what: str
    target: str
    instead: Any
    reddens: tuple[str, ...]

    def apply(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Break it, until the patch is undone. Raises AttributeError or KeyError if there is no such thing to break."""
        where, _, name = f"lifecycle.{self.target}".rpartition(".")
        owner = resolve_name(where)
        there = isinstance(owner, dict)
        original = owner[name] if there else getattr(owner, name)
        replacement = self.instead.make(original) if isinstance(self.instead, Wrapped) else self.instead
        if there:
            monkeypatch.setitem(owner, name, replacement)
        else:
            monkeypatch.setattr(owner, name, replacement)


@dataclass(slots=True, frozen=True)
class Wrapped:
    """A replacement that is made of what it replaces."""

    make: Callable[[Any], Any]


def constant(value: Any) -> Callable[..., Any]:
    """Always the same answer."""
    return lambda *_, **__: copy.copy(value)


async def nothing(*_: Any, **__: Any) -> None:
    """Instead of something."""


def eventually(value: Any) -> Callable[..., Any]:
    """Always the same answer, to somebody who awaits it."""

    async def answer(*_: Any, **__: Any) -> Any:
        return copy.copy(value)

    return answer


def afterwards(change: Callable[..., Any]) -> Wrapped:
    """The same, and then its result is changed: `change(result, *arguments)`. What is wrapped may be a coroutine function."""

    def make(original: Any) -> Any:
        if iscoroutinefunction(original):

            @wraps(original)
            async def later(*arguments: Any, **more: Any) -> Any:
                return change(await original(*arguments, **more), *arguments)

            return later

        @wraps(original)
        def now(*arguments: Any, **more: Any) -> Any:
            return change(original(*arguments, **more), *arguments)

        return now

    return Wrapped(make)


def beforehand(change: Callable[..., Any]) -> Wrapped:
    """The same, with other arguments: `change(*arguments)` returns them."""
    return Wrapped(lambda original: wraps(original)(lambda *arguments, **more: original(*change(*arguments), **more)))
