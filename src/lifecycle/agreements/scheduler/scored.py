"""Scores of nodes held against a real scheduler, on both sides of what decides: a node
that is full and one that has room for one pod more, images just too small to count,
taints that are tolerated by one effect and not by another.

The recorded cluster's pods went where a whole cluster made them go. Here each case has
a few nodes and pods of its own; the scheduler's log (`-v=10`) has every plugin's score.
"""

from __future__ import annotations

from lifecycle.agreements.asked_programs import asked
from lifecycle.api.http.wire import Object
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers
from lifecycle.scheduler.backend.cache.cache import Cache
from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.types import FitError
from lifecycle.scheduler.profile import default_framework
from lifecycle.scheduler.schedule_pod import Algorithm


def scored_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each case. `programs`: what the real one did; None: as recorded."""
    cases = asked(programs, "scored")
    scores = sum(
        len(nodes) for each in cases for nodes in each.answer["scores"].values()
    )
    table = AgreementTable(
        "What nodes are worth",
        "lifecycle",
        f"{cases[0].program}, asked directly",
        lambda table: (
            f"{len(cases)} pods come to a few nodes each. The real scheduler wrote down"
            f" {scores} scores of plugins, and why it refused some; ours decides from"
            f" the same nodes: {table.outcome('cases')}."
        ),
    )
    for each in cases:
        mine, theirs = our_decision(each.answer), their_decision(each.answer)
        what = each.question.partition("/")[2]
        table.add(
            "scheduling", what, _short(mine), _short(theirs), compare(mine, theirs)
        )
    return table


def _short(decision: Object) -> str:
    return decision["refusal"] or ", ".join(decision["best"])


def their_decision(case: Object) -> Object:
    """What the real one found; where it went is one of the best."""
    scores = case["scores"]
    best = [case["host"]] if case["host"] else []
    if scores:
        best = _best(scores)
        assert case["host"] in best
    return {"scores": scores, "best": best, "refusal": case["refusal"]}


def our_decision(case: Object) -> Object:
    """The same of ours, from the same nodes and pods."""
    cache, snapshot, plugins = Cache(), Snapshot(), default_framework()
    for node in case["nodes"]:
        cache.add_node(node)
    for pod in case["pods"]:
        cache.add_pod(pod)
    cache.update_snapshot(snapshot)
    state, info = CycleState(), PodInfo(case["pod"])
    try:
        result = Algorithm(plugins, snapshot).schedule_pod(state, info)
    except FitError as error:
        _, status = on_virtual_time(
            plugins.run_post_filter_plugins(
                state, info, snapshot, error.diagnosis.node_to_status
            )
        )
        error.diagnosis.post_filter_message = status.message if status else ""
        return {"scores": {}, "best": [], "refusal": str(error)}
    best = _best(result.scores) if result.scores else [result.suggested_host]
    return {"scores": result.scores, "best": best, "refusal": ""}


def _best(scores: dict[str, dict[str, int]]) -> list[str]:
    totals: dict[str, int] = {}
    for of_plugin in scores.values():
        for node, score in of_plugin.items():
            totals[node] = totals.get(node, 0) + score
    return sorted(
        node for node, total in totals.items() if total == max(totals.values())
    )
