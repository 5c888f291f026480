"""Six moments in the life of a Deployment, whoever's clock they were measured on."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.trace.journey import Journey, Step
from lifecycle.trace.milestones import MILESTONES

CONTRACT = """\
milestones(steps) -> {milestone: seconds, or None if it was never reached}

steps: [{"component", "stage", "about", "start", "end"}, …] of one Deployment, in any
       order; seconds since the key press.

"the Deployment is stored"         when the first write of it ended
"the ReplicaSet is stored"         the same
"the last pod is stored"           when the first write of the last of its pods ended
"the last pod is bound to a node"  the end of the scheduler's last "bind"
"the first word from a kubelet"    the earliest end of a kubelet's "status"
"all pods are ready"               the earliest end of watch's "all pods ready"

A write is etcd's "txn", about "deployments/nginx", "replicasets/…" or "pods/…". A
cluster whose etcd says nothing (a real one, of which only the audit log is known) shows
"create Deployment", "create ReplicaSet" and "create Pod" instead, of whatever
component: then each of these counts as a write of its own."""

STARTER = '''\
def milestones(steps):
    """When each of the six was reached."""
    stored = [step["end"] for step in steps if step["stage"] == "txn"]
    return {
        "the Deployment is stored": min(stored, default=None),
        "the last pod is stored": max(stored, default=None),
    }
'''

Steps = list[dict[str, Any]]
SEEDS = 10
UNTIL = ("to the end", "no kubelet", "no scheduler", "no pods", "nothing")


def cases() -> Iterator[Case]:
    """Journeys as our spans tell them and as an audit log does, some of which stop half
    way.
    """
    for witness in ("our spans", "an audit log"):
        for until in UNTIL:
            for seed in range(SEEDS if until == "to the end" else 2):
                dice = Random(f"{witness} {until} {seed}")
                steps = list(_steps(dice, witness, UNTIL.index(until)))
                dice.shuffle(steps)
                yield Case(
                    witness,
                    f"{until}, {seed}",
                    milestones(steps),
                    lambda attempt, steps=steps: attempt(steps),  # type: ignore[misc]
                    steps,
                )


def _steps(dice: Random, witness: str, stops: int) -> Iterator[dict[str, Any]]:
    now = 0.0

    def step(component: str, stage: str, about: str = "") -> dict[str, Any]:
        nonlocal now
        start = round(now + dice.random() / 100, 4)
        end = round(start + dice.random() / 20, 4)
        now = start
        names = {"component": component, "stage": stage, "about": about}
        return {**names, "start": start, "end": end}

    def write(author: str, kind: str, about: str) -> dict[str, Any]:
        if witness == "our spans":
            return step("etcd", "txn", about)
        return step(author, f"create {kind}", about)

    if stops == 4:
        return
    pods = [f"pods/nginx-7f8-{dice.randrange(1000)}" for _ in range(3)]
    yield write("kubectl", "Deployment", "deployments/nginx")
    yield write("deployment-controller", "ReplicaSet", "replicasets/nginx-7f8")
    if stops < 3:
        for pod in pods:
            yield write("replicaset-controller", "Pod", pod)
    for _ in range(stops < 2 and len(pods)):
        yield step("scheduler", "bind", pods[dice.randrange(3)])
        yield step("scheduler", "score")
    if stops < 1:
        for pod in pods:
            yield step("kubelet", "sync", pod)
            yield step("kubelet", "status", pod)
        yield step("watch", "all pods ready")
    if witness == "our spans":  # each is written again
        yield step("etcd", "txn", "deployments/nginx")
        yield step("etcd", "txn", "replicasets/nginx-7f8")
        for pod in pods if stops < 3 else ():
            yield step("etcd", "txn", pod)
        yield step("etcd", "txn", "leases/lifecycle-worker")
    if stops < 1:
        yield step("watch", "all pods ready")


def milestones(steps: Steps) -> dict[str, float | None]:
    """The book's own."""
    journey = Journey(
        "",
        tuple(
            Step(one["component"], one["stage"], one["start"], one["end"], one["about"])
            for one in sorted(steps, key=lambda one: one["start"])
        ),
    )
    return {name: when(journey) for name, when in MILESTONES.items()}


def ours() -> Attempt:
    """The book's."""
    return milestones


EXERCISE = Exercise(
    "milestones",
    "Six moments of a journey",
    CONTRACT,
    STARTER,
    "the book's own, which cuts the recorded journey",
    cases,
    ours,
    ("moments",),
)
