"""The extension points: one interface for each question that the scheduler asks.

    PreEnqueue → QueueSort → PreFilter → Filter → (PostFilter) → PreScore → Score →
    NormalizeScore → Reserve → Permit → PreBind → Bind → PostBind

A plugin is a class that implements one or more of them. Up to Permit a pod is decided,
one at a time, and nothing may take long. From there on it is bound, beside the next
pod's decision, so that PreBind and Bind may wait for others. PostFilter is asked only
if no node is left; it may wait as well, since it may have to ask an extender.

What comes in pairs saves time: a plugin's PreFilter and PreScore look at the pod once
and may answer SKIP: nothing to do for this pod, do not ask me per node.

Upstream: `staging/src/k8s.io/kube-scheduler/framework/interface.go`, v1.36. Left out:
`PodActivator`, gang scheduling (`PlacementGeneratePlugin` …), PreBind plugins that run
in parallel. `SignPlugin` is in `batch/`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.node_to_status import NodeToStatus
from lifecycle.scheduler.framework.status import Status
from lifecycle.scheduler.framework.types import (
    ClusterEvent,
    QueuedPodInfo,
    QueueingHintFn,
)

MIN_NODE_SCORE, MAX_NODE_SCORE = 0, 100
"""Between which a plugin's scores must be after normalizing."""


class Plugin:
    """What every plugin has: a name, by which profiles choose it."""

    name: str = ""


# -- the queue -------------------------------------------------------------------------


class PreEnqueuePlugin(Plugin):
    """Keeps a pod out of the queue."""

    def pre_enqueue(self, pod: Object) -> Status | None:
        """None to let it in. Must be quick: informers wait for it."""
        raise NotImplementedError

    def kept_out(self) -> Collection[str]:
        """Uids of pods that it would not let in now. About these it is not asked one by
        one whenever something changes; about all others it is.
        """
        return ()


class QueueSortPlugin(Plugin):
    """Says whose turn it is. A scheduler has exactly one."""

    def less(self, pod_info1: QueuedPodInfo, pod_info2: QueuedPodInfo) -> bool:
        """Whether the first comes before the second."""
        raise NotImplementedError


class EnqueueExtensions:
    """Says which changes could help a pod that the plugin refused (at PreEnqueue,
    PreFilter, Filter, Reserve or Permit). Without it every change is tried.
    """

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        """Asked once, when the scheduler starts."""
        raise NotImplementedError


# -- may the pod run there? ------------------------------------------------------------


@dataclass(slots=True, frozen=True)
class PreFilterResult:
    """The only nodes worth looking at; None: all."""

    node_names: frozenset[str] | None = None

    def merge(self, other: PreFilterResult | None) -> PreFilterResult:
        """The nodes that both leave."""
        if other is None or other.node_names is None:
            return self
        if self.node_names is None:
            return other
        return PreFilterResult(self.node_names & other.node_names)


PreFilterAnswer = tuple[PreFilterResult | None, Status | None]


class PreFilterPlugin(Plugin):
    """Looks at the pod before any node."""

    def pre_filter(
        self, state: CycleState, info: PodInfo, snapshot: SharedLister
    ) -> PreFilterAnswer:
        """SKIP: no need to filter. A refusal: no node will do."""
        raise NotImplementedError


class PreFilterExtensions:
    """Keeps up with pods that are added to or taken from a node in thought, after
    PreFilter: in a what-if of preemption, or for pods that a node is kept for.
    """

    def add_pod(
        self, state: CycleState, info: PodInfo, added: PodInfo, node: NodeInfo
    ) -> Status | None:
        """What if that pod ran there, too?"""
        raise NotImplementedError

    def remove_pod(
        self, state: CycleState, info: PodInfo, removed: PodInfo, node: NodeInfo
    ) -> Status | None:
        """What if that pod were gone?"""
        raise NotImplementedError


