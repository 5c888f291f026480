"""What an exercise is, and how a reader's attempt at it is graded.

An attempt is any callable. Each case calls it as the contract says and compares what
comes back. Attempts are strangers' code: one that raises (or leaves the program) has a
wrong answer for that case, one that hangs is stopped, one that answers in a shape that
nobody can compare is told so, and so is one that changes what it was handed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from lifecycle.api import fast_json
from lifecycle.compare.compare import Comparison, Difference, compare
from lifecycle.exercises.graded import GradedTable, case_title
from lifecycle.exercises.time_limit import TooSlow, time_limit

SECONDS_PER_CASE = 5.0
HOPELESS = 3
"""After so many cases that had to be stopped, the rest is not tried."""

Attempt = Callable[..., Any]


@dataclass(slots=True, frozen=True)
class Case:
    """One question. `group` is the row of the table it counts in, `label` its path in
    there.

    `ask` is handed the attempt, calls it and returns what is compared with `expected`;
    `inputs` is what it hands over and must find unchanged. `question` is shown to
    people instead of them, where they are too much to read.
    """

    group: str
    label: str
    expected: Any
    ask: Callable[[Attempt], Any]
    inputs: Any = None
    question: Any = None


@dataclass(slots=True, frozen=True)
class Exercise:
    """A stage to write yourself.

    `contract`: what the attempt is handed and returns, for people. `starter`: a file to
    begin with. `cases` makes the questions, `ours` is the component of the book that
    has to pass, and `source` says where the right answers are from.
    """

    stage: str
    title: str
    contract: str
    starter: str
    source: str
    cases: Callable[[], Iterable[Case]]
    ours: Callable[[], Attempt]
    aliases: tuple[str, ...] = field(default=())


def grade(exercise: Exercise, attempt: Attempt, name: str = "yours") -> GradedTable:
    """Put every case to an attempt. One row per group, and a last one for inputs that
    were changed.
    """
    table = GradedTable(exercise.title, name, exercise.source)
    rows: dict[str, tuple[int, Comparison]] = {}
    pristine: dict[int, tuple[Any, bytes, str]] = {}
    stopped = 0
    for case in list(
        exercise.cases()
    ):  # all of them, before anybody has had a chance to change what they are made of
        if case.inputs is not None and id(case.inputs) not in pristine:
            pristine[id(case.inputs)] = case.inputs, _frozen(case.inputs), case.label
        count, total = rows.get(case.group, (0, Comparison()))
        if stopped < HOPELESS:
            result, timed_out = _answer(case, attempt)
            stopped += timed_out
        else:
            result = _wrong(case, "was not tried: too many cases had to be stopped")
        total += result
        rows[case.group] = count + 1, total
    for group, (count, total) in rows.items():
        table.add_group(group, count, total)
    changed = Comparison(total=1, equal=1)
    for value, before, label in pristine.values():
        if _frozen(value) != before:
            changed = Comparison(
                total=1,
                differences=[
                    Difference(f"/{label}", "changed what it was handed", "read only")
                ],
            )
            break
    table.add_group("leaves its inputs alone", 1, changed)
    return table


def find_case(exercise: Exercise, words: str) -> Case | None:
    """The first case whose group and label, as a wrong answer names them, contain these
    words.
    """
    return next(
        (
            case
            for case in exercise.cases()
            if words in case_title(case.group, case.label)
        ),
        None,
    )


def _frozen(value: Any) -> bytes:
    """As JSON; empty for what JSON has no words for."""
    try:
        return fast_json.dumps(value)
    except Exception:
        return b""


class AnotherShape(Exception):
    """What came back cannot be an answer; the message goes on after "yours "."""


def _answer(case: Case, attempt: Attempt) -> tuple[Comparison, bool]:
    try:
        with time_limit(SECONDS_PER_CASE):
            answer = case.ask(attempt)
            if inspect.iscoroutine(answer):
                answer.close()
                raise AnotherShape(
                    "was a coroutine, for a question that nobody awaits: write `def`,"
                    " not `async def`"
                )
            if not _frozen(answer):
                raise AnotherShape(
                    f"does not fit the contract (a {type(answer).__name__} that JSON"
                    " has no words for)"
                )
            return compare(answer, case.expected, path=f"/{case.label}"), False
    except TooSlow:
        return _wrong(case, f"gave no answer within {SECONDS_PER_CASE:.0f} s"), True
    except KeyboardInterrupt:
        raise
    except AnotherShape as error:
        return _wrong(case, str(error)), False
    except BaseException as error:  # SystemExit, too: leaving is no answer
        message = " ".join(
            f"{type(error).__name__}: {error}".removesuffix(": ").split()
        )
        if _raised_here(error.__traceback__):
            return _wrong(case, f"does not fit the contract ({message})"), False
        return _wrong(case, f"raised {message}"), False


def _raised_here(traceback: TracebackType | None) -> bool:
    """Whether our own handling of the answer failed, and not the attempt's code."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    where = (
        Path(traceback.tb_frame.f_code.co_filename) if traceback is not None else Path()
    )
    return where.parent.name in ("exercises", "compare") and where.parent.parent == HERE


HERE = Path(__file__).parent.parent


def _wrong(case: Case, why: str) -> Comparison:
    return Comparison(
        total=1, differences=[Difference(f"/{case.label}", why, case.expected)]
    )
