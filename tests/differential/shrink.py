"""A smaller case that still shows the same: fewer steps, then less in each body and query."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

from tests.differential.case import PROTOBUF, Case, Step

Shows = Callable[[Case], Awaitable[bool]]
ATTEMPTS = 200


async def shrink(case: Case, shows: Shows, attempts: int = ATTEMPTS) -> Case:
    """The smallest case found; `shows` says whether one still disagrees in its last step, in the same way. Asks at most `attempts`
    times.
    """
    left = attempts
    smaller = True
    while smaller:
        smaller = False
        for candidate in _smaller(case):
            if not left:
                return case
            left -= 1
            if await shows(candidate):
                case, smaller = candidate, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    steps = case.steps
    for index in range(len(steps) - 1):
        yield Case(steps[:index] + steps[index + 1 :])
    for index in reversed(range(len(steps))):
        for step in _simpler(steps[index]):
            yield Case((*steps[:index], step, *steps[index + 1 :]))


def _simpler(step: Step) -> Iterator[Step]:
    path, _, query = step.path.partition("?")
    options = query.split("&") if query else []
    for index in range(len(options)):
        if options[index].startswith("timeoutSeconds="):
            continue  # a watch without it would not end
        rest = "&".join(options[:index] + options[index + 1 :])
        yield replace(step, path=f"{path}?{rest}" if rest else path)
    if step.content_type == PROTOBUF:
        yield replace(step, content_type="application/json")
    if step.accept != "application/json":
        yield replace(step, accept="application/json")
    for body in _less(step.body):
        yield replace(step, body=body)


def _less(value: Any) -> Iterator[Any]:
    """The value without one of its parts; large parts first."""
    if isinstance(value, dict):
        for key in value:
            yield {name: part for name, part in value.items() if name != key}
        for key, part in value.items():
            for less in _less(part):
                yield {**value, key: less}
    elif isinstance(value, list):
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]
        for index, part in enumerate(value):
            for less in _less(part):
                yield [*value[:index], less, *value[index + 1 :]]
    elif isinstance(value, str) and len(value) > 20:
        yield value[:8]
