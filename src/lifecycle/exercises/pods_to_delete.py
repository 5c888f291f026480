"""Scaling down: which pods go first?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from random import Random
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, format_time
from lifecycle.controllers.replicaset.victim_ranking import (
    POD_DELETION_COST,
    get_pods_to_delete,
)
from lifecycle.exercises.exercise import Attempt, Case, Exercise

CONTRACT = """\
pods_to_delete(pods, count, now) -> list of str

pods:  Pods of one ReplicaSet as the API shows them: metadata.name, uid,
        creationTimestamp and annotations, spec.nodeName, status.phase, the condition
        Ready with its lastTransitionTime, containerStatuses[].restartCount.
count: fewer than there are pods.
now:   seconds since 1970.
Returns the names of those that go, the first to go first. In this order: without a
node; Pending; not ready; lower annotation controller.kubernetes.io/pod-deletion-cost
(a whole number, 0 if there is none); more pods of the list on its node; ready for a
shorter time; more restarts (the most of a container); younger. Times are compared by
their order of magnitude: the base-2 logarithm of the nanoseconds, rounded down. Of two
different times of the same magnitude the lower uid goes first, and no later rule is
asked. What is equal in everything stays in its order."""

STARTER = '''\
def pods_to_delete(pods, count, now):
    """The pods that lose the least."""

    def is_ready(pod):
        return any(
            condition["type"] == "Ready" and condition["status"] == "True"
            for condition in pod["status"].get("conditions", [])
        )

    return [pod["metadata"]["name"] for pod in sorted(pods, key=is_ready)][:count]
'''

SEED = 36
PLAIN: dict[str, Any] = {"node": "n1", "ready": 5000, "age": 90_000}
PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "without a node": ({"node": "", "cost": 9}, {"cost": -9}),
    "Pending": ({"phase": "Pending", "ready": None, "cost": 9}, {"ready": None}),
    "not ready": ({"ready": None, "cost": 9}, {"cost": -9}),
    "deletion cost": ({"cost": -1, "ready": 90_000}, {"ready": 5, "restarts": 9}),
    "cost and no cost": ({"ready": 90_000}, {"cost": 10, "ready": 5}),
    "ready for a shorter time": ({"ready": 5}, {"restarts": 9}),
    "restarts": ({"restarts": 3, "age": 90_000}, {"restarts": 2, "age": 6_000}),
    "younger": ({"age": 50}, {}),
    "the same magnitude": ({"ready": 6000}, {"ready": 2000}),
}


def cases() -> Iterator[Case]:
    """One pair for each rule, both ways round, and shuffled crowds."""
    for (rule, (goes, stays)), count in product(PAIRS.items(), (0, 1)):
        pods = [_pod("a", **goes), _pod("b", **stays)]
        yield _case("one rule", f"{rule}, in order, {count}", pods, count)
        yield _case("one rule", f"{rule}, the other way, {count}", pods[::-1], count)
        named = [_pod("z", **goes), _pod("b", **stays)]
        yield _case("one rule", f"{rule}, a late uid, {count}", named, count)
    chance = Random(SEED)
    for crowd in range(40):
        pods = [_pod(f"p{number}", **_any(chance)) for number in range(8)]
        chance.shuffle(pods)
        for count in (1, 4, 7):
            yield _case("a crowd", f"crowd {crowd}, {count} go", pods, count)


def _any(chance: Random) -> dict[str, Any]:
    """Something of everything, and often the same, so that late rules count."""
    return {
        "node": chance.choice(("", "n1", "n1", "n2", "n2", "n3")),
        "phase": chance.choice(("Running",) * 5 + ("Pending",)),
        "ready": chance.choice((None, 5, 70, 5000, 5000, 6000)),
        "cost": chance.choice((None, None, None, 0, 5, -5)),
        "restarts": chance.choice((0, 0, 0, 2)),
        "age": chance.choice((7000, 8000, 90_000)),
    }


def _pod(name: str, **said: Any) -> Object:
    told = {**PLAIN, **said}
    ready = told["ready"]
    condition = {
        "type": "Ready",
        "status": "False" if ready is None else "True",
        "lastTransitionTime": format_time(VIRTUAL_EPOCH - (ready or 0)),
    }
    meta: Object = {
        "name": name,
        "uid": f"uid-{name}",
        "creationTimestamp": format_time(VIRTUAL_EPOCH - told["age"]),
    }
    if told.get("cost") is not None:
        meta["annotations"] = {POD_DELETION_COST: str(told["cost"])}
    return {
        "metadata": meta,
        "spec": {"nodeName": told["node"]} if told["node"] else {},
        "status": {
            "phase": told.get("phase", "Running"),
            "conditions": [condition],
            "containerStatuses": [
                {"restartCount": told.get("restarts", 0)},
                {"restartCount": 0},
            ],
        },
    }


def _case(group: str, label: str, pods: list[Object], count: int) -> Case:
    ask: Callable[[Attempt], Any] = lambda attempt: attempt(pods, count, VIRTUAL_EPOCH)  # noqa: E731
    return Case(group, label, _ours(pods, count, VIRTUAL_EPOCH), ask, pods)


def _ours(pods: list[Object], count: int, now: float) -> list[str]:
    gone = get_pods_to_delete(pods, pods, count, now)
    return [pod["metadata"]["name"] for pod in gone]


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "pods-to-delete",
    "Which pods go first",
    CONTRACT,
    STARTER,
    "the book's own, which chose the pods that the recorded controller chose",
    cases,
    ours,
    ("victims", "scale-down"),
)
