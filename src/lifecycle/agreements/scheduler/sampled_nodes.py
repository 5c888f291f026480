"""How many nodes are enough, held against a real scheduler: in a large cluster it stops
looking long before it has seen them all.

The real one had a profile for each percentage that it was told, and its log says how
many nodes it found that fit. Ours decides about the same pod among as many nodes.
"""

from __future__ import annotations

from lifecycle.agreements.asked_programs import asked
from lifecycle.agreements.claim_checks.scheduler import node, pod
from lifecycle.api.http.wire import Object
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers
from lifecycle.scheduler.backend.cache.cache import Cache
from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.config import Profile
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.profile import new_framework
from lifecycle.scheduler.schedule_pod import Algorithm


def sampled_nodes_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each pod. `programs`: what the real one did; None: as recorded."""
    pods = asked(programs, "sampled")
    table = AgreementTable(
        "How many nodes are enough",
        "lifecycle",
        f"{pods[0].program}, asked directly",
        lambda table: (
            f"{len(pods)} times a pod comes to a cluster of one node up to several"
            " hundred, all of which would do. How many of them a real scheduler finds"
            f" before it stops looking, and ours: {table.outcome('pods')}."
        ),
    )
    for each in pods:
        told = each.answer["percentage"]
        what = f"{each.answer['nodes']} nodes, {'nothing' if told is None else told}"
        mine, theirs = our_feasible(each.answer), each.answer["feasible"]
        found = {"feasible": mine}, {"feasible": theirs}
        table.add("scheduling", what, str(mine), str(theirs), compare(*found))
    return table


def our_feasible(case: Object) -> int:
    """How many ours finds."""
    cache, snapshot = Cache(), Snapshot()
    for number in range(case["nodes"]):
        cache.add_node(node(f"n{number}"))
    cache.update_snapshot(snapshot)
    profile = Profile(percentage_of_nodes_to_score=case["percentage"])
    algorithm = Algorithm(new_framework(profile), snapshot)
    result = algorithm.schedule_pod(CycleState(), PodInfo(pod("new", "1m")))
    return result.feasible_nodes
