"""A scenario: what was typed, and when. It fits into an address, so a teacher can hand
it on.

    nodes=3&seed=1&speed=10&do=0+kubectl+create+deployment+nginx+--image=nginx&do=20+…

The same scenario gives the same cluster, to the last letter of a pod's name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

MOST_NODES = 50
MOST_STEPS = 200
LONGEST_LINE = 16_000
"""Characters of one command, with the manifest that it reads."""
MOST_CHARACTERS = 48_000
"""Characters of all commands together: an address that still fits where people paste
it.
"""
LONGEST = 86_400.0
"""The last second of the day that a scenario may last."""


class ScenarioError(ValueError):
    """An address that says no scenario: one line that says what is wrong."""


@dataclass(slots=True, frozen=True)
class Step:
    """`line` is typed at virtual second `at`."""

    at: float
    line: str


@dataclass(slots=True, frozen=True)
class Scenario:
    """`speed`: virtual seconds for each real one; 0: time stands still at first."""

    nodes: int = 3
    seed: int = 1
    speed: float = 1.0
    steps: tuple[Step, ...] = ()


def parse_scenario(text: str) -> Scenario:
    """What an address says after its `#`. Raises ScenarioError."""
    numbers: dict[str, float] = {}
    steps = []
    for name, value in parse_qsl(text, keep_blank_values=True):
        if name == "do":
            at, _, line = value.partition(" ")
            steps.append(Step(_number("do", at, 0, LONGEST), line.strip()))
        elif name in _BOUNDS:
            numbers[name] = _number(name, value, *_BOUNDS[name])
        else:
            raise ScenarioError(
                f"a scenario has nodes, seed, speed and do; not {name!r}"
            )
    if len(steps) > MOST_STEPS:
        raise ScenarioError(f"{len(steps)} steps are too many: {MOST_STEPS} at most")
    for step in steps:
        if len(step.line) > LONGEST_LINE:
            raise ScenarioError(
                f"a line of {len(step.line)} characters is too long: {LONGEST_LINE} at"
                " most"
            )
    _check_size(steps)
    return Scenario(
        nodes=int(numbers.get("nodes", 3)),
        seed=int(numbers.get("seed", 1)),
        speed=numbers.get("speed", 1.0),
        steps=tuple(sorted(steps, key=lambda step: step.at)),
    )


def _check_size(steps: Iterable[Step]) -> None:
    size = sum(len(step.line) for step in steps)
    if size > MOST_CHARACTERS:
        raise ScenarioError(
            f"{size} characters in all lines are too many: {MOST_CHARACTERS} at most"
        )


def format_scenario(scenario: Scenario) -> str:
    """The part of an address after its `#`. Raises ScenarioError for what would not be
    read again.
    """
    _check_size(scenario.steps)
    return urlencode(
        [
            ("nodes", str(scenario.nodes)),
            ("seed", str(scenario.seed)),
            ("speed", f"{scenario.speed:g}"),
            *(("do", f"{step.at:.3f} {step.line}") for step in scenario.steps),
        ]
    )


_BOUNDS = {"nodes": (1, MOST_NODES), "seed": (0, 2**31), "speed": (0, 1000)}


def _number(name: str, text: str, least: float, most: float) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ScenarioError(f"{name}: {text!r} is not a number") from None
    if not least <= number <= most:
        raise ScenarioError(f"{name}: {text} is not between {least:g} and {most:g}")
    return number
