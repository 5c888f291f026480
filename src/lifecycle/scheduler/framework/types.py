"""What the framework and its plugins talk about: events and hints, queued pods, and why
a pod fits nowhere.

Upstream: `staging/src/k8s.io/kube-scheduler/framework/types.go` (`ClusterEvent`,
`QueueingHintFn`), `pkg/scheduler/framework/types.go` (`QueuedPodInfo`, `Diagnosis`,
`FitError`), v1.36. Pods and nodes are in `node_info.py`, sums in `resources.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.node_to_status import NodeToStatus, StatusByName
from lifecycle.scheduler.framework.status import Code, Status


@dataclass(slots=True, frozen=True)
class ClusterEvent:
    """Something changed: which resource, and how (`Add`, `Delete`, `Update` or a part
    of it such as `UpdateNodeTaint`).
    """

    resource: str
    action: str

    @property
    def label(self) -> str:
        """The event as the scheduler's log names it."""
        return f"{self.resource}{self.action}"


QueueingHintFn = Callable[[PodInfo, Object | None, Object | None], bool]
"""Could this change (old, new object) make the pod schedulable? True is upstream's
`Queue`, False its `QueueSkip`.
"""


def always(_pod: PodInfo, _old: Object | None, _new: Object | None) -> bool:
    """The hint of a plugin that cannot tell: try again."""
    return True


def itself(pod: PodInfo, _old: Object | None, new: Object | None) -> bool:
    """The hint that it is the waiting pod that changed."""
    return new is not None and new["metadata"].get("uid") == pod.pod["metadata"].get(
        "uid"
    )


class QueuedPodInfo:
    """A pod on its way through the queue. `timestamp`: when it was last put in (seconds
    of the clock); `attempts`: how often it was tried.

    `unschedulable_count`: how often plugins refused it; `consecutive_errors`: how often
    in a row it came back for no plugin's sake. Each has its own back-off.
    `pending_plugins` are those that refused it with `Pending`; `gating_plugin` is the
    one that keeps it out of the queue, if one does.
    """

    __slots__ = (
        "attempts",
        "consecutive_errors",
        "gating_plugin",
        "info",
        "initial_timestamp",
        "pending_plugins",
        "timestamp",
        "unschedulable_count",
        "unschedulable_plugins",
    )

    def __init__(self, info: PodInfo, now: float) -> None:
        self.info = info
        self.timestamp = now
        self.initial_timestamp = now
        self.attempts = 0
        self.unschedulable_count = 0
        self.consecutive_errors = 0
        self.unschedulable_plugins: set[str] = set()
        self.pending_plugins: set[str] = set()
        self.gating_plugin = ""

    @property
    def gated(self) -> bool:
        """Whether a plugin keeps it out of the queue."""
        return bool(self.gating_plugin)

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return self.info.key


_UNRESOLVABLE = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)


@dataclass(slots=True)
class Diagnosis:
    """Why a pod fits nowhere: each node's status, and what PreFilter and PostFilter had
    to say.

    `absent_nodes_status` stands for the nodes that were not looked at since PreFilter
    had narrowed the choice to `node_names`. `nominated_only`: nothing but the node kept
    for the pod was looked at.
    """

    node_to_status: NodeToStatus = field(default_factory=StatusByName)
    absent_nodes_status: Status = _UNRESOLVABLE
    unschedulable_plugins: set[str] = field(default_factory=set)
    pending_plugins: set[str] = field(default_factory=set)
    pre_filter_message: str = ""
    post_filter_message: str = ""
    evaluated: int = 0
    node_names: frozenset[str] | None = None
    nominated_only: bool = False

    def set(self, node: str, status: Status) -> None:
        """A node was ruled out, by itself."""
        assert isinstance(self.node_to_status, StatusByName)
        self.node_to_status.set(node, status)
        self.add_plugin_status(status)

    def add_plugin_status(self, status: Status) -> None:
        """Remember who refused the pod. Upstream: `AddPluginStatus`."""
        if status.code is Code.PENDING:
            self.pending_plugins.add(status.plugin)
        else:
            self.unschedulable_plugins.add(status.plugin)


class FitError(Exception):
    """No node will do; the text is what users see in events and in the pod's condition.
    Upstream: `framework.FitError`.
    """

    def __init__(self, num_all_nodes: int, diagnosis: Diagnosis) -> None:
        super().__init__()
        self.num_all_nodes = num_all_nodes
        self.diagnosis = diagnosis

    def __str__(self) -> str:
        diagnosis = self.diagnosis
        text = f"0/{self.num_all_nodes} nodes are available:"
        if diagnosis.pre_filter_message:
            text += f" {diagnosis.pre_filter_message}."
        else:
            told = diagnosis.node_to_status
            absent = self.num_all_nodes - len(told)
            reasons = count_reasons(
                [*told.tally(), (diagnosis.absent_nodes_status, absent)]
            )
            if reasons:
                text += f" {reasons}."
        if diagnosis.post_filter_message:
            text += f" {diagnosis.post_filter_message}"
        return text


def count_reasons(tally: Iterable[tuple[Status, int]]) -> str:
    """`2 Insufficient cpu, 1 node(s) …`: each reason with the number of nodes, sorted
    as text.
    """
    counts: Counter[str] = Counter()
    for status, nodes in tally:
        for reason in status.reasons:
            counts[reason] += nodes
    return ", ".join(sorted([f"{counts[reason]} {reason}" for reason in +counts]))
