"""The recorded *scheduling* scenario, decided again from the same nodes and pods.

Compared: every plugin's score of every node that the real scheduler's log holds, the chosen node wherever scores
leave only one, and the text of every refusal, word for word.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest

from lifecycle.api.wire import Object
from lifecycle.scheduler.cache import Cache
from lifecycle.scheduler.framework import CycleState, FitError
from lifecycle.scheduler.node_info import PodInfo
from lifecycle.scheduler.profile import default_framework
from lifecycle.scheduler.schedule_one import Algorithm, ScheduleResult
from lifecycle.scheduler.snapshot import Snapshot
from tests.conftest import RECORDINGS

CLUSTERS = ("kind-1.36.2", "kind-1.36.2-again")
SCORE = re.compile(r'"Plugin scored node for pod" pod="sched/([^"]+)" plugin="(\w+)" node="([^"]+)" score=(-?\d+)')

Scores = dict[str, dict[str, int]]


@cache
def exchanges(cluster: str) -> list[dict[str, Any]]:
    with (RECORDINGS / cluster / "http" / "scheduling.jsonl").open() as lines:
        return [json.loads(line) for line in lines]


@cache
def logged_scores(cluster: str) -> dict[str, Scores]:
    found: dict[str, Scores] = {}
    with (RECORDINGS / cluster / "logs" / "kube-scheduler.v10.log").open() as lines:
        for line in lines:
            match = SCORE.search(line)
            if match:
                pod, plugin, node, score = match.groups()
                found.setdefault(pod, {}).setdefault(plugin, {})[node] = int(score)
    return found


class Decision:
    """What we made of one recorded pod."""

    def __init__(self, name: str, recorded: Object) -> None:
        self.name = name
        self.recorded = recorded
        self.result: ScheduleResult | None = None
        self.refusal = ""
        self.nominated = ""

    @property
    def recorded_host(self) -> str:
        return str(self.recorded["spec"].get("nodeName", ""))

    @property
    def recorded_refusal(self) -> str:
        conditions = self.recorded["status"].get("conditions") or []
        return next((c.get("message", "") for c in conditions if c["type"] == "PodScheduled"), "")


@cache
def decisions(cluster: str) -> list[Decision]:
    """Each pod in its turn; what was really placed stays where it was really placed."""
    nodes_cache, snapshot, framework = Cache(), Snapshot(), default_framework()
    algorithm = Algorithm(framework, snapshot, batch=False)
    noted = {e["note"]: e["response"] for e in exchanges(cluster) if e["note"]}
    for node in noted["nodes as the scheduler sees them"]["items"]:
        nodes_cache.add_node(node)
    for pod in noted["pods already there"]["items"]:
        if pod["spec"].get("nodeName"):
            nodes_cache.add_pod(pod)
    settled = {
        e["response"]["metadata"]["name"]: e["response"]
        for e in exchanges(cluster)
        if e["method"] == "GET" and re.search(r"/pods/[^/]+$", e["path"]) and e["response"]["kind"] == "Pod"
    }
    made = []
    posted = [e["response"] for e in exchanges(cluster) if e["method"] == "POST" and e["path"].endswith("/pods")]
    order = [p for p in posted if p["metadata"]["name"] not in ("gated", "other-scheduler", "preemptor")]
    order += [p for p in posted if p["metadata"]["name"] in ("gated", "preemptor")]  # decided after the gate was lifted
    for pod in order:
        name = pod["metadata"]["name"]
        decision = Decision(name, settled.get(name, pod))
        made.append(decision)
        spec = {key: value for key, value in pod["spec"].items() if key != "schedulingGates"}
        info, state = PodInfo({**pod, "spec": spec}), CycleState()
        nodes_cache.update_snapshot(snapshot)
        try:
            decision.result = algorithm.schedule_pod(state, info)
        except FitError as error:
            decision.nominated, message = framework.run_post_filter_plugins(
                state, info, snapshot, error.diagnosis.statuses
            )
            error.diagnosis.post_filter_message = message
            decision.refusal = str(error)
        if decision.recorded_host:
            nodes_cache.add_pod(decision.recorded)
    return made


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_score_of_every_plugin_is_the_logged_one(cluster: str) -> None:
    logged = logged_scores(cluster)
    ours = {d.name: d.result.scores for d in decisions(cluster) if d.result is not None and d.result.scores}
    assert ours == logged
    assert sum(len(nodes) for scores in logged.values() for nodes in scores.values()) >= 100


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_the_chosen_node_is_one_of_the_best(cluster: str) -> None:
    decided = 0
    for decision in decisions(cluster):
        result = decision.result
        if result is None or not decision.recorded_host:
            continue
        decided += 1
        if not result.scores:  # only one node fits: no scores
            assert decision.recorded_host == result.suggested_host, decision.name
            continue
        totals: dict[str, int] = {}
        for scores in result.scores.values():
            for node, score in scores.items():
                totals[node] = totals.get(node, 0) + score
        assert totals[decision.recorded_host] == max(totals.values()), decision.name
        assert totals[result.suggested_host] == max(totals.values()), decision.name
    assert decided >= 18


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_refusals_are_worded_as_recorded(cluster: str) -> None:
    refused = {d.name: d.refusal for d in decisions(cluster) if d.refusal and d.name != "preemptor"}
    assert refused == {d.name: d.recorded_refusal for d in decisions(cluster) if d.name in refused}
    assert set(refused) == {
        "too-big",
        "selector-none",
        "affinity-absent",
        "port-3",
        "want-cp",
        "web-3",
        "cache-none",
        "bad-pvc",
    }


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_the_preemptor_gets_the_recorded_node_and_message(cluster: str) -> None:
    decision = next(d for d in decisions(cluster) if d.name == "preemptor")
    events = [
        e for x in exchanges(cluster) for e in (x["response"].get("items") or []) if x["path"].endswith("/events")
    ]
    recorded = next(
        e for e in events if e["involvedObject"]["name"] == "preemptor" and e["reason"] == "FailedScheduling"
    )
    placed = next(e for e in events if e["involvedObject"]["name"] == "preemptor" and e["reason"] == "Scheduled")
    assert decision.refusal == recorded["message"]
    assert placed["message"].endswith(f"to {decision.nominated}")
