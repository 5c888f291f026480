"""The scheduling framework: extension points, and the runner that calls plugins at
each.

A decision is made by small plugins, each answering one question: *may this pod run
here* (filter), *how good is it here* (score). The framework asks them in a fixed order
and adds up the answers:

    PreEnqueue → QueueSort → PreFilter → Filter → PostFilter → PreScore → Score →
    NormalizeScore → Bind

A plugin's `pre_filter` and `pre_score` look at the pod (and the whole cluster) once,
leave what they found in the `CycleState`, and may answer SKIP: nothing to do for this
pod, do not ask me per node. That is most of the scheduler's speed: a plain pod passes
most plugins without a single call per node.

Upstream: `kube-scheduler/framework/interface.go` (`Plugin`, `Code`, `Status`),
`cycle_state.go`; `pkg/scheduler/framework/runtime/framework.go` (`frameworkImpl`),
v1.36. Left out: Reserve and Permit (no default plugin of ours uses them), parallelism,
metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from lifecycle.api.wire import Object
from lifecycle.scheduler.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.nominator import Nominator
from lifecycle.scheduler.snapshot import Snapshot

MAX_NODE_SCORE = 100
"""What a plugin's best node gets after normalizing."""


class Code(Enum):
    """What a status means. Upstream: `framework.Code`."""

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    SKIP = "Skip"
    PENDING = "Pending"


@dataclass(slots=True, frozen=True)
class Status:
    """A plugin's answer other than plain success (which is None)."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    @property
    def message(self) -> str:
        """All reasons in one line."""
        return ", ".join(self.reasons)

    @property
    def rejected(self) -> bool:
        """Whether the pod cannot run (here)."""
        return self.code in (
            Code.UNSCHEDULABLE,
            Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            Code.PENDING,
        )


SKIP = Status(Code.SKIP)


def unschedulable(plugin: str, *reasons: str) -> Status:
    """Not here as things are; evicting other pods could help."""
    return Status(Code.UNSCHEDULABLE, reasons, plugin)


def unresolvable(plugin: str, *reasons: str) -> Status:
    """Not here, whatever is evicted."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons, plugin)


class CycleState:
    """What plugins remember between extension points of one pod's cycle."""

    __slots__ = ("data", "skip_filter_plugins", "skip_score_plugins")

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.skip_filter_plugins: set[str] = set()
        self.skip_score_plugins: set[str] = set()

    def clone(self) -> CycleState:
        """A copy for a what-if (preemption): entries with a `clone` method are cloned,
        the others shared.
        """
        copy = CycleState()
        copy.data = {
            key: value.clone() if hasattr(value, "clone") else value
            for key, value in self.data.items()
        }
        copy.skip_filter_plugins = self.skip_filter_plugins
        copy.skip_score_plugins = self.skip_score_plugins
        return copy


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


QueueingHint = Callable[[PodInfo, Object | None, Object | None], bool]
"""Could this change (old, new object) make the pod schedulable?"""


def always(_pod: PodInfo, _old: Object | None, _new: Object | None) -> bool:
    """The hint of a plugin that cannot tell: try again."""
    return True


def itself(pod: PodInfo, _old: Object | None, new: Object | None) -> bool:
    """The hint that it is the waiting pod that changed."""
    return new is not None and new["metadata"].get("uid") == pod.pod["metadata"].get(
        "uid"
    )


class Plugin:
    """What every plugin is; each overrides the extension points it serves. `weight`
    multiplies its normalized score.
    """

    name: str = ""
    weight: int = 1

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHint]:
        """Which changes could make a pod that this plugin refused schedulable."""
        return {}

    def sign_pod(self, info: PodInfo) -> Hashable:
        """What this plugin's answer depends on in the pod. None: it cannot be told from
        the pod alone.

        Upstream: `SignPlugin`.
        """
        return ()


class PreEnqueuePlugin(Plugin):
    """Keeps a pod out of the queue."""

    def pre_enqueue(self, pod: Object) -> Status | None:
        """None to let it in."""
        raise NotImplementedError


