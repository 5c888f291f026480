"""How long a hollow node takes for each step of a container's life.

By default no time at all, or about as long as somebody says. `recorded`: each step as
long as that step once took on a recorded node, drawn from all times that were seen. A
rollout then goes through the states that a real one goes through, and a seed makes it
go the same way again.

`step_times.tsv` is made from the recordings (`generators/step_times.py` says how each
step was measured).

Ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from random import Random
from typing import Literal

RECORDED: Literal["recorded"] = "recorded"
Latency = float | Literal["recorded"]
"""Seconds that each of the slow steps takes, give or take half; or as recorded."""

SANDBOX, PULL, CREATE, START = "sandbox", "pull", "create", "start"
PROBE, LISTEN, STOP, RELEASE = "probe", "listen", "stop", "release"
SLOW = frozenset({SANDBOX, PULL, START})
"""The steps that take time where no recorded times are asked for."""


@cache
def recorded_times() -> Mapping[str, Sequence[float]]:
    """Each step's times, in seconds, ascending."""
    text = files(__package__).joinpath("step_times.tsv").read_text()
    rows = (line.split("\t") for line in text.splitlines() if not line.startswith("#"))
    return {step: tuple(map(float, times)) for step, *times in rows}


class StepTimes:
    """One node's. `seed` makes recorded times differ from node to node."""

    def __init__(self, latency: Latency = 0.0, seed: str | None = None) -> None:
        self.latency = latency
        self._rng = Random(0)
        self._seed = seed

    def use(self, pod_cidr: str) -> None:
        """Each node at a pace of its own."""
        own = f"{self._seed} {pod_cidr}" if self.latency == RECORDED else pod_cidr
        self._rng.seed(own)

    def draw(self, step: str) -> float:
        """Seconds for a step this time."""
        if self.latency == RECORDED:
            return self._rng.choice(recorded_times()[step])
        if not self.latency or step not in SLOW:
            return 0.0
        return self.latency * (0.5 + self._rng.random())
