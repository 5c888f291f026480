"""Which pods a ReplicaSet's controller deletes of too many, held against the real one.

Somebody has made the pods by hand: with and without a node, ready since lately or since
long, dear and cheap, restarted and not. The real controller was given them and a
ReplicaSet that wants fewer. Ours is asked which it would have deleted.
"""

from __future__ import annotations

from lifecycle.agreements.asked_programs import asked
from lifecycle.api.http.wire import Object
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers
from lifecycle.controllers.pod_readiness import is_pod_active, is_pod_terminating
from lifecycle.controllers.replicaset.status import calculate_status
from lifecycle.controllers.replicaset.victim_ranking import get_pods_to_delete

GRACE = 30.0
"""Seconds that a pod which is deleted gets by default."""


def chosen_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """Two rows for each ReplicaSet: who goes, and what is said of those who are left.
    `programs`: what the real controller did; None: as recorded.
    """
    cases = asked(programs, "chosen")
    table = AgreementTable(
        "Pods that go first",
        "lifecycle",
        f"{cases[0].program}, asked directly",
        lambda table: (
            f"{len(cases)} ReplicaSets with too many pods, which somebody has made by"
            " hand. Whom the real controller deletes, and whom ours would have; what is"
            f" said of those that are left: {table.outcome('answers')}."
        ),
    )
    for each in cases:
        mine, theirs = our_choice(each.answer), each.answer["chosen"]
        what = each.question.partition("/")[2]
        table.add(
            "chosen", what, ", ".join(mine), ", ".join(theirs), compare(mine, theirs)
        )
        told, recorded = our_status(each.answer), each.answer["status"]
        counts = f"{told['replicas']} pods", f"{recorded['replicas']} pods"
        table.add("left", what, *counts, compare(told, recorded))
    return table


def our_choice(case: Object) -> list[str]:
    """Names, sorted: pods are deleted at once."""
    active = [pod for pod in case["pods"] if is_pod_active(pod)]
    related = [*case["pods"], *case["others"]]
    victims = get_pods_to_delete(active, related, len(case["chosen"]), case["now"])
    return sorted(pod["metadata"]["name"] for pod in victims)


def our_status(case: Object) -> Object:
    """What is said of the pods that are left."""
    active = [pod for pod in case["left"] if is_pod_active(pod)]
    terminating = sum(map(is_pod_terminating, case["left"]))
    moment = case["now"]
    return calculate_status(case["replica set"], active, terminating, None, moment)


def counted_status(status: Object) -> Object:
    """A recorded status without what is not counted."""
    return {key: n for key, n in status.items() if key != "observedGeneration"}


def bare(pod: Object) -> Object:
    """A pod without what has nothing to do with it."""
    meta, spec = pod["metadata"], pod["spec"]
    kept = (
        "name",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "annotations",
        "labels",
    )
    return {
        "metadata": {key: meta[key] for key in kept if key in meta},
        "spec": {
            key: spec[key] for key in ("nodeName", "initContainers") if key in spec
        },
        "status": {k: v for k, v in pod["status"].items() if k != "qosClass"},
    }
