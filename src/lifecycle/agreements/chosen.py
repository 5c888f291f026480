"""Which pods a ReplicaSet's controller deletes of too many, held against the real one.

Somebody has made the pods by hand: with and without a node, ready since lately or since
long, dear and cheap, restarted and not. The real controller was given them and a
ReplicaSet that wants fewer. Ours is asked which it would have deleted.
"""

from __future__ import annotations

from lifecycle.agreements.node_admission import asked
from lifecycle.api.wire import Object
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers
from lifecycle.controllers.pod_readiness import is_pod_active
from lifecycle.controllers.replicaset.victim_ranking import get_pods_to_delete

GRACE = 30.0
"""Seconds that a pod which is deleted gets by default."""


def chosen_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each ReplicaSet. `programs`: whom the real controller chose; None: as
    recorded.
    """
    cases = asked(programs, "chosen")
    table = AgreementTable(
        "Pods that go first",
        "lifecycle",
        f"{cases[0].program}, asked directly",
        lambda table: (
            f"{len(cases)} ReplicaSets with too many pods, which somebody has made by"
            " hand. Whom the real controller deletes, and whom ours would have:"
            f" {table.outcome('choices')}."
        ),
    )
    for each in cases:
        mine, theirs = our_choice(each.answer), each.answer["chosen"]
        what = each.question.partition("/")[2]
        table.add(
            "chosen", what, ", ".join(mine), ", ".join(theirs), compare(mine, theirs)
        )
    return table


def our_choice(case: Object) -> list[str]:
    """Names, sorted: pods are deleted at once."""
    active = [pod for pod in case["pods"] if is_pod_active(pod)]
    related = [*case["pods"], *case["others"]]
    victims = get_pods_to_delete(active, related, len(case["chosen"]), case["now"])
    return sorted(pod["metadata"]["name"] for pod in victims)


def bare(pod: Object) -> Object:
    """A pod without what has nothing to do with it."""
    meta, spec = pod["metadata"], pod["spec"]
    kept = ("name", "uid", "creationTimestamp", "annotations")
    return {
        "metadata": {key: meta[key] for key in kept if key in meta},
        "spec": {
            key: spec[key] for key in ("nodeName", "initContainers") if key in spec
        },
        "status": {k: v for k, v in pod["status"].items() if k != "qosClass"},
    }