class FilterPlugin(Plugin):
    """Rules nodes out."""

    def pre_filter(
        self, state: CycleState, info: PodInfo, snapshot: Snapshot
    ) -> Status | None:
        """Once per pod. SKIP: no need to filter; a refusal: no node will do."""
        return None

    def pre_filter_nodes(self, info: PodInfo) -> set[str] | None:
        """The only nodes worth looking at, if the pod names them. Upstream:
        `PreFilterResult`.
        """
        return None

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Once per node; None if the pod may run there."""
        raise NotImplementedError

    def add_pod(
        self, state: CycleState, info: PodInfo, added: PodInfo, node: NodeInfo
    ) -> None:
        """What if that pod ran there, too? Upstream: `PreFilterExtensions`."""

    def remove_pod(
        self, state: CycleState, info: PodInfo, removed: PodInfo, node: NodeInfo
    ) -> None:
        """What if that pod were gone?"""


class ScorePlugin(Plugin):
    """Ranks the nodes that are left."""

    def pre_score(
        self,
        state: CycleState,
        info: PodInfo,
        nodes: Sequence[NodeInfo],
        snapshot: Snapshot,
    ) -> Status | None:
        """Once per pod; SKIP: every node is as good."""
        return None

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """Once per node."""
        raise NotImplementedError

    def normalize_score(self, state: CycleState, scores: list[int]) -> list[int]:
        """All nodes' scores, brought to 0 … `MAX_NODE_SCORE`."""
        return scores

    def score_class(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Hashable:
        """All that the score depends on in this node: nodes of one class score the
        same. By default the score itself.
        """
        return self.score(state, info, node)

    def score_of_class(self, state: CycleState, score_class: Any) -> int:
        """The score of every node of a class."""
        return int(score_class)


class PostFilterPlugin(Plugin):
    """Tries to help a pod that fits nowhere."""

    def post_filter(
        self,
        state: CycleState,
        info: PodInfo,
        snapshot: Snapshot,
        statuses: Mapping[str, Status],
    ) -> tuple[str | None, Status | None]:
        """A node to nominate, and success (None) or why not. `statuses` lacks nodes
        that were not looked at.

        Without success an empty node takes an earlier nomination back; None leaves it
        as it is.
        """
        raise NotImplementedError


def default_normalize_score(scores: list[int], *, reverse: bool = False) -> list[int]:
    """The highest score becomes 100, the others in proportion; `reverse` for "less is
    better". Upstream: `helper.DefaultNormalizeScore`.
    """
    highest = max(scores, default=0)
    if highest == 0:
        return [MAX_NODE_SCORE] * len(scores) if reverse else scores
    scaled = [MAX_NODE_SCORE * score // highest for score in scores]
    return [MAX_NODE_SCORE - score for score in scaled] if reverse else scaled


@dataclass(slots=True)
class Diagnosis:
    """Why a pod fits nowhere: each node's status, and what PreFilter and PostFilter had
    to say.

    `absent_nodes_status` stands for the nodes that were not looked at since PreFilter
    had narrowed the choice to `only`. `nominated_only`: nothing but the node kept for
    the pod was looked at.
    """

    statuses: dict[str, Status] = field(default_factory=dict)
    absent_nodes_status: Status = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
    unschedulable_plugins: set[str] = field(default_factory=set)
    pending_plugins: set[str] = field(default_factory=set)
    pre_filter_message: str = ""
    post_filter_message: str = ""
    evaluated: int = 0
    only: set[str] | None = None
    nominated_only: bool = False

    def add(self, node: str, status: Status) -> None:
        """A node was ruled out."""
        self.statuses[node] = status
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
            absent = self.num_all_nodes - len(diagnosis.statuses)
            reasons = count_reasons(
                [
                    *diagnosis.statuses.values(),
                    *[diagnosis.absent_nodes_status] * absent,
                ]
            )
            if reasons:
                text += f" {reasons}."
        if diagnosis.post_filter_message:
            text += f" {diagnosis.post_filter_message}"
        return text


def count_reasons(statuses: Iterable[Status]) -> str:
    """`2 Insufficient cpu, 1 node(s) …`: each reason with the number of nodes, sorted
    as text.
    """
    counts: dict[str, int] = {}
    for status in statuses:
        for reason in status.reasons:
            counts[reason] = counts.get(reason, 0) + 1
    return ", ".join(sorted(f"{number} {reason}" for reason, number in counts.items()))


EXTENSION_POINTS: Mapping[str, type[Plugin]] = {
    "preEnqueue": PreEnqueuePlugin,
    "filter": FilterPlugin,
    "postFilter": PostFilterPlugin,
    "score": ScorePlugin,
}
"""The points at which a profile may choose its plugins, and what a plugin there must
be.

`preFilter` goes with `filter`, `preScore` with `score`.
"""


class Framework:
    """The plugins of one profile, called in order. Upstream: `frameworkImpl`.

    `points` gives, for single extension points, other plugins (or another order) than
    `plugins` as a whole.
    """

    def __init__(
        self,
        plugins: Sequence[Plugin],
        profile_name: str = "default-scheduler",
        points: Mapping[str, Sequence[Plugin]] | None = None,
    ) -> None:
        self.profile_name = profile_name
        self.nominator = Nominator()
        self.plugins = tuple(plugins)

        def at(point: str) -> list[Any]:
            wanted = plugins if points is None or point not in points else points[point]
            return [
                plugin
                for plugin in wanted
                if isinstance(plugin, EXTENSION_POINTS[point])
            ]

        self.pre_enqueue_plugins: list[PreEnqueuePlugin] = at("preEnqueue")
        self.filter_plugins: list[FilterPlugin] = at("filter")
        self.post_filter_plugins: list[PostFilterPlugin] = at("postFilter")
        self.score_plugins: list[ScorePlugin] = at("score")
        self.hints: dict[str, Mapping[ClusterEvent, QueueingHint]] = {
            p.name: p.events_to_register() for p in plugins
        }

    def run_pre_filter_plugins(
        self, state: CycleState, info: PodInfo, snapshot: Snapshot
    ) -> tuple[set[str] | None, Status | None, set[str]]:
        """The only nodes to look at (None: all), a refusal if there is one, and the
        plugins that narrowed the choice.
        """
        nodes: set[str] | None = None
        narrowing: set[str] = set()
        for plugin in self.filter_plugins:
            status = plugin.pre_filter(state, info, snapshot)
            if status is not None:
                if status.code is Code.SKIP:
                    state.skip_filter_plugins.add(plugin.name)
                else:
                    return None, status, narrowing
            only = plugin.pre_filter_nodes(info)
            if only is not None:
                narrowing.add(plugin.name)
                nodes = only if nodes is None else nodes & only
                if not nodes:
                    why = f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(narrowing))}] simultaneously"
                    if len(narrowing) == 1:
                        why = f"node(s) didn't satisfy plugin {plugin.name}"
                    return nodes, unresolvable(plugin.name, why), narrowing
        return nodes, None, narrowing

    def active_filters(self, state: CycleState) -> list[FilterPlugin]:
        """The filter plugins that did not ask to be skipped."""
        return [
            p for p in self.filter_plugins if p.name not in state.skip_filter_plugins
        ]

    def run_filter_plugins(
        self, state: CycleState, info: PodInfo, node: NodeInfo
    ) -> Status | None:
        """The first refusal, or None if the pod may run on the node."""
        skip = state.skip_filter_plugins
        for plugin in self.filter_plugins:
            if plugin.name not in skip:
                status = plugin.filter(state, info, node)
                if status is not None:
                    return status
        return None

    def run_filter_plugins_with_nominated_pods(
        self, state: CycleState, info: PodInfo, node: NodeInfo
    ) -> Status | None:
        """Filter twice where a node is kept for other pods of at least this priority:
        once as if they ran there already, once without.

        With them lest we take their place; without them since a pod must not depend on
        ones that may never come.
        """
        if self.nominator:
            others = [
                o
                for o in self.nominator.on(node.name)
                if o.key != info.key and o.priority >= info.priority
            ]
            if others:
                what_if, copy = state.clone(), node.clone()
                for other in others:
                    copy.add_pod(other)
                    self.run_pre_filter_add_pod(what_if, info, other, copy)
                status = self.run_filter_plugins(what_if, info, copy)
                if status is not None:
                    return status
        return self.run_filter_plugins(state, info, node)

    def run_pre_filter_add_pod(
        self, state: CycleState, info: PodInfo, added: PodInfo, node: NodeInfo
    ) -> None:
        """Tell the plugins of a what-if pod."""
        for plugin in self.active_filters(state):
            plugin.add_pod(state, info, added, node)

    def run_pre_filter_remove_pod(
        self, state: CycleState, info: PodInfo, removed: PodInfo, node: NodeInfo
    ) -> None:
        """Tell the plugins of a pod thought away."""
        for plugin in self.active_filters(state):
            plugin.remove_pod(state, info, removed, node)

    def run_pre_score_plugins(
        self,
        state: CycleState,
        info: PodInfo,
        nodes: Sequence[NodeInfo],
        snapshot: Snapshot,
    ) -> list[ScorePlugin]:
        """The plugins that have something to say about these nodes."""
        active = []
        for plugin in self.score_plugins:
            status = plugin.pre_score(state, info, nodes, snapshot)
            if status is None:
                active.append(plugin)
            else:
                state.skip_score_plugins.add(plugin.name)
        return active

    def run_score_plugins(
        self,
        state: CycleState,
        info: PodInfo,
        nodes: Sequence[NodeInfo],
        plugins: Sequence[ScorePlugin],
    ) -> dict[str, list[int]]:
        """Per plugin the weighted, normalized score of each node, in the nodes'
        order.
        """
        table = {}
        for plugin in plugins:
            scores = plugin.normalize_score(
                state, [plugin.score(state, info, node) for node in nodes]
            )
            table[plugin.name] = [score * plugin.weight for score in scores]
        return table

    def run_post_filter_plugins(
        self,
        state: CycleState,
        info: PodInfo,
        snapshot: Snapshot,
        statuses: Mapping[str, Status],
        plugins: Sequence[PostFilterPlugin] | None = None,
    ) -> tuple[str | None, str]:
        """The node to nominate (empty: none any more; None: no opinion) and the message
        for the user, each plugin's in turn.
        """
        messages: list[str] = []
        result: str | None = None
        for plugin in self.post_filter_plugins if plugins is None else plugins:
            nominated, status = plugin.post_filter(state, info, snapshot, statuses)
            if status is None:
                return nominated, ""
            if status.code is Code.ERROR:
                return None, status.message
            if nominated is not None:
                result = nominated
            messages.extend(status.reasons)
        return result, ", ".join(messages)
