"""DefaultPreemption: a pod that fits nowhere may push out less important ones.

For each node where evicting could help, think all pods of lower priority away. If the
pod then fits, put them back one by one, the most important first, as long as it still
fits: who cannot come back is a *victim*. Of all such nodes the one that hurts least is
nominated: no broken disruption budgets, then the lowest highest priority among victims,
the lowest sum, the fewest, and the latest started.

Upstream: `pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go`
(`SelectVictimsOnNode`), `pkg/scheduler/framework/preemption/preemption.go` (`Preempt`,
`dryRunPreemption`, `pickOneNodeForPreemption`), v1.36. Left out: the random offset into
the candidates. Extenders are asked in `scheduler.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lifecycle.api.labels import selector_from_label_selector
from lifecycle.api.wire import Object
from lifecycle.scheduler.framework import (
    Code,
    CycleState,
    Framework,
    PostFilterPlugin,
    Status,
    count_reasons,
    unresolvable,
    unschedulable,
)
from lifecycle.scheduler.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.snapshot import Snapshot

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
PRIORITY_OFFSET = 2**31
"""Added to each priority before summing, so that more victims always weigh more."""

MIN_CANDIDATES = 100
MIN_CANDIDATES_PERCENTAGE = 10


@dataclass(slots=True)
class Candidate:
    """A node that evicting the victims would make fit."""

    node: str
    victims: list[PodInfo]
    pdb_violations: int

    def rank(self) -> tuple[int, int, int, int, str]:
        """Smaller hurts less. (The start time is compared last; see
        `pick_one_node`.)
        """
        priorities = [victim.priority for victim in self.victims]
        highest = max(priorities, default=-PRIORITY_OFFSET)
        return (
            self.pdb_violations,
            highest,
            sum(p + PRIORITY_OFFSET for p in priorities),
            len(priorities),
            "",
        )


def _start_time(info: PodInfo) -> str:
    return str((info.pod.get("status") or {}).get("startTime") or "9999")


def _importance(info: PodInfo) -> tuple[int, str]:
    return (-info.priority, _start_time(info))


def _terminating_by_preemption(pod: Object) -> bool:
    if not pod["metadata"].get("deletionTimestamp"):
        return False
    return any(
        c["type"] == "DisruptionTarget"
        and c["status"] == "True"
        and c.get("reason") == "PreemptionByScheduler"
        for c in (pod.get("status") or {}).get("conditions") or ()
    )


def pick_one_node(candidates: list[Candidate]) -> Candidate:
    """The candidate that hurts least; among equals the one whose most important victim
    started last.
    """
    best = min(candidate.rank() for candidate in candidates)
    equals = [candidate for candidate in candidates if candidate.rank() == best]

    def earliest(candidate: Candidate) -> str:
        highest = max((v.priority for v in candidate.victims), default=0)
        return min(
            (_start_time(v) for v in candidate.victims if v.priority == highest),
            default="",
        )

    return max(equals, key=earliest)


class DefaultPreemption(PostFilterPlugin):
    """Finds a node and its victims; `prepare` is handed the choice and carries it
    out.
    """

    name = "DefaultPreemption"

    def __init__(
        self,
        prepare: Callable[[PodInfo, Candidate], None] | None = None,
        budgets: Callable[[], list[Object]] | None = None,
    ) -> None:
        self._prepare = prepare
        self._budgets = budgets or (lambda: [])
        self.framework: Framework | None = None

    def post_filter(
        self,
        state: CycleState,
        info: PodInfo,
        snapshot: Snapshot,
        statuses: Mapping[str, Status],
    ) -> tuple[str | None, Status | None]:
        """The nominated node, or why preemption does not help."""
        ineligible = self.why_not_eligible(info, snapshot, statuses)
        if ineligible is not None:
            return None, ineligible
        candidates, refusal = self.find_candidates(state, info, snapshot, statuses)
        return (
            ("", refusal)
            if refusal is not None
            else (self.choose(info, candidates), None)
        )

    def find_candidates(
        self,
        state: CycleState,
        info: PodInfo,
        snapshot: Snapshot,
        statuses: Mapping[str, Status],
    ) -> tuple[list[Candidate], Status | None]:
        """Nodes that evictions would make fit, or why there is none."""
        potential, details = self._nodes_where_preemption_might_help(snapshot, statuses)
        candidates = []
        wanted = max(len(potential) * MIN_CANDIDATES_PERCENTAGE // 100, MIN_CANDIDATES)
        for node in potential:
            candidate = self._dry_run(state, info, node)
            if isinstance(candidate, Status):
                details[node.name] = candidate
                continue
            candidates.append(candidate)
            if len(candidates) >= wanted and any(
                not c.pdb_violations for c in candidates
            ):
                break  # enough, and one of them breaks no budget
        if not candidates:
            text = f"0/{len(snapshot)} nodes are available: {count_reasons(details.values())}."
            return [], unschedulable(self.name, f"preemption: {text}")
        return candidates, None

    def choose(self, info: PodInfo, candidates: list[Candidate]) -> str:
        """The node of the candidate that hurts least, whose victims begin to go."""
        best = pick_one_node(candidates)
        if self._prepare is not None:
            self._prepare(info, best)
        return best.node

    def why_not_eligible(
        self, info: PodInfo, snapshot: Snapshot, statuses: Mapping[str, Status]
    ) -> Status | None:
        """A pod may not want to preempt; and one whose victims are still going must
        wait. None: it may try.

        Upstream: `PodEligibleToPreemptOthers`.
        """
        if info.pod["spec"].get("preemptionPolicy") == "Never":
            return unschedulable(
                self.name, "preemption: not eligible due to preemptionPolicy=Never."
            )
        nominated = (info.pod.get("status") or {}).get("nominatedNodeName")
        node = snapshot.get(nominated) if nominated else None
        status = statuses.get(nominated) if nominated else None
        if node is None or (
            status is not None and status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
        ):
            return None
        for other in node.pods.values():
            if other.priority < info.priority and _terminating_by_preemption(other.pod):
                return unschedulable(
                    self.name,
                    "preemption: not eligible due to a terminating pod on the nominated node.",
                )
        return None

    def _nodes_where_preemption_might_help(
        self, snapshot: Snapshot, statuses: Mapping[str, Status]
    ) -> tuple[list[NodeInfo], dict[str, Status]]:
        potential: list[NodeInfo] = []
        hopeless: dict[str, Status] = {}
        for node in snapshot.node_info_list:
            status = statuses.get(node.name)
            if status is not None and status.code is Code.UNSCHEDULABLE:
                potential.append(node)
            else:
                hopeless[node.name] = unresolvable(self.name, NOT_HELPFUL)
        return potential, hopeless

    def _dry_run(
        self, state: CycleState, info: PodInfo, original: NodeInfo
    ) -> Candidate | Status:
        """Upstream: `SelectVictimsOnNode`."""
        framework = self.framework
        assert framework is not None
        lower = [
            other for other in original.pods.values() if other.priority < info.priority
        ]
        if not lower:
            return unresolvable(self.name, NO_VICTIMS)
        node, what_if = original.clone(), state.clone()

        def remove(other: PodInfo) -> None:
            node.remove_pod(other.key)
            framework.run_pre_filter_remove_pod(what_if, info, other, node)

        def add(other: PodInfo) -> None:
            node.add_pod(other)
            framework.run_pre_filter_add_pod(what_if, info, other, node)

        for other in lower:
            remove(other)
        status = framework.run_filter_plugins_with_nominated_pods(what_if, info, node)
        if status is not None:
            return status
        lower.sort(key=_importance)
        violating, unbroken = self._split_by_budget(lower)
        victims: list[PodInfo] = []
        violations = 0
        for group, breaks in ((violating, True), (unbroken, False)):
            for other in group:
                add(other)
                if (
                    framework.run_filter_plugins_with_nominated_pods(
                        what_if, info, node
                    )
                    is not None
                ):
                    remove(other)
                    victims.append(other)
                    violations += breaks
        if not victims:
            return Status(
                Code.ERROR,
                (f'expected at least one victim pod on node "{original.name}"',),
                self.name,
            )
        return Candidate(original.name, sorted(victims, key=_importance), violations)

    def _split_by_budget(
        self, infos: list[PodInfo]
    ) -> tuple[list[PodInfo], list[PodInfo]]:
        """Those whose eviction would break a disruption budget, and the others, each in
        the order given.
        """
        budgets = [
            [
                b["metadata"]["namespace"],
                selector_from_label_selector(b["spec"].get("selector")),
                b,
            ]
            for b in self._budgets()
        ]
        allowed = [
            (b.get("status") or {}).get("disruptionsAllowed", 0) for _, _, b in budgets
        ]
        violating: list[PodInfo] = []
        unbroken: list[PodInfo] = []
        for info in infos:
            metadata = info.pod["metadata"]
            broken = False
            if not metadata.get(
                "labels"
            ):  # no budget speaks of a pod without labels, whatever its selector
                unbroken.append(info)
                continue
            for i, (namespace, selector, budget) in enumerate(budgets):
                if (
                    namespace != metadata["namespace"]
                    or selector.empty
                    or not selector.matches(metadata.get("labels"))
                ):
                    continue
                if metadata["name"] in (
                    (budget.get("status") or {}).get("disruptedPods") or {}
                ):
                    continue
                allowed[i] -= 1
                broken = broken or allowed[i] < 0
            (violating if broken else unbroken).append(info)
        return violating, unbroken
