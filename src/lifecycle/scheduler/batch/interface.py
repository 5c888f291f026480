"""What a plugin's answers must allow so that pods of one kind can share them.

This is the whole price of speed: a plugin without an adapter is called for every pod
and every node, and so is every pod of a profile that has such a plugin. Plugins do not
know about adapters; `adapters.py` has those of the plugins that come with us.

Upstream: `SignPlugin` (`staging/src/k8s.io/kube-scheduler/framework/interface.go`),
v1.36, which plugins implement themselves; the rest is ours.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import (
    FilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.status import Status


class Observer:
    """Counts something over all nodes, and is told of each that changes instead of
    counting anew.
    """

    counts_cluster = False
    """Whether `observe` wants to see every node that changes."""
    version = 0
    """Grows when nodes are to be told apart by more than before: their classes must be
    found anew.
    """

    def observe(self, position: int, node: NodeInfo) -> None:
        """A node is there, or is another one than before, at that position of the
        snapshot.
        """


class ClassFilter(Observer):
    """For a filter whose answer about a node depends on pods elsewhere: the answer may
    change though the node did not. Before each decision the plugin is asked about one
    node of each class.
    """

    counts_cluster = True

    def __init__(self, plugin: FilterPlugin) -> None:
        self.plugin = plugin

    @property
    def skipped(self) -> bool:
        """Whether the plugin's PreFilter would say SKIP just now."""
        return False

    def node_class(self, node: NodeInfo) -> Hashable:
        """All that the filter looks at in this node."""
        raise NotImplementedError


class ClassScorer(Observer):
    """Scores nodes by class: nodes of one class have the same raw score. By default
    that score *is* the class.
    """

    def __init__(self, plugin: ScorePlugin, state: CycleState) -> None:
        self.plugin = plugin
        self.state = state

    @property
    def skipped(self) -> bool:
        """Whether the plugin would not want to score just now."""
        return False

    def node_class(self, info: PodInfo, node: NodeInfo) -> Hashable:
        """All that the score depends on in this node."""
        return self.plugin.score(self.state, info, node)

    def score(self, node_class: Any) -> int:
        """The raw score of every node of a class."""
        return int(node_class)

    def prepare(self, classes: Sequence[Any], feasible: int) -> None:
        """These classes are about to be scored; so many nodes are of one of them."""


class BatchAdapter:
    """How the answers of one plugin are shared. By default they do not depend on the
    pod.
    """

    def sign_pod(self, plugin: Any, info: PodInfo, snapshot: SharedLister) -> Hashable:
        """What the plugin's answers depend on in the pod, in such a cluster. None: they
        cannot be shared.
        """
        return ()

    def class_filter(
        self, plugin: Any, state: CycleState, info: PodInfo, snapshot: SharedLister
    ) -> ClassFilter | None:
        """What filters for pods like this one; None if the plugin's answers about a
        node change with that node only.
        """
        return None

    def pre_score(
        self, plugin: PreScorePlugin, state: CycleState, info: PodInfo, s: SharedLister
    ) -> Status | None:
        """PreScore for all nodes, not only for those that fit one pod."""
        return plugin.pre_score(state, info, s.node_info_list, s)

    def class_scorer(
        self, plugin: ScorePlugin, state: CycleState, info: PodInfo
    ) -> ClassScorer:
        """What scores for pods like this one."""
        return ClassScorer(plugin, state)
