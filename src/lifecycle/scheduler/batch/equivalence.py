"""What all pods of one kind find, node by node.

For each *signature* (all that filters and scores look at in a pod) one `Equivalence`
keeps, per node, the node's *class*: the tuple of what each score plugin makes of it, or
that it was ruled out. Nodes of one class score the same; a thousand nodes that run ten
pods each fall into a handful of classes. A pod then costs: re-evaluating the nodes that
changed (mostly the one that got the last pod), scoring each class once, and picking a
node of the best class.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain
from typing import Any

from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.batch.adapters import ADAPTERS
from lifecycle.scheduler.batch.interface import ClassScorer
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.runtime.framework import Framework

INFEASIBLE = -1


class Equivalence:
    """The classes of all nodes for pods of one signature, in the order of the
    snapshot's nodes. `possible`: whether there is such a thing for these pods.
    """

    def __init__(self, framework: Framework, info: PodInfo, snapshot: Snapshot) -> None:
        self.framework = framework
        self.layout = snapshot.layout
        self.state = CycleState()
        self.keys: list[int] = []
        self.infeasible = 0
        self._numbers: dict[tuple[Hashable, ...], int] = {}
        self._classes: list[tuple[Any, ...]] = []
        self._scorers: list[ClassScorer] = []
        self._counting: list[ClassScorer] = []
        self.possible = self._prepare(info, snapshot)
        self._filters = framework.active_filters(self.state)
        if self.possible:
            self._evaluate_all(info, snapshot)
        self._seen = len(snapshot.changes)

    def _prepare(self, info: PodInfo, snapshot: Snapshot) -> bool:
        state = self.state
        result, status, _ = self.framework.run_pre_filter_plugins(state, info, snapshot)
        if status is not None or result.node_names is not None:
            return False
        for pre in self.framework.pre_score_plugins:
            status = ADAPTERS[type(pre)].pre_score(pre, state, info, snapshot)
            if status is not None:
                state.skip_score_plugins.add(pre.name)
        for plugin in self.framework.score_plugins:
            if plugin.name not in state.skip_score_plugins:
                scorer = ADAPTERS[type(plugin)].class_scorer(plugin, state, info)
                self._scorers.append(scorer)
                if scorer.counts_cluster:
                    self._counting.append(scorer)
        return True

    def _evaluate_all(self, info: PodInfo, snapshot: Snapshot) -> None:
        for position, node in enumerate(snapshot.node_info_list):
            key = self._class_of(info, node)
            self.keys.append(key)
            self.infeasible += key == INFEASIBLE
            for scorer in self._counting:
                scorer.observe(position, node)

    def catch_up(self, info: PodInfo, snapshot: Snapshot) -> None:
        """Re-evaluate the nodes that changed since last time."""
        changes = snapshot.changes
        if self._seen == len(changes):
            return
        keys = self.keys.copy()  # a decision may still be looking at the old ones
        for position in set(changes[self._seen :]):
            node = snapshot.node_info_list[position]
            key = self._class_of(info, node)
            self.infeasible += (key == INFEASIBLE) - (keys[position] == INFEASIBLE)
            keys[position] = key
            for scorer in self._counting:
                scorer.observe(position, node)
        self.keys = keys
        self._seen = len(changes)

    def _class_of(self, info: PodInfo, node: NodeInfo) -> int:
        state = self.state
        for plugin in self._filters:
            if plugin.filter(state, info, node) is not None:
                return INFEASIBLE
        parts = tuple([scorer.node_class(info, node) for scorer in self._scorers])
        number = self._numbers.get(parts)
        if number is None:
            number = self._numbers[parts] = len(self._classes)
            self._classes.append(parts)
        return number

    def window(self, start: int, num_nodes_to_find: int) -> tuple[list[int], int]:
        """The first so many feasible positions from `start` on, and how many nodes were
        looked at.
        """
        keys = self.keys
        total = len(keys)
        if not self.infeasible:
            looked_at = min(num_nodes_to_find, total)
            end = start + looked_at
            if end <= total:
                return list(range(start, end)), looked_at
            return [*range(start, total), *range(end - total)], looked_at
        feasible: list[int] = []
        looked_at = 0
        # one by one: most of the nodes are never looked at, and there may be thousands
        for position in chain(range(start, total), range(start)):
            looked_at += 1
            if keys[position] != INFEASIBLE:
                feasible.append(position)
                if len(feasible) == num_nodes_to_find:
                    break
        return feasible, looked_at

    def scores(
        self, positions: Sequence[int]
    ) -> tuple[list[int], dict[str, list[int]]]:
        """The classes of the nodes at these positions, and per plugin the weighted
        score of each of them.
        """
        keys = self.keys
        numbers = list({keys[position] for position in positions})
        classes = [self._classes[number] for number in numbers]
        table = {}
        for i, scorer in enumerate(self._scorers):
            own = [parts[i] for parts in classes]
            scorer.prepare(own, len(positions))
            raw = [scorer.score(node_class) for node_class in own]
            plugin = scorer.plugin
            table[plugin.name] = self.framework.normalize_and_weigh(
                plugin, self.state, raw
            )
        return numbers, table
