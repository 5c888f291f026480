"""When does the answer of a probe count?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any, cast

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.kubelet.prober.prober import ProbeError
from lifecycle.kubelet.prober.worker import LIVENESS, READINESS, STARTUP, Worker

CONTRACT = """\
results(kind, probe, answers) -> a list of [number, passed]: the answers that count.

kind:    "readiness", "liveness" or "startup".
probe:   may hold "successThreshold" and "failureThreshold"; without them 1 and 3.
answers: one after the other, of one container: True, False, or None if the question
         could not be put. That is no answer: nothing counts, and nothing is broken off
         by it.
An answer counts if it has been the same as many times in a row as its threshold says,
and so does each further one like it. A startup probe that has counted, and a liveness
probe that has counted as failed, are final: nothing after it counts. Numbers begin
at 0."""

STARTER = '''\
def results(kind, probe, answers):
    """The answers that count, each with its number."""
    threshold = probe.get("failureThreshold", 3)
    told, failures = [], 0
    for number, passed in enumerate(answers):
        failures = 0 if passed else failures + 1
        if failures >= threshold:
            told.append([number, passed])
    return told
'''

PROBES: dict[str, Object] = {
    "the defaults": {},
    "at once": {"failureThreshold": 1},
    "twice": {"failureThreshold": 2},
    "patient": {"failureThreshold": 5},
    "careful": {"successThreshold": 3, "failureThreshold": 2},
}
MOODS = {"mostly well": 0.8, "now and then": 0.5, "mostly ill": 0.2}
ANSWERS = 12
NOW = "2026-07-01T00:00:00Z"


def cases() -> Iterator[Case]:
    """All kinds, thresholds and moods; of each some answers that are none."""
    for kind in (READINESS, LIVENESS, STARTUP):
        for name, probe in PROBES.items():
            if kind != READINESS and "successThreshold" in probe:
                continue  # the API server allows only 1
            for mood, well in MOODS.items():
                dice = Random(f"{kind} {name} {mood}")
                answers = [
                    None if dice.random() < 0.15 else dice.random() < well
                    for _ in range(ANSWERS)
                ]
                yield Case(
                    kind,
                    f"{name}, {mood}",
                    _right(kind, name, tuple(answers)),
                    lambda a, k=kind, p=probe, s=answers: a(k, p, s),  # type: ignore[misc]
                    [kind, probe, answers],
                )


@cache
def _right(kind: str, name: str, answers: tuple[bool | None, ...]) -> list[Any]:
    return results(kind, PROBES[name], list(answers))


class _Answering:
    """A prober whose answers are known beforehand."""

    def __init__(self, answers: list[bool | None]) -> None:
        self._answers = iter(answers)
        self.number = -1

    async def probe(self, *_: object) -> tuple[bool, str]:
        """See `Prober`."""
        self.number += 1
        answer = next(self._answers, None)
        if answer is None:
            raise ProbeError("nobody can be asked")
        return answer, ""


def results(kind: str, probe: Object, answers: list[bool | None]) -> list[Any]:
    """The book's own worker, with a container that runs all the time."""
    told: list[Any] = []
    prober = _Answering(answers)
    pod: Object = {"metadata": {"uid": "u"}, "spec": {}}
    container: Object = {"name": "nginx", f"{kind}Probe": {**probe, "periodSeconds": 1}}
    entry = {
        "name": "nginx",
        "containerID": "x://1",
        "started": kind != STARTUP,
        "state": {"running": {"startedAt": NOW}},
    }
    status: Object = {"phase": "Running", "containerStatuses": [entry]}
    worker = Worker(
        pod,
        container,
        kind,
        cast(Any, prober),
        status=lambda uid: status,
        now=lambda: 4e9,
        event=lambda *_: None,
        result=lambda *result: told.append([prober.number, result[-1]]),
    )

    async def ask() -> None:
        task = asyncio.create_task(worker.run())
        await asyncio.sleep(len(answers) - 0.5)
        task.cancel()

    run_virtual(ask())
    return told


def ours() -> Attempt:
    """The book's."""
    return results


EXERCISE = Exercise(
    "probe-results",
    "When a probe's answer counts",
    CONTRACT,
    STARTER,
    "the book's own worker of probes",
    cases,
    ours,
    ("probes",),
)
