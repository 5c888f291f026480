"""The same question, asked ten thousand times: answers kept per kind of pod.

The pods of a Deployment differ in their names and nothing else. For the second one,
every node that did not change since the first gives the same answers. So for each
*signature* (all that filters and scores look at in a pod) one `Equivalence` keeps, per
node, the node's *class*: the tuple of what each score plugin makes of it, or that it
was ruled out. Nodes of one class score the same; a thousand nodes that run ten pods
each fall into a handful of classes. A pod then costs: re-evaluating the nodes that
changed (mostly the one that got the last pod), scoring each class once, and picking a
node of the best class.

What a plugin's score adds up over the whole cluster (default topology spreading counts
pods per zone) is kept as a running sum.

Some pods cannot be told apart by signature: those with affinity to other pods or
explicit spreading, those with claims. They, and any pod while a preemptor is nominated
to a node, take the plain path in `schedule_one.py`. The two give the same answer, which
the tests check.

Upstream has the same idea since v1.35: `pkg/scheduler/framework/runtime/batch.go`
(`OpportunisticBatch`) reuses the sorted nodes of the pod before, if its signature
(`SignPod`) is the same and the node it got is full now. Ours is bolder (any number of
pods, any order), because Python is slower.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from lifecycle.api.node_selector import Matcher, required_node_affinity
from lifecycle.scheduler.framework import CycleState, Framework, ScorePlugin
from lifecycle.scheduler.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from lifecycle.scheduler.plugins.pod_topology_spread import PodTopologySpread, SoftState
from lifecycle.scheduler.plugins.topology_constraints import (
    HOSTNAME,
    count_pods_match_selector,
)
from lifecycle.scheduler.snapshot import Snapshot

MAX_SIGNATURES = 64
"""Kinds of pods remembered; the one used longest ago goes first."""

INFEASIBLE = -1


class Equivalence:
    """What all pods of one signature find: a class per node, in the order of the
    snapshot's nodes.
    """

    def __init__(self, framework: Framework, info: PodInfo, snapshot: Snapshot) -> None:
        self.framework = framework
        self.layout = snapshot.layout
        self._seen = 0
        self.state = CycleState()
        self.possible = self._prepare(info, snapshot)
        self.keys: list[int] = []
        self.infeasible = 0
        self._numbers: dict[tuple[Hashable, ...], int] = {}
        self._tuples: list[tuple[Any, ...]] = []
        self._domain_shares: list[tuple[tuple[str, int], ...]] = []
        if self.possible:
            self._evaluate_all(info, snapshot)

    def _prepare(self, info: PodInfo, snapshot: Snapshot) -> bool:
        only, status, _ = self.framework.run_pre_filter_plugins(
            self.state, info, snapshot
        )
        if status is not None or only is not None:
            return False
        self.filters = self.framework.active_filters(self.state)
        self.scorers: list[ScorePlugin] = []
        self.soft: SoftState | None = None
        self.spread_at = -1
        for plugin in self.framework.score_plugins:
            if isinstance(plugin, InterPodAffinity):
                continue  # nobody has terms, or we would not be here
            if isinstance(plugin, PodTopologySpread):
                self.soft = plugin.soft_state(info.pod)
                if self.soft is not None:
                    self.spread_at = len(self.scorers)
                    self.state.data["PreScore" + plugin.name] = self.soft
                    self.scorers.append(plugin)
            elif (
                plugin.pre_score(self.state, info, snapshot.node_info_list, snapshot)
                is None
            ):
                self.scorers.append(plugin)
        spec = info.pod["spec"]
        self._required: Matcher | None = required_node_affinity(spec)
        self._tolerations: list[Any] = spec.get("tolerations") or []
        return True

    def _evaluate_all(self, info: PodInfo, snapshot: Snapshot) -> None:
        self._domain_counts: list[dict[str, int]] = (
            [{} for _ in self.soft.constraints] if self.soft else []
        )
        for node in snapshot.node_info_list:
            key = self._class_of(info, node)
            self.keys.append(key)
            self.infeasible += key == INFEASIBLE
            if self.soft is not None:
                shares = self._shares_of(node)
                self._domain_shares.append(shares)
                self._count(shares, 1)
        self._seen = len(snapshot.changes)

    def catch_up(self, info: PodInfo, snapshot: Snapshot) -> None:
        """Re-evaluate the nodes that changed since last time."""
        changes = snapshot.changes
        if self._seen == len(changes):
            return
        for position in set(changes[self._seen :]):
            node = snapshot.node_info_list[position]
            key = self._class_of(info, node)
            self.infeasible += (key == INFEASIBLE) - (self.keys[position] == INFEASIBLE)
            self.keys[position] = key
            if self.soft is not None:
                self._count(self._domain_shares[position], -1)
                self._domain_shares[position] = shares = self._shares_of(node)
                self._count(shares, 1)
        self._seen = len(changes)

    def _class_of(self, info: PodInfo, node: NodeInfo) -> int:
        state = self.state
        for plugin in self.filters:
            if plugin.filter(state, info, node) is not None:
                return INFEASIBLE
        parts = tuple(
            [plugin.score_class(state, info, node) for plugin in self.scorers]
        )
        if (
            self.soft is not None
        ):  # what a zone is called matters even where the host has no label
            parts += tuple(
                node.labels.get(c.topology_key, "")
                for c in self.soft.constraints
                if c.topology_key != HOSTNAME
            )
        number = self._numbers.get(parts)
        if number is None:
            number = self._numbers[parts] = len(self._tuples)
            self._tuples.append(parts)
        return number

    def _shares_of(self, node: NodeInfo) -> tuple[tuple[str, int], ...]:
        """Per constraint the domain that the node's matching pods count for, and their
        number.
        """
        assert self.soft is not None
        shares = []
        for constraint in self.soft.constraints:
            number = 0
            if constraint.topology_key != HOSTNAME and constraint.counts_node(
                node, self._required, self._tolerations
            ):
                number = count_pods_match_selector(
                    node.pods, constraint.selector, self.soft.namespace
                )
            shares.append((node.labels.get(constraint.topology_key, ""), number))
        return tuple(shares)

    def _count(self, shares: tuple[tuple[str, int], ...], sign: int) -> None:
        for counts, (domain, number) in zip(self._domain_counts, shares, strict=True):
            if number:
                counts[domain] = counts.get(domain, 0) + sign * number

    def window(self, start: int, wanted: int) -> tuple[list[int], int]:
        """The first `wanted` feasible positions from `start` on, and how many nodes
        were looked at.
        """
        keys = self.keys
        total = len(keys)
        if not self.infeasible:
            looked_at = min(wanted, total)
            end = start + looked_at
            if end <= total:
                return list(range(start, end)), looked_at
            return [*range(start, total), *range(end - total)], looked_at
        found: list[int] = []
        looked_at = 0
        for position in (*range(start, total), *range(start)):
            looked_at += 1
            if keys[position] != INFEASIBLE:
                found.append(position)
                if len(found) == wanted:
                    break
        return found, looked_at

    def total_scores(self, positions: Sequence[int]) -> dict[int, int]:
        """The total score of each class among the nodes at these positions."""
        keys = self.keys
        classes = list({keys[position] for position in positions})
        if self.soft is not None:
            self._weigh(classes, len(positions))
        totals = [0] * len(classes)
        for i, plugin in enumerate(self.scorers):
            raw = [
                plugin.score_of_class(self.state, self._tuples[number][i])
                for number in classes
            ]
            weight = plugin.weight
            for j, score in enumerate(plugin.normalize_score(self.state, raw)):
                totals[j] += score * weight
        return dict(zip(classes, totals, strict=True))

    def _weigh(self, classes: list[int], feasible: int) -> None:
        soft = self.soft
        assert soft is not None
        sizes = []
        at = len(self.scorers)
        for i, constraint in enumerate(soft.constraints):
            if constraint.topology_key == HOSTNAME:
                sizes.append(feasible)
                continue
            domains = {self._tuples[number][at] for number in classes}
            at += 1
            soft.domain_counts[i] = {
                domain: self._domain_counts[i].get(domain, 0) for domain in domains
            }
            sizes.append(len(domains))
        soft.weigh(sizes)


class OpportunisticBatch:
    """The equivalences in use, by signature."""

    def __init__(self, framework: Framework) -> None:
        self._framework = framework
        self._known: dict[Hashable, Equivalence] = {}
        self._spread = next(
            (p for p in framework.plugins if isinstance(p, PodTopologySpread)), None
        )

    def sign_pod(self, info: PodInfo) -> Hashable | None:
        """The pod's signature; None if its answers cannot be shared."""
        parts: list[Hashable] = []
        for plugin in self._framework.plugins:
            part = plugin.sign_pod(info)
            if part is None:
                return None
            parts.append(part)
        if self._spread is not None:
            selector = self._spread.find_selector(info.pod)
            if selector is not None:
                parts.append((info.pod["metadata"]["namespace"], selector))
        return tuple(parts)

    def get(self, info: PodInfo, snapshot: Snapshot) -> Equivalence | None:
        """The pod's equivalence, up to date with the snapshot; None: take the plain
        path.
        """
        if snapshot.have_pods_with_affinity:
            # somebody may have a word about this pod's labels, which are not in the
            # signature
            return None
        signature = self.sign_pod(info)
        if signature is None:
            return None
        known = self._known.pop(signature, None)
        if known is not None and known.layout == snapshot.layout:
            if known.possible:
                known.catch_up(info, snapshot)
        else:
            known = Equivalence(self._framework, info, snapshot)
        self._known[signature] = known
        if len(self._known) > MAX_SIGNATURES:
            del self._known[next(iter(self._known))]
        return known if known.possible else None
