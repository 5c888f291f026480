"""What all pods of one kind find, node by node.

For each *signature* (all that filters and scores look at in a pod) one `Equivalence`
keeps, per node, the node's *class*: the tuple of what each score plugin makes of it, or
why it was ruled out. Nodes of one class score the same; a thousand nodes that run ten
pods each fall into a handful of classes. A pod then costs: re-evaluating the nodes that
changed (mostly the one that got the last pod), scoring each class once, and picking a
node of the best class.

A filter may also ask about pods on other nodes: how many of the like run in each zone?
Its counts are kept up with what changes, and what it looks at in a node (the zone) is a
part of the node's class. Before a decision it is asked once for each class that comes
into view.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.batch.adapters import ADAPTERS
from lifecycle.scheduler.batch.interface import ClassFilter, ClassScorer, Observer
from lifecycle.scheduler.batch.status_by_class import StatusByClass
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import FilterPlugin
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.runtime.framework import Framework
from lifecycle.scheduler.framework.status import Status
from lifecycle.scheduler.framework.steps import NODES, Step, Steps
from lifecycle.scheduler.framework.types import Diagnosis

PIECE = 512
"""So many nodes are looked at in one go: most are never looked at, and there may be
thousands.
"""

MAX_CLASSES = 20_000
"""So many are remembered before all that no node has any more are forgotten."""


class Equivalence:
    """The classes of all nodes for pods of one signature, in the order of the
    snapshot's nodes, once it has been evaluated. `possible`: whether there is such a
    thing for these pods.
    """

    def __init__(
        self,
        framework: Framework,
        info: PodInfo,
        snapshot: Snapshot,
        signature: Hashable = None,
    ) -> None:
        self.framework = framework
        self._layout = snapshot.layout
        self._info = info
        self.state = CycleState()
        self.keys: list[int] = []
        """Each node's class; of those ruled out -1 and less, one for each reason."""
        self.sizes: Counter[int] = Counter()
        """How many nodes of each class there are."""
        self.infeasible = 0
        self._reasons: list[Status] = []
        self._numbers_of_reasons: dict[Status, int] = {}
        self._numbers: dict[tuple[Hashable, ...], int] = {}
        self._classes: list[tuple[Any, ...]] = []
        """For each number what the class filters look at, then what scorers do."""
        self._samples: list[NodeInfo] = []
        """For each number a node of the class, where there are class filters: they look
        at no pods of it.
        """
        self._position = snapshot.position
        self._filters: list[FilterPlugin] = []
        self._class_filters: list[ClassFilter] = []
        self._scorers: list[ClassScorer] = []
        self._counting: list[Observer] = []
        self.tells_why = True
        """Whether of several reasons against a node it knows the first; where a profile
        has a class filter before others, it does not.
        """
        self.possible = True
        self.possible = self._prepare(info, snapshot)
        if not self._class_filters:
            self.state.kind = signature
        self._seen = snapshot.changes.count
        self._nominations = framework.nominator.changes.count
        self._priority = info.priority

    def _prepare(self, info: PodInfo, snapshot: Snapshot) -> bool:
        state = self.state
        result, status, _ = self.framework.run_pre_filter_plugins(state, info, snapshot)
        if status is not None or result.node_names is not None:
            return False
        in_order = True
        for plugin in self.framework.filter_plugins:
            adapter = ADAPTERS[type(plugin)]
            class_filter = adapter.class_filter(plugin, state, info, snapshot)
            if class_filter is not None:
                self._class_filters.append(class_filter)
            elif plugin.name not in state.skip_filter_plugins:
                self._filters.append(plugin)
                in_order = in_order and not self._class_filters
        self.tells_why = in_order
        self._counting += self._class_filters
        for pre in self.framework.pre_score_plugins:
            status = ADAPTERS[type(pre)].pre_score(pre, state, info, snapshot)
            if status is not None:
                state.skip_score_plugins.add(pre.name)
        for score in self.framework.score_plugins:
            if score.name not in state.skip_score_plugins:
                scorer = ADAPTERS[type(score)].class_scorer(score, state, info)
                self._scorers.append(scorer)
                if scorer.counts_cluster:
                    self._counting.append(scorer)
        return True

    def holds(self, snapshot: Snapshot) -> bool:
        """Whether it can catch up with the snapshot, rather than be made anew."""
        return self._layout == snapshot.layout and len(self._classes) <= MAX_CLASSES

    def evaluate(self, info: PodInfo, snapshot: Snapshot) -> Steps[None]:
        """Find every node's class, if that is possible."""
        if not self.possible:
            return
        for position, node in enumerate(snapshot.node_info_list):
            for observer in self._counting:
                observer.observe(position, node)
        self._skip_whom_it_does_not_concern()
        yield from self._classify(info, snapshot)

    def _classify(self, info: PodInfo, snapshot: Snapshot) -> Steps[None]:
        self._version = self._observers_version
        keys, step = [], Step()
        for position, node in enumerate(snapshot.node_info_list):
            if position % NODES == 0 and step.is_over():
                yield
            keys.append(self._class_of(info, node))
        self.keys = keys
        self.sizes = Counter(keys)
        self.infeasible = sum([key < 0 for key in keys])

    @property
    def _observers_version(self) -> int:
        return sum([observer.version for observer in self._counting])

    def catch_up(self, info: PodInfo, snapshot: Snapshot) -> Steps[None]:
        """Re-evaluate the nodes that changed since last time, and those whose answer to
        this pod may be another because of whom they are kept for.
        """
        changed = set(snapshot.changes.since(self._seen))
        self._seen = snapshot.changes.count
        nodes = snapshot.node_info_list
        for observer in self._counting:
            for position in changed:
                observer.observe(position, nodes[position])
        self._skip_whom_it_does_not_concern()
        changed.update(self._nominations_since(info))
        if not changed:
            return
        if self._version != self._observers_version:
            yield from self._classify(info, snapshot)
            return
        keys = self.keys.copy()  # a decision may still be looking at the old ones
        step = Step()
        for looked_at, position in enumerate(changed):
            if looked_at % NODES == 0 and step.is_over():
                yield
            before, key = keys[position], self._class_of(info, nodes[position])
            if key != before:
                self.infeasible += (key < 0) - (before < 0)
                self.sizes[before] -= 1
                self.sizes[key] += 1
                keys[position] = key
        self.keys = keys

    def _nominations_since(self, info: PodInfo) -> Iterable[int]:
        """Nodes that are kept for others than last time; for a pod of another priority,
        or where the pods of other nodes count, all nodes that are kept.
        """
        nominator = self.framework.nominator
        names: Iterable[str] = nominator.changes.since(self._nominations)
        self._nominations = nominator.changes.count
        if self._class_filters or self._priority != info.priority:
            self._priority = info.priority
            names = {*names, *nominator.nodes}
        return [self._position[name] for name in names if name in self._position]

    def _class_of(self, info: PodInfo, node: NodeInfo) -> int:
        state, nominator = self.state, self.framework.nominator
        if nominator and node.name in nominator.nodes:
            status = self.framework.run_filter_plugins_with_nominated_pods(
                state, info, node
            )
            if status is not None:
                return self._ruled_out(status)
        for plugin in self._filters:
            status = plugin.filter(state, info, node)
            if status is not None:
                return self._ruled_out(status.with_plugin(plugin.name))
        parts = (
            *[of_class.node_class(node) for of_class in self._class_filters],
            *[scorer.node_class(info, node) for scorer in self._scorers],
        )
        number = self._numbers.get(parts)
        if number is None:
            number = self._numbers[parts] = len(self._classes)
            self._classes.append(parts)
            if self._class_filters:
                self._samples.append(node.without_pods())
        return number

    def _ruled_out(self, status: Status) -> int:
        if not status.rejected:
            self.possible = False  # the plain path says what failed
        number = self._numbers_of_reasons.get(status)
        if number is None:
            self._reasons.append(status)
            number = self._numbers_of_reasons[status] = -len(self._reasons)
        return number

    def _refusal(self, number: int) -> Status | None:
        """What speaks against nodes of that class, as the cluster is now."""
        if number < 0:
            return self._reasons[-1 - number]
        state, info = self.state, self._info
        for of_class in self._class_filters:
            plugin, node = of_class.plugin, self._samples[number]
            status = plugin.filter(state, info, node)
            if status is not None:
                return status.with_plugin(plugin.name)
        return None

    def _skip_whom_it_does_not_concern(self) -> None:
        """Some class filters concern these pods only as long as there are certain
        others. That is to be known before any node is asked.
        """
        skip = self.state.skip_filter_plugins
        for of_class in self._class_filters:
            (skip.add if of_class.skipped else skip.discard)(of_class.plugin.name)

    def diagnosis(self) -> Diagnosis:
        """Why no node will do."""
        sizes = +self.sizes
        refusals = {number: self._refusal(number) for number in sizes}
        of_class = {number: status for number, status in refusals.items() if status}
        told = StatusByClass(self._position, self.keys, of_class, sizes)
        diagnosis = Diagnosis(told, evaluated=len(self.keys))
        for status in of_class.values():
            diagnosis.add_plugin_status(status)
        return diagnosis

    def window(self, start: int, num_nodes_to_find: int) -> tuple[list[int], int]:
        """The first so many feasible positions from `start` on, and how many nodes were
        looked at.
        """
        keys = self.keys
        total = len(keys)
        if not self.infeasible and not self._class_filters:
            looked_at = min(num_nodes_to_find, total)
            end = start + looked_at
            if end <= total:
                return list(range(start, end)), looked_at
            return [*range(start, total), *range(end - total)], looked_at
        feasible: list[int] = []
        if self.infeasible == total:
            return feasible, total
        admitted: dict[int, bool] = {}
        for piece in _pieces(start, total):
            for number in {*keys[piece.start : piece.stop]} - admitted.keys():
                admitted[number] = self._refusal(number) is None
            feasible += [position for position in piece if admitted[keys[position]]]
            if len(feasible) >= num_nodes_to_find:
                del feasible[num_nodes_to_find:]
                return feasible, (feasible[-1] - start) % total + 1
        return feasible, total

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
        for i, scorer in enumerate(self._scorers, len(self._class_filters)):
            if scorer.skipped:
                continue
            own = [parts[i] for parts in classes]
            scorer.prepare(own, len(positions))
            raw = [scorer.score(node_class) for node_class in own]
            plugin = scorer.plugin
            table[plugin.name] = self.framework.normalize_and_weigh(
                plugin, self.state, raw
            )
        return numbers, table


def _pieces(start: int, total: int) -> Iterator[range]:
    """All positions from `start` on, and round, some at a time."""
    for first, end in ((start, total), (0, start)):
        for at in range(first, end, PIECE):
            yield range(at, min(at + PIECE, end))
