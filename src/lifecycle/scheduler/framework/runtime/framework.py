"""The plugins of one profile, and the runner that calls them at each extension point.

Upstream: `pkg/scheduler/framework/runtime/framework.go` (`frameworkImpl`,
`NewFramework`), v1.36. Left out: parallelism, metrics, PreBind plugins that run in
parallel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.scheduler.config import ConfigurationError, Profile
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.handle import WaitingPod
from lifecycle.scheduler.framework.interface import (
    EXTENSION_POINTS,
    MAX_NODE_SCORE,
    MIN_NODE_SCORE,
    BindPlugin,
    EnqueueExtensions,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScoreExtensions,
    ScorePlugin,
)
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.node_to_status import NodeToStatus
from lifecycle.scheduler.framework.runtime.options import Options, Registry
from lifecycle.scheduler.framework.runtime.waiting_pods_map import WaitingPodEntry
from lifecycle.scheduler.framework.status import (
    SKIP,
    Code,
    PluginError,
    Status,
    as_status,
    unresolvable,
)
from lifecycle.scheduler.framework.steps import NODES, Steps
from lifecycle.scheduler.framework.types import ClusterEvent, QueueingHintFn

MAX_TIMEOUT = 15 * 60.0
"""The longest that a Permit plugin may let a pod wait, in seconds."""

_REFUSING = (
    PreEnqueuePlugin,
    PreFilterPlugin,
    FilterPlugin,
    ReservePlugin,
    PermitPlugin,
)
"""Points at which a refusal makes a pod wait for events. Upstream:
`shouldHaveEnqueueExtensions`.
"""


class Framework:
    """The plugins of one profile, built from a registry, called in order.

    Raises ConfigurationError for a profile that cannot be: an unknown plugin, one at a
    point that it does not implement, no binder, not exactly one queue sort.
    """

    def __init__(
        self, registry: Registry, profile: Profile, options: Options | None = None
    ) -> None:
        options = options or Options()
        self.profile_name = profile.scheduler_name
        self.percentage_of_nodes_to_score = profile.percentage_of_nodes_to_score
        self.listers = options.listers
        self.nominator = options.nominator
        self.pod_activator = options.pod_activator
        self.client, self.informers = options.client, options.informers
        self.event_recorder, self.clock = options.event_recorder, options.clock
        self.extenders = options.extenders
        self._waiting_pods = options.waiting_pods
        self._plugins = {
            name: registry[name](profile.args.get(name, {}), self)
            for name in profile.plugin_names()
            if name in registry
        }
        at = self._expand(profile)
        self.pre_enqueue_plugins: Mapping[str, PreEnqueuePlugin] = {
            plugin.name: plugin for plugin in at["preEnqueue"]
        }
        self.queue_sort_plugins: Sequence[QueueSortPlugin] = at["queueSort"]
        self.pre_filter_plugins: Sequence[PreFilterPlugin] = at["preFilter"]
        self.filter_plugins: Sequence[FilterPlugin] = at["filter"]
        self.post_filter_plugins: Sequence[PostFilterPlugin] = at["postFilter"]
        self.pre_score_plugins: Sequence[PreScorePlugin] = at["preScore"]
        self.score_plugins: Sequence[ScorePlugin] = at["score"]
        self.reserve_plugins: Sequence[ReservePlugin] = at["reserve"]
        self.permit_plugins: Sequence[PermitPlugin] = at["permit"]
        self.pre_bind_plugins: Sequence[PreBindPlugin] = at["preBind"]
        self.bind_plugins: Sequence[BindPlugin] = at["bind"]
        self.post_bind_plugins: Sequence[PostBindPlugin] = at["postBind"]
        self.score_plugin_weight = profile.score_weights()
        self.hints: dict[str, Mapping[ClusterEvent, QueueingHintFn]] = {
            name: plugin.events_to_register()
            for name, plugin in self._plugins.items()
            if isinstance(plugin, _REFUSING) and isinstance(plugin, EnqueueExtensions)
        }
        """By plugin; one that is not in it wants every event to be tried."""
        self._extensions: list[tuple[str, PreFilterExtensions]] = []
        for pre_filter in self.pre_filter_plugins:
            name = pre_filter.name
            if isinstance(pre_filter, PreFilterExtensions):
                extension: PreFilterExtensions = pre_filter
                self._extensions.append((name, extension))

    def _expand(self, profile: Profile) -> dict[str, Any]:
        """Upstream: `updatePluginList`, `expandMultiPointPlugins`."""
        where = f"profile with scheduler name {go_quote(profile.scheduler_name)}"
        at: dict[str, tuple[Any, ...]] = {}
        for point, interface in EXTENSION_POINTS.items():
            anywhere = {name for name, _ in profile.multi_point}
            plugins: list[Plugin] = []
            for name, _ in profile.at(point):
                plugin = self._plugins.get(name)
                if plugin is None:
                    raise ConfigurationError(
                        f"{interface.__name__} {go_quote(name)} does not exist"
                    )
                if isinstance(plugin, interface):
                    plugins.append(plugin)
                elif name not in anywhere:
                    raise ConfigurationError(
                        f"plugin {go_quote(name)} does not extend"
                        f" {interface.__name__} plugin"
                    )
            at[point] = tuple(plugins)
        if len(at["queueSort"]) != 1:
            raise ConfigurationError(
                f"only one queue sort plugin required for {where}, but got"
                f" {len(at['queueSort'])}"
            )
        if not at["bind"]:
            raise ConfigurationError(f"at least one bind plugin is needed for {where}")
        return at

    @property
    def plugins(self) -> Sequence[Plugin]:
        """All of them, each once."""
        return tuple(self._plugins.values())

    async def close(self) -> None:
        """Close the plugins that have something to close."""
        for plugin in self._plugins.values():
            close = getattr(plugin, "close", None)
            if close is not None:
                await close()

    # -- may the pod run there? --------------------------------------------------------

    def run_pre_filter_plugins(
        self, state: CycleState, info: PodInfo, snapshot: SharedLister
    ) -> tuple[PreFilterResult, Status | None, set[str]]:
        """The only nodes to look at, a refusal if there is one, and the plugins that
        narrowed the choice.
        """
        result = PreFilterResult()
        refusal: Status | None = None
        plugins_with_nodes: set[str] = set()
        for plugin in self.pre_filter_plugins:
            own, status = plugin.pre_filter(state, info, snapshot)
            if status is not None:
                if status.code is Code.SKIP:
                    state.skip_filter_plugins.add(plugin.name)
                elif status.code is Code.UNSCHEDULABLE:
                    # preemption might help, and needs what the others have to say
                    refusal = status.with_plugin(plugin.name)
                elif status.rejected:
                    return PreFilterResult(), status.with_plugin(plugin.name), set()
                else:
                    status = _failed("running PreFilter plugin", plugin, status)
                    return PreFilterResult(), status, set()
                continue
            if own is None or own.node_names is None:
                continue
            plugins_with_nodes.add(plugin.name)
            result = result.merge(own)
            if not result.node_names:
                names = " ".join(sorted(plugins_with_nodes))
                reason = f"node(s) didn't satisfy plugin(s) [{names}] simultaneously"
                if len(plugins_with_nodes) == 1:
                    reason = f"node(s) didn't satisfy plugin {names}"
                return result, unresolvable(plugin.name, reason), plugins_with_nodes
        return result, refusal, plugins_with_nodes

    def active_filters(self, state: CycleState) -> list[FilterPlugin]:
        """The filter plugins that did not ask to be skipped."""
        skip = state.skip_filter_plugins
        return [plugin for plugin in self.filter_plugins if plugin.name not in skip]

    def run_filter_plugins(
        self, state: CycleState, info: PodInfo, node: NodeInfo
    ) -> Status | None:
        """The first refusal, or None if the pod may run on the node."""
        skip = state.skip_filter_plugins
        for plugin in self.filter_plugins:
            if plugin.name not in skip:
                status = plugin.filter(state, info, node)
                if status is not None:
                    if status.rejected:
                        return status.with_plugin(plugin.name)
                    text = f"running {go_quote(plugin.name)} filter plugin"
                    return as_status(
                        PluginError(f"{text}: {status.message}"), plugin.name
                    )
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
                other
                for other in self.nominator.nominated_pods_for_node(node.name)
                if other.key != info.key and other.priority >= info.priority
            ]
            if others:
                what_if, copy = state.clone(), node.clone()
                for other in others:
                    copy.add_pod(other)
                    status = self.run_pre_filter_extension_add_pod(
                        what_if, info, other, copy
                    )
                    if status is not None:
                        return status
                status = self.run_filter_plugins(what_if, info, copy)
                if status is not None:
                    return status
        return self.run_filter_plugins(state, info, node)

    def run_pre_filter_extension_add_pod(
        self, state: CycleState, info: PodInfo, added: PodInfo, node: NodeInfo
    ) -> Status | None:
        """Tell the plugins of a what-if pod."""
        for name, plugin in self._extensions:
            if name not in state.skip_filter_plugins:
                status = plugin.add_pod(state, info, added, node)
                if status is not None:
                    return _failed("running AddPod on PreFilter plugin", name, status)
        return None

    def run_pre_filter_extension_remove_pod(
        self, state: CycleState, info: PodInfo, removed: PodInfo, node: NodeInfo
    ) -> Status | None:
        """Tell the plugins of a pod thought away."""
        for name, plugin in self._extensions:
            if name not in state.skip_filter_plugins:
                status = plugin.remove_pod(state, info, removed, node)
                if status is not None:
                    text = "running RemovePod on PreFilter plugin"
                    return _failed(text, name, status)
        return None

    async def run_post_filter_plugins(
        self,
        state: CycleState,
        info: PodInfo,
        snapshot: SharedLister,
        node_to_status: NodeToStatus,
    ) -> tuple[PostFilterResult | None, Status | None]:
        """Until one helps, fails, or knows that nothing can help. What the others say
        is put together.
        """
        reasons: list[str] = []
        result: PostFilterResult | None = None
        rejector = ""
        for plugin in self.post_filter_plugins:
            own, status = await plugin.post_filter(
                state, info, snapshot, node_to_status
            )
            if status is None:
                return own, None
            if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return own, status.with_plugin(plugin.name)
            if not status.rejected:
                return None, as_status(status.as_error(), plugin.name)
            if own is not None:
                result = own
            reasons.extend(status.reasons)
            rejector = rejector or plugin.name
        return result, Status(Code.UNSCHEDULABLE, tuple(reasons), rejector)

    # -- how good would it be? ---------------------------------------------------------

    def run_pre_score_plugins(
        self,
        state: CycleState,
        info: PodInfo,
        nodes: Sequence[NodeInfo],
        snapshot: SharedLister,
    ) -> Status | None:
        """Let the plugins look at the nodes that are left; an error if one fails."""
        for plugin in self.pre_score_plugins:
            status = plugin.pre_score(state, info, nodes, snapshot)
            if status is not None:
                if status.code is not Code.SKIP:
                    return _failed("running PreScore plugin", plugin, status)
                state.skip_score_plugins.add(plugin.name)
        return None

    def run_score_plugins(
        self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]
    ) -> Steps[dict[str, list[int]]]:
        """Per plugin the weighted, normalized score of each node, in the nodes' order.
        Raises PluginError for a score that is off the scale.
        """
        table = {}
        skip = state.skip_score_plugins
        for plugin in self.score_plugins:
            if plugin.name in skip:
                continue
            scores: list[int] = []
            for first in range(0, len(nodes), NODES):
                some = nodes[first : first + NODES]
                scores += [plugin.score(state, info, node) for node in some]
                yield
            table[plugin.name] = self.normalize_and_weigh(plugin, state, scores)
        return table

    def normalize_and_weigh(
        self, plugin: ScorePlugin, state: CycleState, scores: list[int]
    ) -> list[int]:
        """A plugin's raw scores, as they count. Raises PluginError."""
        if isinstance(plugin, ScoreExtensions):
            scores = plugin.normalize_score(state, scores)
        weight = self.score_plugin_weight[plugin.name]
        if (
            scores
            and not MIN_NODE_SCORE <= min(scores) <= max(scores) <= MAX_NODE_SCORE
        ):
            score = next(s for s in scores if not 0 <= s <= MAX_NODE_SCORE)
            raise PluginError(
                f"applying score defaultWeights on Score plugins: plugin"
                f" {go_quote(plugin.name)} returns an invalid score {score}, it should"
                f" in the range of [{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after"
                " normalizing"
            )
        return [score * weight for score in scores]

    # -- from the decision to the binding ----------------------------------------------

    def run_reserve_plugins_reserve(
        self, state: CycleState, pod: Object, node_name: str
    ) -> Status | None:
        """The first refusal; whoever gets one calls
        `run_reserve_plugins_unreserve`.
        """
        for plugin in self.reserve_plugins:
            status = plugin.reserve(state, pod, node_name)
            if status is not None:
                return _refused_or_failed("running Reserve plugin", plugin, status)
        return None

    def run_reserve_plugins_unreserve(
        self, state: CycleState, pod: Object, node_name: str
    ) -> None:
        """Everything is given back, in reverse order."""
        for plugin in reversed(self.reserve_plugins):
            plugin.unreserve(state, pod, node_name)

    def run_permit_plugins(
        self, state: CycleState, pod: Object, node_name: str
    ) -> Status | None:
        """None: go ahead. With `Wait` the pod is one of the waiting pods now."""
        wait_times: dict[str, float] = {}
        for plugin in self.permit_plugins:
            status, timeout = plugin.permit(state, pod, node_name)
            if status is None:
                continue
            if status.code is not Code.WAIT:
                return _refused_or_failed("running Permit plugin", plugin, status)
            wait_times[plugin.name] = min(timeout, MAX_TIMEOUT)
        if not wait_times:
            return None
        self._waiting_pods.add(WaitingPodEntry(pod, wait_times))
        name = go_quote(pod["metadata"]["name"])
        text = f"one or more plugins asked to wait and no plugin rejected pod {name}"
        return Status(Code.WAIT, (text,))

    def will_wait_on_permit(self, pod: Object) -> bool:
        """Whether the pod is one of the waiting pods."""
        return self._waiting_pods.get(pod["metadata"].get("uid", "")) is not None

    async def wait_on_permit(self, pod: Object) -> Status | None:
        """Wait until the pod may be bound; a refusal if it may not."""
        uid = pod["metadata"].get("uid", "")
        waiting = self._waiting_pods.get(uid)
        if waiting is None:
            return None
        try:
            status = await waiting.settled()
        finally:
            self._waiting_pods.remove(uid)
        if status is None or status.rejected:
            return status
        text = f"waiting on permit for pod: {status.message}"
        return as_status(PluginError(text), status.plugin)

    def iterate_over_waiting_pods(self) -> Iterable[WaitingPod]:
        """All pods that wait, of every profile."""
        return self._waiting_pods

    def get_waiting_pod(self, uid: str) -> WaitingPod | None:
        """The waiting pod of that uid, or None."""
        return self._waiting_pods.get(uid)

    def reject_waiting_pod(self, uid: str) -> bool:
        """Say no for a pod that is gone; whether it waited."""
        return self._waiting_pods.reject(uid)

    def run_pre_bind_pre_flights(
        self, state: CycleState, pod: Object, node_name: str
    ) -> Status | None:
        """None if some plugin has something to do before the binding, SKIP if none."""
        answer: Status | None = SKIP
        for plugin in self.pre_bind_plugins:
            status = plugin.pre_bind_pre_flight(state, pod, node_name)
            if status is None:
                answer = None
            elif status.code is Code.SKIP:
                state.skip_pre_bind_plugins.add(plugin.name)
            elif status.code is Code.ERROR:
                return _failed("running PreBindPreFlight", plugin, status)
            else:
                text = (
                    f"PreBindPreFlight {plugin.name} returned"
                    f" {go_quote(status.code.value)}, which is unsupported. It is"
                    " supposed to return Success, Skip, or Error status"
                )
                return as_status(PluginError(text))
        return answer

    async def run_pre_bind_plugins(
        self, state: CycleState, pod: Object, node_name: str
    ) -> Status | None:
        """The first refusal or error, or None."""
        for plugin in self.pre_bind_plugins:
            if plugin.name not in state.skip_pre_bind_plugins:
                status = await plugin.pre_bind(state, pod, node_name)
                if status is not None:
                    return _refused_or_failed("running PreBind plugin", plugin, status)
        return None

    async def run_bind_plugins(
        self, state: CycleState, pod: Object, node_name: str
    ) -> Status | None:
        """The answer of the first plugin that does not skip the pod."""
        for plugin in self.bind_plugins:
            status = await plugin.bind(state, pod, node_name)
            if status is None:
                return None
            if status.code is not Code.SKIP:
                return _refused_or_failed("running Bind plugin", plugin, status)
        return SKIP

    def run_post_bind_plugins(
        self, state: CycleState, pod: Object, node_name: str
    ) -> None:
        """Tell everybody."""
        for plugin in self.post_bind_plugins:
            plugin.post_bind(state, pod, node_name)


def _failed(doing: str, plugin: Plugin | str, status: Status) -> Status:
    name = plugin if isinstance(plugin, str) else plugin.name
    error = PluginError(f"{doing} {go_quote(name)}: {status.message}")
    return as_status(error, name)


def _refused_or_failed(doing: str, plugin: Plugin, status: Status) -> Status:
    if status.rejected:
        return status.with_plugin(plugin.name)
    return _failed(doing, plugin, status)
