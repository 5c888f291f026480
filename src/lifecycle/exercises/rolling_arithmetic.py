"""The arithmetic of a rolling update: how many pods too many, how many missing, and how
large may the new ReplicaSet be?
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from random import Random

from lifecycle.agreements.recorded_journey import RecordedJourney
from lifecycle.api.http.wire import Object
from lifecycle.controllers.deployment.deployment_util import (
    find_new_replica_set,
    max_surge,
    max_unavailable,
    new_rs_new_replicas,
)
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.inspector import open_recording

CONTRACT = """\
rolling_update(deployment, new_rs, old_replica_sets) -> {"maxSurge": int,
"maxUnavailable": int, "newReplicas": int}

deployment:       a Deployment of strategy RollingUpdate; maxSurge and maxUnavailable
        are numbers or text like "25%".
new_rs:           the ReplicaSet of the current template; old_replica_sets: a list of
        the others. Their spec.replicas counts.
maxSurge, maxUnavailable: in pods. newReplicas: the size the new ReplicaSet may be
        given now if it is to grow as far as allowed (its present size if there is no
        room)."""

STARTER = '''\
def rolling_update(deployment, new_rs, old_replica_sets):
    """How far an update may lean out, and the next size of the new
    ReplicaSet.
    """
    wanted = deployment["spec"]["replicas"]
    return {"maxSurge": 1, "maxUnavailable": 0, "newReplicas": wanted}
'''

VALUES: tuple[int | str, ...] = (0, 1, 3, "0%", "25%", "34%", "50%", "100%")
SEED = 36


def cases() -> Iterator[Case]:
    """Every state of the recorded journey's rollouts, and a grid of sizes and
    percentages.
    """
    yield from _recorded()
    random = Random(SEED)
    for desired, surge, unavailable in product((0, 1, 2, 3, 4, 10, 99), VALUES, VALUES):
        new, old = random.randint(0, max(desired, 1)), random.randint(0, desired + 3)
        deployment = _deployment(desired, surge, unavailable)
        label = (
            f"{desired} pods, surge {surge}, unavailable {unavailable}, new {new}, old"
            f" {old}"
        )
        yield _case(
            "sizes and percentages",
            label,
            deployment,
            _replica_set(new),
            [_replica_set(old)],
        )
    for desired, new, sizes in product(
        (3, 10), (0, 1, 2), ((), (1, 1), (0, 2, 1), (4, 3, 2, 1))
    ):
        deployment = _deployment(desired, "25%", "25%")
        label = f"{desired} pods, new {new}, old {', '.join(map(str, sizes)) or 'none'}"
        yield _case(
            "several old sets",
            label,
            deployment,
            _replica_set(new),
            [_replica_set(size) for size in sizes],
        )


def _recorded() -> Iterator[Case]:
    journey = RecordedJourney(open_recording())
    for event in journey.requests(
        "deployment-controller", "update", "/replicasets/", 200
    ):
        revision = int(event["responseObject"]["metadata"]["resourceVersion"])
        sets = journey.as_of("replicasets", revision)
        for deployment in journey.as_of("deployments", revision):
            new = find_new_replica_set(deployment, sets)
            if new is not None:
                old = [rs for rs in sets if rs is not new]
                yield _case(
                    "the recorded rollouts",
                    f"before revision {revision}",
                    deployment,
                    new,
                    old,
                )


def _case(
    group: str, label: str, deployment: Object, new: Object, old: list[Object]
) -> Case:
    ask: Callable[[Attempt], object] = lambda attempt: attempt(deployment, new, old)  # noqa: E731
    return Case(group, label, _ours(deployment, new, old), ask, [deployment, new, old])


def _deployment(replicas: int, surge: int | str, unavailable: int | str) -> Object:
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    return {
        "spec": {
            "replicas": replicas,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
        }
    }


def _replica_set(replicas: int) -> Object:
    return {"spec": {"replicas": replicas}}


def _ours(deployment: Object, new_rs: Object, old: list[Object]) -> Object:
    size = new_rs_new_replicas(deployment, [new_rs, *old], new_rs)
    return {
        "maxSurge": max_surge(deployment),
        "maxUnavailable": max_unavailable(deployment),
        "newReplicas": size,
    }


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "rolling-arithmetic",
    "The arithmetic of a rolling update",
    CONTRACT,
    STARTER,
    "the book's own, which made the recorded sizes",
    cases,
    ours,
    ("rolling-update", "rolling"),
)
