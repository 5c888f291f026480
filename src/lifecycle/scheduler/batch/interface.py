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
from lifecycle.scheduler.framework.interface import PreScorePlugin, ScorePlugin
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.status import Status


class ClassScorer:
    """Scores nodes by class: nodes of one class have the same raw score. By default
    that score *is* the class.
    """

    counts_cluster = False
    """Whether `observe` wants to see every node that changes."""

    def __init__(self, plugin: ScorePlugin, state: CycleState) -> None:
        self.plugin = plugin
        self.state = state

    def node_class(self, info: PodInfo, node: NodeInfo) -> Hashable:
        """All that the score depends on in this node."""
        return self.plugin.score(self.state, info, node)

    def score(self, node_class: Any) -> int:
        """The raw score of every node of a class."""
        return int(node_class)

    def observe(self, position: int, node: NodeInfo) -> None:
        """A node is there, or is another one than before, at that position of the
        snapshot.
        """

    def prepare(self, classes: Sequence[Any], feasible: int) -> None:
        """These classes are about to be scored; so many nodes are of one of them."""


class BatchAdapter:
    """How the answers of one plugin are shared. By default they do not depend on the
    pod.
    """

    def sign_pod(self, plugin: Any, info: PodInfo) -> Hashable:
        """What the plugin's answers depend on in the pod. None: they cannot be
        shared.
        """
        return ()

    def applies(self, snapshot: SharedLister) -> bool:
        """Whether answers can be shared in such a cluster."""
        return True

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
