"""The scheduler held against the recorded *scheduling* scenario: every pod decided
again from the same nodes and pods.

Some thirty pods, each made to bring out one rule: too big, a selector nobody meets,
ports in use, affinity, spreading, a claim that is not there, a preemptor. A pod's
answer is its node and every plugin's score of every node where the real scheduler's log
(`-v=10`) has them, or else the refusal, word for word. Where several nodes have the
highest sum, chance decided, theirs and ours. Whether they have is computed, from our
scores; then another one of them is a freedom, counted, and the row says how many there
were. Any other node is a difference.

`framework` puts a reader's own plugins to the same questions.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.freedoms import AMONG_EQUALS
from lifecycle.compare.masked import Mark, Masked, raw_of
from lifecycle.inspector import Recording
from lifecycle.scheduler.backend.cache.cache import Cache
from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.runtime.framework import Framework
from lifecycle.scheduler.framework.types import FitError
from lifecycle.scheduler.profile import default_framework
from lifecycle.scheduler.schedule_pod import Algorithm

Scores = dict[str, dict[str, int]]
"""Plugin → node → weighted score."""

_SCORE = re.compile(
    r'"Plugin scored node for pod" pod="sched/([^"]+)" plugin="(\w+)" node="([^"]+)"'
    r" score=(-?\d+)"
)
_LATER = ("gated", "preemptor")
"""Decided after the others: once the gate was lifted, and at the very end."""
NOBODYS = "other-scheduler"
DICE = 1
"""So that a page prints the same nodes each time it is built."""


@dataclass(slots=True)
class Decision:
    """One pod: what became of it, and what we make of it."""

    name: str
    recorded: Object
    recorded_scores: Scores
    host: str = ""
    scores: Scores = field(default_factory=dict)
    refusal: str = ""
    nominated: str = ""

    @property
    def recorded_host(self) -> str:
        """Where it went; empty if nowhere."""
        return str(self.recorded["spec"].get("nodeName", ""))

    @property
    def recorded_refusal(self) -> str:
        """What its condition says."""
        conditions = self.recorded["status"].get("conditions") or []
        return next(
            (c.get("message", "") for c in conditions if c["type"] == "PodScheduled"),
            "",
        )

    @property
    def best(self) -> set[str]:
        """The nodes that may be chosen: those with the highest sum of our scores.

        Nobody scores a node that is the only one: then it is the one that was left.
        """
        return _with_the_highest_sum(self.scores) or {self.host}

    def ours(self) -> Object:
        """Our answer."""
        return {
            "node": self._among_equals(self.host),
            "highest sum": self.host in self.best,
            "scores": self.scores,
            "refusal": self.refusal,
        }

    def theirs(self) -> Object:
        """The recorded answer."""
        best = _with_the_highest_sum(self.recorded_scores) or {self.recorded_host}
        return {
            "node": self._among_equals(self.recorded_host),
            "highest sum": self.recorded_host in best,
            "scores": self.recorded_scores,
            "refusal": "" if self.recorded_host else self.recorded_refusal,
        }

    def _among_equals(self, host: str) -> str:
        """A node's name, as one of several where the sums say that it is."""
        best = self.best
        if len(best) < 2 or host not in best:
            return host
        text = f"<one of the {len(best)} with the highest sum>"
        return Masked(text, [Mark(AMONG_EQUALS, host)], host)


def _with_the_highest_sum(scores: Scores) -> set[str]:
    totals: dict[str, int] = {}
    for of_plugin in scores.values():
        for node, score in of_plugin.items():
            totals[node] = totals.get(node, 0) + score
    highest = max(totals.values(), default=0)
    return {node for node, total in totals.items() if total == highest}


def logged_scores(recording: Recording) -> dict[str, Scores]:
    """Pod → plugin → node → score, from the scheduler's own log. Empty for a version
    that words it otherwise.
    """
    scores: dict[str, Scores] = {}
    for pod, plugin, node, score in _SCORE.findall(recording.log()):
        scores.setdefault(pod, {}).setdefault(plugin, {})[node] = int(score)
    return scores


def pods_of(recording: Recording) -> Iterator[tuple[Object, Object]]:
    """Each pod as it was posted (with defaults), and as it was found once decided; in
    the order of the decisions.
    """
    exchanges = recording.exchanges("scheduling")
    settled = {
        e.response["metadata"]["name"]: e.response
        for e in exchanges
        if e.method == "GET"
        and re.search(r"/pods/[^/]+$", e.path)
        and e.response["kind"] == "Pod"
    }
    posted = [
        e.response for e in exchanges if e.method == "POST" and e.path.endswith("/pods")
    ]
    for later in (False, True):
        for pod in posted:
            name = pod["metadata"]["name"]
            if name != NOBODYS and (name in _LATER) == later:
                yield pod, settled.get(name, pod)


