"""DefaultPreemption: who is sacrificed on a node, and who may ask for it.

For each node where evicting could help, think all pods of lower priority away. If the
pod then fits, put them back one by one, the most important first, as long as it still
fits: who cannot come back is a *victim*. Of all such nodes the one that hurts least is
nominated: no broken disruption budgets, then the lowest highest priority among victims,
the lowest sum, the fewest, and the latest started.

Upstream: `pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go`
(`PreEnqueue`, `PostFilter`, `SelectVictimsOnNode`, `PodEligibleToPreemptOthers`,
`filterPodsWithPDBViolation`), v1.36. The steps around it are in
`framework/preemption`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.events import POD_DELETED
from lifecycle.scheduler.framework.handle import Candidate, Handle, start_time
from lifecycle.scheduler.framework.interface import (
    EnqueueExtensions,
    PostFilterAnswer,
    PostFilterPlugin,
    PreEnqueuePlugin,
)
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.node_to_status import NodeToStatus
from lifecycle.scheduler.framework.preemption.executor import Executor
from lifecycle.scheduler.framework.preemption.preemption import (
    Evaluator,
    no_victims,
)
from lifecycle.scheduler.framework.status import Code, Status, unresolvable
from lifecycle.scheduler.framework.types import ClusterEvent, QueueingHintFn

NO_VICTIMS = "No preemption victims found for incoming pod"
PREEMPTING = "waiting for the preemption for this pod to be finished"
NEVER = "not eligible due to preemptionPolicy=Never."
TERMINATING = "not eligible due to a terminating pod on the nominated node."

MIN_CANDIDATES = 100
MIN_CANDIDATES_PERCENTAGE = 10


def _importance(info: PodInfo) -> tuple[int, str]:
    return (-info.priority, start_time(info))


def _terminating_by_preemption(pod: Object) -> bool:
    if not pod["metadata"].get("deletionTimestamp"):
        return False
    return any(
        c["type"] == "DisruptionTarget"
        and c["status"] == "True"
        and c.get("reason") == "PreemptionByScheduler"
        for c in (pod.get("status") or {}).get("conditions") or ()
    )


def _never(_pod: PodInfo, _old: Object | None, _new: Object | None) -> bool:
    """The hint of a plugin that leaves it to others to say when a pod comes back."""
    return False


class DefaultPreemption(PreEnqueuePlugin, PostFilterPlugin, EnqueueExtensions):
    """Finds a node and its victims, and begins to evict them. Until the last of them
    has been told, the pod stays out of the queue: trying again would be in vain.
    """

    name = "DefaultPreemption"

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._waits = unresolvable(self.name, PREEMPTING)
        self._executor = Executor(self.name, handle)
        self._evaluator = Evaluator(self.name, handle, self, self._executor.prepare)

    async def close(self) -> None:
        """Stop evicting."""
        await self._executor.close()

    def pre_enqueue(self, pod: Object) -> Status | None:
        """None unless victims of the pod are still being told."""
        if self._executor.is_pod_running_preemption(pod["metadata"].get("uid", "")):
            return self._waits
        return None

    def kept_out(self) -> Collection[str]:
        """All of whom victims are still being told."""
        return self._executor.running

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        """A pod that is kept out looks up when one has gone; whether that helps, those
        say who refused it before.
        """
        return {POD_DELETED: _never}

    async def post_filter(
        self,
        state: CycleState,
        info: PodInfo,
        snapshot: SharedLister,
        node_to_status: NodeToStatus,
    ) -> PostFilterAnswer:
        """The nominated node, or why preemption does not help."""
        result, status = await self._evaluator.preempt(
            state, info, snapshot, node_to_status
        )
        if status is None:
            return result, None
        return result, Status(
            status.code, (f"preemption: {status.message}",), self.name
        )

    def num_candidates(self, potential: int) -> int:
        """A tenth of the nodes, but a hundred of them."""
        return max(potential * MIN_CANDIDATES_PERCENTAGE // 100, MIN_CANDIDATES)

    def pod_eligible_to_preempt_others(
        self, info: PodInfo, snapshot: SharedLister, nominated: Status | None
    ) -> str:
        """A pod may not want to preempt; and one whose victims are still going must
        wait. Empty: it may try.
        """
        if info.pod["spec"].get("preemptionPolicy") == "Never":
            return NEVER
        kept = (info.pod.get("status") or {}).get("nominatedNodeName")
        node = snapshot.get(kept) if kept else None
        if node is None or (
            nominated is not None
            and nominated.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
        ):
            return ""
        for other in node.pods.values():
            if other.priority < info.priority and _terminating_by_preemption(other.pod):
                return TERMINATING
        return ""

    def looks_at_node_only(self) -> bool:
        """Unless there are disruption budgets, which others use up, too."""
        return next(iter(self._handle.listers.list_budgets()), None) is None

    def select_victims_on_node(
        self, state: CycleState, info: PodInfo, node: NodeInfo
    ) -> Candidate | Status:
        """The victims on a node, or why there are none."""
        handle = self._handle
        lower = [
            other for other in node.pods.values() if other.priority < info.priority
        ]
        if not lower:
            return unresolvable(self.name, NO_VICTIMS)

        def remove_pod(other: PodInfo) -> Status | None:
            node.remove_pod(other.key)
            return handle.run_pre_filter_extension_remove_pod(state, info, other, node)

        def add_pod(other: PodInfo) -> Status | None:
            node.add_pod(other)
            return handle.run_pre_filter_extension_add_pod(state, info, other, node)

        for other in lower:
            status = remove_pod(other)
            if status is not None:
                return status
        status = handle.run_filter_plugins_with_nominated_pods(state, info, node)
        if status is not None:
            return status
        lower.sort(key=_importance)
        violating, non_violating = self._split_by_budget(lower)
        victims: list[PodInfo] = []
        violations = 0
        for group, breaks in ((violating, True), (non_violating, False)):
            for other in group:
                add_pod(other)
                fits = handle.run_filter_plugins_with_nominated_pods(state, info, node)
                if fits is not None:
                    remove_pod(other)
                    victims.append(other)
                    violations += breaks
        if not victims:
            return no_victims(self.name, node.name)
        return Candidate(node.name, sorted(victims, key=_importance), violations)

    def _split_by_budget(
        self, infos: list[PodInfo]
    ) -> tuple[list[PodInfo], list[PodInfo]]:
        """Those whose eviction would break a disruption budget, and the others, each in
        the order given.
        """
        listers = self._handle.listers
        budgets = [
            (
                budget["metadata"]["namespace"],
                listers.selector_of_budget(budget),
                budget.get("status") or {},
            )
            for budget in listers.list_budgets()
        ]
        allowed = [status.get("disruptionsAllowed", 0) for _, _, status in budgets]
        violating: list[PodInfo] = []
        non_violating: list[PodInfo] = []
        for info in infos:
            metadata = info.pod["metadata"]
            labels = metadata.get("labels")
            violated = False
            # no budget speaks of a pod without labels, whatever its selector
            for i, (namespace, selector, status) in enumerate(
                budgets if labels else ()
            ):
                if (
                    namespace != metadata["namespace"]
                    or selector.empty
                    or not selector.matches(labels)
                    or metadata["name"] in (status.get("disruptedPods") or {})
                ):
                    continue
                allowed[i] -= 1
                violated = violated or allowed[i] < 0
            (violating if violated else non_violating).append(info)
        return violating, non_violating
