"""How long did a pod take to start, for the promise?"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import format_time, parse_time
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.kubelet.pod.startup_latency_tracker import POD_START_SLI, StartupMetrics

CONTRACT = """\
start_seconds(pod, status, pulls, now) -> seconds, or None if the pod does not count.

pod:    metadata.creationTimestamp, spec.volumes.
status: containerStatuses and initContainerStatuses as in the API: a state is
        {"running": {"startedAt"}}, {"waiting": {}} or {"terminated": {"startedAt",
        "finishedAt"}}, with times as "2026-07-01T08:00:00Z".
pulls:  [[begin, end], …], when images were pulled; seconds since 1970. Those that
        overlap count once.
now:    the moment at which this status came; seconds since 1970.

As long as not every container runs, there is nothing to count. A pod that has a volume
which may hold state does not count at all; secret, configMap, downwardAPI, emptyDir and
projected hold none. The others: from the creation until now, less what the pulls took,
less what each init container took that has ended; never less than nothing."""

STARTER = '''\
from datetime import datetime


def start_seconds(pod, status, pulls, now):
    """How long the pod took to start."""
    created = datetime.fromisoformat(pod["metadata"]["creationTimestamp"])
    return now - created.timestamp()
'''

CREATED = "2026-07-01T08:00:00Z"
SEEDS = 10
GROUPS = ("nginx alone", "with init containers", "with volumes", "not yet", "anything")
VOLUMES = (
    "secret",
    "configMap",
    "downwardAPI",
    "emptyDir",
    "projected",
    "hostPath",
    "persistentVolumeClaim",
    "csi",
)


def cases() -> Iterator[Case]:
    """Pods that start, with pulls that overlap, init containers and volumes."""
    for group in GROUPS:
        for seed in range(SEEDS):
            dice = Random(f"{group} {seed}")
            inputs = _inputs(dice, group)
            yield Case(
                group,
                f"pod {seed}",
                start_seconds(*inputs),
                lambda a, i=inputs: _rounded(a(*i)),  # type: ignore[misc]
                list(inputs),
            )


def _inputs(
    dice: Random, group: str
) -> tuple[Object, Object, list[list[float]], float]:
    begin = parse_time(CREATED)
    anything = group == "anything"
    pulls = []
    for _ in range(dice.randrange(4)):
        start = begin + dice.randrange(0, 40) / 4
        pulls.append([start, start + dice.randrange(1, 40) / 4])
    states: list[Object] = [
        {"running": {"startedAt": CREATED}} for _ in range(dice.randint(1, 3))
    ]
    if group == "not yet" or (anything and dice.random() < 0.3):
        other = {"startedAt": CREATED, "finishedAt": CREATED}
        states[dice.randrange(len(states))] = dice.choice(
            ({"waiting": {"reason": "ContainerCreating"}}, {"terminated": other})
        )
    status: Object = {
        "containerStatuses": [
            {"name": f"c{number}", "state": state}
            for number, state in enumerate(states)
        ]
    }
    if group == "with init containers" or anything:
        status["initContainerStatuses"] = [
            {"name": f"i{number}", "state": _init_state(dice, begin)}
            for number in range(dice.randint(1, 3))
        ]
    pod: Object = {"metadata": {"uid": "u", "creationTimestamp": CREATED}, "spec": {}}
    if group == "with volumes" or (anything and dice.random() < 0.5):
        kinds = dice.sample(VOLUMES[: 5 if dice.random() < 0.5 else None], 2)
        pod["spec"]["volumes"] = [{"name": kind, kind: {}} for kind in kinds]
    return pod, status, pulls, begin + dice.randrange(8, 240) / 4


def _init_state(dice: Random, begin: float) -> Object:
    start = begin + dice.randrange(10)
    times = {
        "startedAt": format_time(start),
        "finishedAt": format_time(start + dice.randrange(8)),
    }
    if dice.random() < 0.2:
        return {"running": {"startedAt": times["startedAt"]}}
    return {"terminated": times}


def _rounded(seconds: Any) -> Any:
    return seconds if seconds is None else round(float(seconds), 3)


def start_seconds(
    pod: Object, status: Object, pulls: list[list[float]], now: float
) -> float | None:
    """As the book's kubelet counts for Prometheus."""
    metrics = StartupMetrics()
    metrics.first_seen("u", parse_time(CREATED))
    for begin, end in pulls:
        metrics.pulling("u", begin, end)
    metrics.running(pod, status, now)
    histogram = metrics.histogram(POD_START_SLI)
    return _rounded(histogram.sum) if histogram.count else None


def ours() -> Attempt:
    """The book's."""
    return start_seconds


EXERCISE = Exercise(
    "pod-start-sli",
    "The clock behind the promise",
    CONTRACT,
    STARTER,
    "the book's own kubelet",
    cases,
    ours,
    ("startup-latency",),
)
