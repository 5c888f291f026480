"""How a table is put to the test: our component is broken on purpose, and the rows that turn red must be exactly those that
the break is about.

Two kinds of breaks. A `Sabotage` is one wrong rule, and names the rows that have to notice. `Answers` is for tables in which each
row is one answer of the same component: the answers whose number has a certain bit set are spoilt, all others are left
alone. Over all bits, each row is spoilt at least once without any other given one, so each can go red, and goes red for its own
answer only; for seventeen hundred rows that takes eleven runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from inspect import iscoroutinefunction
from typing import Any

import pytest

from lifecycle.compare import AgreementTable, Row
from lifecycle.inspector import open_recording
from tests.agreements.sabotages.told import Told
from tests.claims.broken.breakage import Breakage, Wrapped

IsSpoilt = Callable[[int], bool]
"""Whether the answer that a row shows is to be spoilt; rows are numbered from 0."""

Install = Callable[[pytest.MonkeyPatch, IsSpoilt], None]


opened = lru_cache(maxsize=2)(open_recording)
"""A recording that is read once for all tables of a component: none of them may change what it reads."""


def said(row: Row) -> str:
    """A row as patterns see it."""
    return f"{row.stage} | {row.input}"


@dataclass(slots=True, frozen=True)
class Sabotage:
    """`what` is wrong, `target` and `instead` as in `Breakage`, `reddens`: patterns of the rows that notice. `because`: why one rule
    feeds several rows, or a row does not go alone."""

    what: str
    target: str
    instead: Any
    reddens: tuple[str, ...]
    because: str = ""

    def apply(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Break it, until the patch is undone."""
        Breakage(self.what, self.target, self.instead, ()).apply(monkeypatch)

    def covers(self, row: Row) -> bool:
        """Whether the row has to notice."""
        return any(re.search(pattern, said(row)) for pattern in self.reddens)


@dataclass(slots=True, frozen=True)
class Answers:
    """`what` answers, a pattern of the rows that are such answers, and how some of them are spoilt."""

    what: str
    pattern: str
    install: Install

    def of(self, table: AgreementTable) -> list[Row]:
        """The rows, in the order of the answers."""
        return [row for row in table.rows if re.search(self.pattern, said(row))]


@dataclass(slots=True, frozen=True)
class Judged:
    """A table, and its breaks. `of_others`: why there is nothing of ours in it that could be broken."""

    name: str
    table: Callable[[], AgreementTable]
    sabotages: tuple[Sabotage, ...] = ()
    answers: tuple[Answers, ...] = ()
    of_others: str = ""


def called(
    target: str, change: Callable[..., Any], rows: Sequence[int] | None = None, *, once: bool = False
) -> Install:
    """Spoils results of a function, called once for each row in their order (or, the k-th time, for row `rows[k]`): by
    `change(result, *arguments)`. `once`: its results are all that the table sees of it, so they are remembered (see `Told`)."""

    def install(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
        count, told = iter(range(1 << 30)), Told(install) if once else None

        def changed(result: Any, arguments: Any) -> Any:
            number = next(count)
            if rows is not None:
                number = rows[number] if number < len(rows) else -1
            return change(result, *arguments) if number >= 0 and spoilt(number) else result

        def make(original: Any) -> Any:
            if iscoroutinefunction(original):

                @wraps(original)
                async def later(*arguments: Any, **more: Any) -> Any:
                    if told is not None and told.known:
                        return changed(told.again((arguments, more)), arguments)
                    result = await original(*arguments, **more)
                    if told is not None:
                        told.keep((arguments, more), result)
                    return changed(result, arguments)

                return later

            @wraps(original)
            def now(*arguments: Any, **more: Any) -> Any:
                if told is not None and told.known:
                    return changed(told.again((arguments, more)), arguments)
                result = original(*arguments, **more)
                if told is not None:
                    told.keep((arguments, more), result)
                return changed(result, arguments)

            return now

        Breakage("", target, Wrapped(make), ()).apply(monkeypatch)

    return install


def listed(target: str, change: Callable[[Any], Any]) -> Install:
    """Spoils what a function says of all rows at once, in their order; it is all that the table sees, so it is remembered (see
    `Told`)."""

    def install(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
        told = Told(install)

        def make(original: Any) -> Any:
            @wraps(original)
            def now(*arguments: Any) -> Any:
                if told.known:
                    answers = told.again(arguments)
                else:
                    told.keep(arguments, answers := original(*arguments))
                return [change(one) if spoilt(row) else one for row, one in enumerate(answers)]

            return now

        Breakage("", target, Wrapped(make), ()).apply(monkeypatch)

    return install