def noted(recording: Recording, note: str) -> list[Object]:
    """The items of a list that the recorder marked."""
    return next(
        e.response["items"]
        for e in recording.exchanges("scheduling")
        if e.moment == note
    )


def decide_again(
    recording: Recording, framework: Callable[[], Framework] = default_framework
) -> list[Decision]:
    """Every pod in its turn. What was really placed stays where it was really
    placed.
    """
    cache, snapshot, plugins = Cache(), Snapshot(), framework()
    algorithm = Algorithm(plugins, snapshot, rng=random.Random(DICE))
    for node in noted(recording, "nodes as the scheduler sees them"):
        cache.add_node(node)
    for pod in noted(recording, "pods already there"):
        if pod["spec"].get("nodeName"):
            cache.add_pod(pod)
    logged, decisions = logged_scores(recording), []
    for pod, settled in pods_of(recording):
        name = pod["metadata"]["name"]
        decision = Decision(name, settled, logged.get(name, {}))
        decisions.append(decision)
        spec = {
            key: value for key, value in pod["spec"].items() if key != "schedulingGates"
        }
        info, state = PodInfo({**pod, "spec": spec}), CycleState()
        cache.update_snapshot(snapshot)
        try:
            result = algorithm.schedule_pod(state, info)
            decision.host, decision.scores = result.suggested_host, result.scores
        except FitError as error:
            nominating, status = on_virtual_time(
                plugins.run_post_filter_plugins(
                    state, info, snapshot, error.diagnosis.node_to_status
                )
            )
            decision.nominated = nominating.nominated_node_name if nominating else ""
            error.diagnosis.post_filter_message = status.message if status else ""
            decision.refusal = str(error)
        if decision.recorded_host:
            cache.add_pod(settled)
    return decisions


def scheduling_agreement(
    recording: Recording, framework: Callable[[], Framework] = default_framework
) -> AgreementTable:
    """One row per pod."""
    decisions = decide_again(recording, framework)
    table = AgreementTable(
        "Scheduling",
        "lifecycle",
        f"recording {recording.provenance}",
        lambda table: _opening(decisions),
    )
    for decision in decisions:
        ours, theirs = decision.ours(), decision.theirs()
        if (
            decision.name == "preemptor"
        ):  # at the moment of the refusal only the nomination is on record
            ours = {"node": decision.nominated}
            theirs = {"node": _preempted_on(recording)}
        table.add(
            "scheduling",
            decision.name,
            _summary(ours),
            _summary(theirs),
            compare(ours, theirs, path=f"/{decision.name}"),
        )
    return table


def _opening(decisions: list[Decision]) -> str:
    placed = [d for d in decisions if d.recorded_host]
    same = sum(d.host == d.recorded_host for d in placed)
    equals = sum(
        d.host != d.recorded_host and {d.host, d.recorded_host} <= d.best
        for d in placed
    )
    refused = [d for d in decisions if not d.recorded_host]
    worded = sum(d.refusal == d.recorded_refusal or bool(d.nominated) for d in refused)
    sentence = (
        f"{len(decisions)} pods put to the real scheduler and to ours, from the same"
        f" nodes: {len(placed)} were placed, {same} of them on the same node by both;"
    )
    if equals:
        sentence += (
            f" {equals} times several nodes had the same sum, and ours chose another"
            " of them;"
        )
    return (
        f"{sentence} {len(refused)} were refused, {worded} of them in the same words"
        " or by making room on the same node."
    )


def _preempted_on(recording: Recording) -> str:
    """The node that the victim's event names."""
    for exchange in recording.exchanges("scheduling"):
        for event in (
            exchange.response.get("items") or ()
            if exchange.path.endswith("/events")
            else ()
        ):
            if event.get("reason") == "Preempted":
                return str(event["message"].rpartition(" ")[2])
    return ""


def _summary(answer: Any) -> str:
    if not answer.get("node"):
        return shorten(str(answer.get("refusal", "")), 90, placeholder=" …")
    node, scores = answer["node"], answer.get("scores") or {}
    parts = [str(raw_of(node))]
    if isinstance(node, Masked):
        parts.append(node.strip("<>"))
    if count := sum(map(len, scores.values())):
        parts.append(f"{count} scores")
    return ", ".join(parts)