class FilterPlugin(Plugin):
    """Rules nodes out."""

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Once per node; None if the pod may run there."""
        raise NotImplementedError


@dataclass(slots=True, frozen=True)
class PostFilterResult:
    """The node to keep for the pod; empty: none any more."""

    nominated_node_name: str = ""


PostFilterAnswer = tuple[PostFilterResult | None, Status | None]


class PostFilterPlugin(Plugin):
    """Tries to help a pod that fits nowhere."""

    async def post_filter(
        self,
        state: CycleState,
        info: PodInfo,
        snapshot: SharedLister,
        node_to_status: NodeToStatus,
    ) -> PostFilterAnswer:
        """Success (None) if the pod will fit, or why not. No result leaves an earlier
        nomination as it is. `node_to_status` lacks nodes that were not looked at.
        """
        raise NotImplementedError


# -- how good would it be? -------------------------------------------------------------


class PreScorePlugin(Plugin):
    """Looks at the nodes that are left before it scores them."""

    def pre_score(
        self,
        state: CycleState,
        info: PodInfo,
        nodes: Sequence[NodeInfo],
        snapshot: SharedLister,
    ) -> Status | None:
        """SKIP: every node is as good."""
        raise NotImplementedError


class ScorePlugin(Plugin):
    """Ranks the nodes that are left."""

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """Once per node: 0 … `MAX_NODE_SCORE`, or whatever `normalize_score` takes."""
        raise NotImplementedError


class ScoreExtensions:
    """Brings a plugin's scores to the common scale."""

    def normalize_score(self, state: CycleState, scores: list[int]) -> list[int]:
        """All nodes' scores, in the same order, brought to 0 … `MAX_NODE_SCORE`."""
        raise NotImplementedError


# -- from the decision to the binding --------------------------------------------------


class ReservePlugin(Plugin):
    """Sets something aside for a pod whose node is decided, before others can take
    it.
    """

    def reserve(self, state: CycleState, pod: Object, node_name: str) -> Status | None:
        """None if it worked; else every plugin's `unreserve` is called."""
        raise NotImplementedError

    def unreserve(self, state: CycleState, pod: Object, node_name: str) -> None:
        """Give it back. Called in reverse order, also without a `reserve` before."""
        raise NotImplementedError


class PermitPlugin(Plugin):
    """Has the last word: yes, no, or wait."""

    def permit(
        self, state: CycleState, pod: Object, node_name: str
    ) -> tuple[Status | None, float]:
        """With the status `Wait` the seconds after which waiting is a no."""
        raise NotImplementedError


class PreBindPlugin(Plugin):
    """Does what must be done before the pod is bound, such as mounting a network
    volume.
    """

    def pre_bind_pre_flight(
        self, state: CycleState, pod: Object, node_name: str
    ) -> Status | None:
        """None if `pre_bind` has something to do for this pod, else SKIP."""
        raise NotImplementedError

    async def pre_bind(
        self, state: CycleState, pod: Object, node_name: str
    ) -> Status | None:
        """None if the pod may be bound. May take its time."""
        raise NotImplementedError


class BindPlugin(Plugin):
    """Binds the pod to its node."""

    async def bind(
        self, state: CycleState, pod: Object, node_name: str
    ) -> Status | None:
        """SKIP hands the pod to the next one."""
        raise NotImplementedError


class PostBindPlugin(Plugin):
    """Is told that a pod is bound."""

    def post_bind(self, state: CycleState, pod: Object, node_name: str) -> None:
        """Clean up, count, tell."""
        raise NotImplementedError


EXTENSION_POINTS: Mapping[str, type[Plugin]] = {
    "preFilter": PreFilterPlugin,
    "filter": FilterPlugin,
    "postFilter": PostFilterPlugin,
    "reserve": ReservePlugin,
    "preScore": PreScorePlugin,
    "score": ScorePlugin,
    "preBind": PreBindPlugin,
    "bind": BindPlugin,
    "postBind": PostBindPlugin,
    "permit": PermitPlugin,
    "preEnqueue": PreEnqueuePlugin,
    "queueSort": QueueSortPlugin,
}
"""The points at which a profile may choose its plugins, in the order in which upstream
looks at them (`getExtensionPoints`).
"""
