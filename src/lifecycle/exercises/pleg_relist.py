"""A look at everything that runs, and what has changed since the last one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random
from types import SimpleNamespace
from typing import Any, cast

from lifecycle.api.loop.clock import run_virtual
from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.apis.pod_sandbox import PodSandboxState
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.kubelet.pleg.generic import GenericPLEG

CONTRACT = """\
Pleg(): a class.

relist(containers) -> a list of [container, event], what has happened since the last
        look.
containers: all that the runtime has now, {id: state} with the states "created",
        "running" and "exited".
event:  "ContainerStarted", "ContainerDied" or "ContainerRemoved". One that is created
        and was never started is nothing to tell of. What is gone and was never seen
        to be over has died first, and then been removed.
        Those that were there at the last look come first, in its order; then the new
        ones, in theirs."""

STARTER = '''\
class Pleg:
    """Looks at a runtime and tells what has changed."""

    def __init__(self):
        self.seen = {}

    def relist(self, containers):
        events = []
        for container, state in containers.items():
            if state == "running" and container not in self.seen:
                events.append([container, "ContainerStarted"])
        self.seen.update(containers)
        return events
'''

Look = dict[str, str]
SEEDS, LOOKS = 5, 6
MOODS = {
    "a quiet node": (0.1, 0.2),
    "a busy node": (0.6, 0.6),
    "nothing stays": (0.9, 0.9),
    "containers come": (0.8, 0.2),
    "containers go": (0.4, 0.9),
}
"""How likely it is between two looks that a container comes, and that one moves on."""


def cases() -> Iterator[Case]:
    """Nodes on which containers come, run, end and are removed, some of it between two
    looks.
    """
    for mood, (comes, moves) in MOODS.items():
        for seed in range(SEEDS):
            looks = list(_looks(Random(f"{mood} {seed}"), comes, moves))
            yield Case(
                mood,
                f"node {seed}",
                _right(mood, seed),
                lambda attempt, looks=looks: _seen(attempt, looks),  # type: ignore[misc]
                looks,
            )


@cache
def _right(mood: str, seed: int) -> list[Any]:
    return _seen(_Ours, list(_looks(Random(f"{mood} {seed}"), *MOODS[mood])))


def _looks(dice: Random, comes: float, moves: float) -> Iterator[Look]:
    there: Look = {}
    number = 0
    for _ in range(LOOKS):
        for container in list(there):
            while container in there and dice.random() < moves:
                _moves_on(there, container)
        while dice.random() < comes and len(there) < 6:
            number += 1
            there[f"nginx-{number}"] = "created"
            while f"nginx-{number}" in there and dice.random() < 0.7:
                _moves_on(there, f"nginx-{number}")
        yield dict(there)


def _moves_on(there: Look, container: str) -> None:
    if there[container] == "exited":
        del there[container]
    else:
        there[container] = {"created": "running", "running": "exited"}[there[container]]


def _seen(make: Attempt, looks: list[Look]) -> list[Any]:
    pleg: Any = make()
    return [pleg.relist(dict(look)) for look in looks]


class _Runtime:
    """A runtime with one sandbox, whose containers are somebody's list."""

    def __init__(self) -> None:
        self.containers: Look = {}
        self._metadata = SimpleNamespace(uid="uid")

    async def list_pod_sandbox(self) -> list[Any]:
        """See `RuntimeService`."""
        ready = PodSandboxState.READY
        return [SimpleNamespace(id="pod", metadata=self._metadata, state=ready)]

    async def list_containers(self, pod_sandbox_id: str) -> list[Any]:
        """See `RuntimeService`."""
        return [
            SimpleNamespace(id=name, state=ContainerState[state.upper()])
            for name, state in self.containers.items()
        ]


class _Ours:
    """The book's PLEG, asked for one look after the other."""

    def __init__(self) -> None:
        self._heard: list[list[str]] = []
        self._runtime = _Runtime()
        self._pleg = GenericPLEG(
            cast(Any, self._runtime),
            lambda event: self._heard.append([event.container_id, event.type]),
        )
        run_virtual(self._pleg.relist())  # the sandbox is no news any more

    def relist(self, containers: Look) -> list[list[str]]:
        """One look."""
        self._runtime.containers = containers
        self._heard.clear()
        run_virtual(self._pleg.relist())
        return list(self._heard)


def ours() -> Attempt:
    """The book's."""
    return _Ours


EXERCISE = Exercise(
    "pleg-relist",
    "What has changed since the last look",
    CONTRACT,
    STARTER,
    "the book's own PLEG",
    cases,
    ours,
    ("pleg",),
)
