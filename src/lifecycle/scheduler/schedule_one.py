"""One pod, one node: the decision.

    find the nodes that fit → score them → pick one of the best

In a big cluster not every node is looked at: once "enough" fit (all of up to 100; of
more, 50 % minus one for every 125 nodes, at least 5 % and at least 100), the search
stops. The next pod's search goes on where this one stopped, so that every node gets its
turn. Among equals chance decides.

`schedule_pod` is the plain path, readable from top to bottom. With `batch`, pods whose
like was seen before take a short cut through `batch.py` to the same answer.

Upstream: `pkg/scheduler/schedule_one.go` (`schedulePod`, `findNodesThatFitPod`,
`numFeasibleNodesToFind`, `prioritizeNodes`, `selectHost`), v1.36. Left out: parallel
filtering (upstream may look at a few nodes more than it needs, for that reason).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from lifecycle.scheduler.batch import OpportunisticBatch
from lifecycle.scheduler.extender import ExtenderError, HTTPExtender
from lifecycle.scheduler.framework import (
    CycleState,
    Diagnosis,
    FitError,
    Framework,
    unresolvable,
)
from lifecycle.scheduler.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.nominator import Nominator
from lifecycle.scheduler.snapshot import Snapshot

T = TypeVar("T")

MIN_FEASIBLE_NODES_TO_FIND = 100
MIN_FEASIBLE_NODES_PERCENTAGE_TO_FIND = 5


class NoNodesAvailable(Exception):
    """There is no node at all. Upstream: `ErrNoNodesAvailable`."""

    def __str__(self) -> str:
        return "no nodes available to schedule pods"


@dataclass(slots=True)
class ScheduleResult:
    """Where the pod goes, and what was looked at. `scores`: plugin → node → weighted
    score, filled on the plain path.
    """

    suggested_host: str
    evaluated_nodes: int
    feasible_nodes: int
    scores: dict[str, dict[str, int]] = field(default_factory=dict)


def num_feasible_nodes_to_find(num_all_nodes: int, percentage: int = 0) -> int:
    """How many fitting nodes are enough. `percentage` 0: adapt to the size of the
    cluster.
    """
    if num_all_nodes < MIN_FEASIBLE_NODES_TO_FIND:
        return num_all_nodes
    if percentage == 0:
        percentage = max(
            50 - num_all_nodes // 125, MIN_FEASIBLE_NODES_PERCENTAGE_TO_FIND
        )
    return max(num_all_nodes * percentage // 100, MIN_FEASIBLE_NODES_TO_FIND)


class Algorithm:
    """Decides for one pod at a time. Holds what must outlive a decision: where the
    search stopped, and the dice.

    `extended`: some extender filters or scores.
    """

    def __init__(
        self,
        framework: Framework,
        snapshot: Snapshot,
        *,
        nominator: Nominator | None = None,
        rng: random.Random | None = None,
        batch: bool = True,
        percentage_of_nodes_to_score: int = 0,
        extended: bool = False,
    ) -> None:
        self.framework = framework
        self.snapshot = snapshot
        if nominator is not None:  # an empty one is false, too
            framework.nominator = nominator
        self.nominator = framework.nominator
        self.next_start_node_index = 0
        self._rng = rng or random.Random()
        self._batch = OpportunisticBatch(framework) if batch else None
        self._percentage = percentage_of_nodes_to_score
        self._extended = extended

    def schedule_pod(self, state: CycleState, info: PodInfo) -> ScheduleResult:
        """The node for a pod. Raises FitError if none will do, NoNodesAvailable if
        there is none.
        """
        snapshot = self.snapshot
        if not len(snapshot):
            raise NoNodesAvailable
        if self._batch is not None and not self.nominator:
            result = self._schedule_batched(info)
            if result is not None:
                return result
        diagnosis = Diagnosis()
        feasible = self._find_nodes_that_fit_pod(state, info, diagnosis)
        if not feasible:
            raise FitError(len(snapshot), diagnosis)
        if len(feasible) == 1:
            return ScheduleResult(feasible[0].name, diagnosis.evaluated, 1)
        totals, scores = self._prioritize_nodes(state, info, feasible)
        names = [node.name for node in feasible]
        return ScheduleResult(
            self._select_host(names, totals), diagnosis.evaluated, len(feasible), scores
        )

    async def schedule_pod_with_extenders(
        self, state: CycleState, info: PodInfo, extenders: Sequence[HTTPExtender]
    ) -> ScheduleResult:
        """As `schedule_pod`, asking the extenders that care about the pod. Raises
        ExtenderError besides.
        """
        snapshot = self.snapshot
        if not len(snapshot):
            raise NoNodesAvailable
        diagnosis = Diagnosis()
        feasible = await self._pass_extenders(
            self._find_nodes_that_fit_pod(state, info, diagnosis),
            info,
            extenders,
            diagnosis,
        )
        if (
            not feasible and diagnosis.nominated_only
        ):  # the node kept for it will not do: look at all
            feasible = await self._pass_extenders(
                self._find_nodes_that_pass_filters(
                    state, info, diagnosis.only, diagnosis
                ),
                info,
                extenders,
                diagnosis,
            )
        if not feasible:
            raise FitError(len(snapshot), diagnosis)
        if len(feasible) == 1:
            return ScheduleResult(feasible[0].name, diagnosis.evaluated, 1)
        totals, scores = self._prioritize_nodes(state, info, feasible)
        names = [node.name for node in feasible]
        for extender in extenders:
            try:
                extra = await extender.prioritize(info, feasible)
            except ExtenderError:
                continue  # a missing opinion is no reason to wait
            totals = [
                total + extra.get(name, 0)
                for name, total in zip(names, totals, strict=True)
            ]
            if extra:
                scores[extender.name] = {name: extra.get(name, 0) for name in names}
        return ScheduleResult(
            self._select_host(names, totals), diagnosis.evaluated, len(feasible), scores
        )

    @staticmethod
    async def _pass_extenders(
        feasible: list[NodeInfo],
        info: PodInfo,
        extenders: Sequence[HTTPExtender],
        diagnosis: Diagnosis,
    ) -> list[NodeInfo]:
        """Upstream: `findNodesThatPassExtenders`."""
        for extender in extenders:
            if not feasible:
                break
            try:
                feasible = await extender.filter(info, feasible, diagnosis)
            except ExtenderError:
                if not extender.config.ignorable:
                    raise
        return feasible

    def _schedule_batched(self, info: PodInfo) -> ScheduleResult | None:
        """The short cut; None where it does not lead anywhere (also where nothing fits:
        the plain path says why).
        """
        assert self._batch is not None
        equivalence = self._batch.get(info, self.snapshot)
        if equivalence is None:
            return None
        total = len(self.snapshot)
        start = self.next_start_node_index % total
        positions, looked_at = equivalence.window(start, self._wanted(total))
        if not positions:
            return None
        self.next_start_node_index = (start + looked_at) % total
        nodes = self.snapshot.node_info_list
        if len(positions) == 1:
            return ScheduleResult(nodes[positions[0]].name, looked_at, 1)
        scores = equivalence.total_scores(positions)
        best = max(scores.values())
        classes = {number for number, score in scores.items() if score == best}
        keys = equivalence.keys
        chosen = self._choose(
            [position for position in positions if keys[position] in classes]
        )
        return ScheduleResult(nodes[chosen].name, looked_at, len(positions))

    def _find_nodes_that_fit_pod(
        self, state: CycleState, info: PodInfo, diagnosis: Diagnosis
    ) -> list[NodeInfo]:
        snapshot = self.snapshot
        only, status, narrowing = self.framework.run_pre_filter_plugins(
            state, info, snapshot
        )
        diagnosis.unschedulable_plugins |= narrowing
        if status is not None:
            diagnosis.pre_filter_message = status.message
            diagnosis.unschedulable_plugins.add(status.plugin)
            diagnosis.statuses = dict.fromkeys(
                (node.name for node in snapshot.node_info_list), status
            )
            return []
        if only is not None:
            names = " ".join(sorted(narrowing))
            diagnosis.absent_nodes_status = unresolvable(
                "", f"node(s) didn't satisfy plugin(s) [{names}]"
            )
        nominated = (info.pod.get("status") or {}).get(
            "nominatedNodeName"
        ) or self.nominator.node_of(info.key)
        if nominated:
            node = snapshot.get(nominated)
            if node is not None:
                diagnosis.evaluated = 1
                status = self.framework.run_filter_plugins_with_nominated_pods(
                    state, info, node
                )
                if status is None:
                    diagnosis.nominated_only, diagnosis.only = True, only
                    return [node]
                diagnosis.add(node.name, status)
        return self._find_nodes_that_pass_filters(state, info, only, diagnosis)

    def _find_nodes_that_pass_filters(
        self,
        state: CycleState,
        info: PodInfo,
        only: set[str] | None,
        diagnosis: Diagnosis,
    ) -> list[NodeInfo]:
        nodes = self.snapshot.node_info_list
        if only is not None:
            nodes = [node for node in nodes if node.name in only]
        total = len(nodes)
        if not total:
            return []
        wanted = self._wanted(total)
        start = self.next_start_node_index % total
        feasible: list[NodeInfo] = []
        looked_at = 0
        for i in range(total):
            node = nodes[(start + i) % total]
            looked_at += 1
            status = self.framework.run_filter_plugins_with_nominated_pods(
                state, info, node
            )
            if status is not None:
                diagnosis.add(node.name, status)
                continue
            feasible.append(node)
            if len(feasible) == wanted:
                break
        diagnosis.evaluated = looked_at
        self.next_start_node_index = (start + looked_at) % len(self.snapshot)
        return feasible

    def _wanted(self, total: int) -> int:
        """How many fitting nodes to look for: one, where nobody will compare them."""
        if not self.framework.score_plugins and not self._extended:
            return 1
        return num_feasible_nodes_to_find(total, self._percentage)

    def _prioritize_nodes(
        self, state: CycleState, info: PodInfo, nodes: list[NodeInfo]
    ) -> tuple[list[int], dict[str, dict[str, int]]]:
        framework = self.framework
        active = framework.run_pre_score_plugins(state, info, nodes, self.snapshot)
        table = framework.run_score_plugins(state, info, nodes, active)
        totals = (
            [sum(scores) for scores in zip(*table.values(), strict=True)]
            if table
            else [1] * len(nodes)
        )
        by_node = {
            plugin: {
                node.name: score for node, score in zip(nodes, scores, strict=True)
            }
            for plugin, scores in table.items()
        }
        return totals, by_node

    def _select_host(self, names: list[str], totals: list[int]) -> str:
        best = max(totals)
        return self._choose(
            [name for name, total in zip(names, totals, strict=True) if total == best]
        )

    def _choose(self, equals: list[T]) -> T:
        return (
            equals[0] if len(equals) == 1 else equals[self._rng.randrange(len(equals))]
        )
