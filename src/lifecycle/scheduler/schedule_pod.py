"""One pod, one node: the decision. The cycle around it is in `schedule_one.py`.

    find the nodes that fit → score them → pick one of the best

In a big cluster not every node is looked at: once "enough" fit (all of up to 100; of
more, 50 % minus one for every 125 nodes, at least 5 % and at least 100), the search
stops. The next pod's search goes on where this one stopped, so that every node gets its
turn. Among equals chance decides.

`decide` is the plain path, readable from top to bottom: it stops after every few nodes,
so that others may have their turn (`framework/steps.py`). Pods whose like was seen
before take a short cut through `batch/` to the same answer.

Upstream: `pkg/scheduler/schedule_one.go` (`schedulePod`, `findNodesThatFitPod`,
`numFeasibleNodesToFind`, `prioritizeNodes`, `selectHost`), v1.36. Left out: parallel
filtering (upstream may look at a few nodes more than it needs, for that reason).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.batch.opportunistic_batch import OpportunisticBatch
from lifecycle.scheduler.extender import HTTPExtender
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.handle import ExtenderError
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.node_to_status import StatusByName
from lifecycle.scheduler.framework.runtime.framework import Framework
from lifecycle.scheduler.framework.status import Status, unresolvable
from lifecycle.scheduler.framework.steps import NODES, Steps, at_once, in_turns
from lifecycle.scheduler.framework.types import Diagnosis, FitError

T = TypeVar("T")

MIN_FEASIBLE_NODES_TO_FIND = 100
MIN_FEASIBLE_NODES_PERCENTAGE_TO_FIND = 5


class NoNodesAvailable(Exception):
    """There is no node at all. Upstream: `ErrNoNodesAvailable`."""

    def __str__(self) -> str:
        return "no nodes available to schedule pods"


Scores = dict[str, dict[str, int]]
"""Plugin (or extender) → node → weighted score."""


@dataclass(slots=True)
class ScheduleResult:
    """Where the pod goes, and what was looked at. The scores are put together when
    somebody asks: upstream logs them at `-v=10` only.
    """

    suggested_host: str
    evaluated_nodes: int
    feasible_nodes: int
    explain: Callable[[], Scores] = dict

    @property
    def scores(self) -> Scores:
        """What each plugin made of each node that fits; empty if there was one
        only.
        """
        return self.explain()


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


def best_total(totals: Iterable[int]) -> int:
    """The one that wins."""
    return max(totals)


class Algorithm:
    """Decides for one pod at a time. Holds what must outlive a decision: where the
    search stopped, and the dice.

    `batch`: whether short cuts are taken at all. `extended`: some extender filters or
    scores.
    """

    def __init__(
        self,
        framework: Framework,
        snapshot: Snapshot,
        *,
        rng: random.Random | None = None,
        batch: bool = True,
        percentage_of_nodes_to_score: int = 0,
        extended: bool = False,
    ) -> None:
        self.framework = framework
        self.snapshot = snapshot
        self.nominator = framework.nominator
        self.next_start_node_index = 0
        self._rng = rng or random.Random()
        self._batch = OpportunisticBatch(framework) if batch else None
        of_profile = framework.percentage_of_nodes_to_score
        self._percentage = (
            percentage_of_nodes_to_score if of_profile is None else of_profile
        )
        self._extended = extended

    def schedule_pod(self, state: CycleState, info: PodInfo) -> ScheduleResult:
        """The node for a pod. Raises FitError if none will do, NoNodesAvailable if
        there is none, PluginError if a plugin fails.
        """
        return at_once(self.decide(state, info))

    def decide(self, state: CycleState, info: PodInfo) -> Steps[ScheduleResult]:
        """As `schedule_pod`, in steps."""
        snapshot = self.snapshot
        if not len(snapshot):
            raise NoNodesAvailable
        result = yield from self._schedule_batched(state, info)
        if result is not None:
            return result
        diagnosis = Diagnosis()
        feasible = yield from self._find_nodes_that_fit_pod(state, info, diagnosis)
        if not feasible:
            raise FitError(len(snapshot), diagnosis)
        if len(feasible) == 1:
            return ScheduleResult(feasible[0].name, diagnosis.evaluated, 1)
        totals, table = yield from self._prioritize_nodes(state, info, feasible)
        names = [node.name for node in feasible]
        return ScheduleResult(
            self._select_host(names, totals),
            diagnosis.evaluated,
            len(feasible),
            lambda: _by_node(names, table),
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
            await in_turns(self._find_nodes_that_fit_pod(state, info, diagnosis)),
            info,
            extenders,
            diagnosis,
        )
        if (
            not feasible and diagnosis.nominated_only
        ):  # the node kept for it will not do: look at all
            feasible = await self._pass_extenders(
                await in_turns(
                    self._find_nodes_that_pass_filters(
                        state, info, diagnosis.node_names, diagnosis
                    )
                ),
                info,
                extenders,
                diagnosis,
            )
        if not feasible:
            raise FitError(len(snapshot), diagnosis)
        if len(feasible) == 1:
            return ScheduleResult(feasible[0].name, diagnosis.evaluated, 1)
        totals, table = await in_turns(self._prioritize_nodes(state, info, feasible))
        names = [node.name for node in feasible]
        for extender in extenders:
            try:
                extra = await extender.prioritize(info, feasible)
            except ExtenderError:
                continue  # a missing opinion is no reason to wait
            if extra:
                own = table[extender.name] = [extra.get(name, 0) for name in names]
                totals = [t + score for t, score in zip(totals, own, strict=True)]
        return ScheduleResult(
            self._select_host(names, totals),
            diagnosis.evaluated,
            len(feasible),
            lambda: _by_node(names, table),
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
                if not extender.ignorable:
                    raise
        return feasible

    def _schedule_batched(
        self, state: CycleState, info: PodInfo
    ) -> Steps[ScheduleResult | None]:
        """The short cut; None where it does not lead anywhere. Raises FitError."""
        if self._batch is None or self._nominated_node(info):
            return None
        equivalence = yield from self._batch.get(info, self.snapshot)
        if equivalence is None:
            return None
        nodes = self.snapshot.node_info_list
        total = len(nodes)
        start = self.next_start_node_index % total
        positions, looked_at = equivalence.window(start, self._num_to_find(total))
        if not positions and equivalence.tells_why:
            diagnosis = equivalence.diagnosis()
            if equivalence.possible:
                state.adopt(equivalence.state)
                raise FitError(total, diagnosis)
        if not positions or not equivalence.possible:
            return None
        state.adopt(equivalence.state)
        self.next_start_node_index = (start + looked_at) % total
        if len(positions) == 1:
            return ScheduleResult(nodes[positions[0]].name, looked_at, 1)
        keys = equivalence.keys
        numbers, table = equivalence.scores(positions)
        totals = _totals(table, len(numbers))
        best = best_total(totals)
        classes = {n for n, score in zip(numbers, totals, strict=True) if score == best}
        chosen = self._choose([p for p in positions if keys[p] in classes])

        def explain() -> Scores:
            at = {number: i for i, number in enumerate(numbers)}
            names = [nodes[position].name for position in positions]
            per_node = {
                plugin: [scores[at[keys[position]]] for position in positions]
                for plugin, scores in table.items()
            }
            return _by_node(names, per_node)

        return ScheduleResult(nodes[chosen].name, looked_at, len(positions), explain)

    def _nominated_node(self, info: PodInfo) -> str:
        """The node kept for a pod, or the empty string."""
        nominated = (info.pod.get("status") or {}).get("nominatedNodeName")
        return nominated or self.nominator.nominated_node_of(info.key)

    def _find_nodes_that_fit_pod(
        self, state: CycleState, info: PodInfo, diagnosis: Diagnosis
    ) -> Steps[list[NodeInfo]]:
        snapshot = self.snapshot
        result, status, plugins = self.framework.run_pre_filter_plugins(
            state, info, snapshot
        )
        diagnosis.unschedulable_plugins |= plugins
        if status is not None:
            if not status.rejected:
                raise status.as_error()
            diagnosis.pre_filter_message = status.message
            diagnosis.add_plugin_status(status)
            diagnosis.node_to_status = StatusByName(
                dict.fromkeys(snapshot.node_info_map, status)
            )
            return []
        only = result.node_names
        if only is not None:
            names = " ".join(sorted(plugins))
            diagnosis.absent_nodes_status = unresolvable(
                "", f"node(s) didn't satisfy plugin(s) [{names}]"
            )
        nominated = self._nominated_node(info)
        if nominated:
            node = snapshot.get(nominated)
            if node is not None:
                diagnosis.evaluated = 1
                status = self.framework.run_filter_plugins_with_nominated_pods(
                    state, info, node
                )
                if status is None:
                    diagnosis.nominated_only, diagnosis.node_names = True, only
                    return [node]
                self._rule_out(diagnosis, node, status)
        return (
            yield from self._find_nodes_that_pass_filters(state, info, only, diagnosis)
        )

    def _find_nodes_that_pass_filters(
        self,
        state: CycleState,
        info: PodInfo,
        only: frozenset[str] | None,
        diagnosis: Diagnosis,
    ) -> Steps[list[NodeInfo]]:
        nodes = self.snapshot.node_info_list
        if only is not None:
            nodes = [node for node in nodes if node.name in only]
        total = len(nodes)
        if not total:
            return []
        num_nodes_to_find = self._num_to_find(total)
        start = self.next_start_node_index % total
        feasible: list[NodeInfo] = []
        looked_at = 0
        for i in range(total):
            node = nodes[(start + i) % total]
            looked_at += 1
            if not looked_at % NODES:
                yield
            status = self.framework.run_filter_plugins_with_nominated_pods(
                state, info, node
            )
            if status is not None:
                self._rule_out(diagnosis, node, status)
                continue
            feasible.append(node)
            if len(feasible) == num_nodes_to_find:
                break
        diagnosis.evaluated = looked_at
        self.next_start_node_index = (start + looked_at) % len(self.snapshot)
        return feasible

    @staticmethod
    def _rule_out(diagnosis: Diagnosis, node: NodeInfo, status: Status) -> None:
        if not status.rejected:
            raise status.as_error()
        diagnosis.set(node.name, status)

    def _num_to_find(self, total: int) -> int:
        """How many fitting nodes to look for: one, where nobody will compare them."""
        if not self.framework.score_plugins and not self._extended:
            return 1
        return num_feasible_nodes_to_find(total, self._percentage)

    def _prioritize_nodes(
        self, state: CycleState, info: PodInfo, nodes: list[NodeInfo]
    ) -> Steps[tuple[list[int], dict[str, list[int]]]]:
        """Each node's sum, and what each plugin gave, in the nodes' order."""
        framework = self.framework
        status = framework.run_pre_score_plugins(state, info, nodes, self.snapshot)
        if status is not None:
            raise status.as_error()
        table = yield from framework.run_score_plugins(state, info, nodes)
        return _totals(table, len(nodes)), table

    def _select_host(self, names: list[str], totals: list[int]) -> str:
        best = best_total(totals)
        return self._choose(
            [name for name, total in zip(names, totals, strict=True) if total == best]
        )

    def _choose(self, equals: list[T]) -> T:
        return (
            equals[0] if len(equals) == 1 else equals[self._rng.randrange(len(equals))]
        )


def _totals(table: dict[str, list[int]], count: int) -> list[int]:
    """The sum over all plugins; 1 for everybody where there are none."""
    if not table:
        return [1] * count
    return [sum(scores) for scores in zip(*table.values(), strict=True)]


def _by_node(names: Sequence[str], table: dict[str, list[int]]) -> Scores:
    return {
        plugin: dict(zip(names, scores, strict=True))
        for plugin, scores in table.items()
    }
