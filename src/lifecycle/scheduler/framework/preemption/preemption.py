"""Preemption: a pod that fits nowhere may push out less important ones.

The evaluator goes through the steps: may the pod preempt at all; on which nodes would
it fit if others went (a dry run on each); what do extenders say to that; which of the
candidates hurts least; and then the victims begin to go. Whom to sacrifice on a node is
the plugin's business.

Upstream: `pkg/scheduler/framework/preemption/preemption.go` (`Evaluator.Preempt`,
`findCandidates`, `DryRunPreemption`, `callExtenders`, `pickOneNodeForPreemption`),
v1.36. Left out: the random offset into the candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.handle import Candidate, ExtenderError, Handle
from lifecycle.scheduler.framework.interface import PostFilterAnswer, PostFilterResult
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.status import (
    Code,
    PluginError,
    Status,
    as_status,
    unresolvable,
    unschedulable,
)
from lifecycle.scheduler.framework.types import Diagnosis, FitError

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_CANDIDATE = "no candidate node for preemption"
PRIORITY_OFFSET = 2**31
"""Added to each priority before summing, so that more victims always weigh more."""


class Interface(Protocol):
    """What a preemption plugin decides for itself. Upstream: `preemption.Interface`."""

    def num_candidates(self, potential: int) -> int:
        """How many candidates are enough, of so many nodes."""
        ...

    def pod_eligible_to_preempt_others(
        self, info: PodInfo, snapshot: SharedLister, nominated: Status | None
    ) -> str:
        """Why not; empty if it is. `nominated`: what the node kept for it said."""
        ...

    def select_victims_on_node(
        self, state: CycleState, info: PodInfo, node: NodeInfo
    ) -> Candidate | Status:
        """Who would have to go, or why that does not help. State and node are copies,
        to be changed at will.
        """
        ...


def start_time(info: PodInfo) -> str:
    """When the pod started; what has not comes last."""
    return str((info.pod.get("status") or {}).get("startTime") or "9999")


def _rank(candidate: Candidate) -> tuple[int, int, int, int]:
    """Smaller hurts less. (The start time is compared last.)"""
    priorities = [victim.priority for victim in candidate.victims]
    return (
        candidate.pdb_violations,
        max(priorities, default=-PRIORITY_OFFSET),
        sum(priority + PRIORITY_OFFSET for priority in priorities),
        len(priorities),
    )


def pick_one_node(candidates: list[Candidate]) -> Candidate:
    """The candidate that hurts least; among equals the one whose most important victim
    started last.
    """
    best = min(map(_rank, candidates))
    equals = [candidate for candidate in candidates if _rank(candidate) == best]

    def earliest(candidate: Candidate) -> str:
        highest = max((v.priority for v in candidate.victims), default=0)
        return min(
            (start_time(v) for v in candidate.victims if v.priority == highest),
            default="",
        )

    return max(equals, key=earliest)


class Evaluator:
    """Carries a preemption plugin's decisions through. `prepare_candidate` is handed
    the choice, and begins to evict.
    """

    def __init__(
        self,
        plugin_name: str,
        handle: Handle,
        interface: Interface,
        prepare_candidate: Callable[[PodInfo, Candidate], None],
    ) -> None:
        self._plugin_name = plugin_name
        self._handle = handle
        self._interface = interface
        self._prepare_candidate = prepare_candidate

    async def preempt(
        self,
        state: CycleState,
        info: PodInfo,
        snapshot: SharedLister,
        node_to_status: Mapping[str, Status],
    ) -> PostFilterAnswer:
        """The node to nominate, or why preemption does not help. An empty node takes an
        earlier nomination back.
        """
        plugin = self._plugin_name
        kept = (info.pod.get("status") or {}).get("nominatedNodeName")
        nominated = node_to_status.get(kept) if kept else None
        reason = self._interface.pod_eligible_to_preempt_others(
            info, snapshot, nominated
        )
        if reason:
            return None, unschedulable(plugin, reason)
        candidates, statuses = self.find_candidates(
            state, info, snapshot, node_to_status
        )
        if not candidates:
            hopeless = unresolvable(plugin, NOT_HELPFUL)
            diagnosis = Diagnosis(statuses, absent_nodes_status=hopeless)
            text = str(FitError(len(snapshot), diagnosis))
            return PostFilterResult(), unschedulable(plugin, text)
        try:
            candidates = await self.call_extenders(info, candidates)
        except ExtenderError as error:
            return None, as_status(error, plugin)
        if not candidates:
            return None, unschedulable(plugin, NO_CANDIDATE)
        best = pick_one_node(candidates)
        self._prepare_candidate(info, best)
        return PostFilterResult(best.node), None

    def find_candidates(
        self,
        state: CycleState,
        info: PodInfo,
        snapshot: SharedLister,
        node_to_status: Mapping[str, Status],
    ) -> tuple[list[Candidate], dict[str, Status]]:
        """Nodes that evictions would make fit, and why others would not. Only those are
        tried whose refusal evictions could change.
        """
        potential = [
            node
            for node in snapshot.node_info_list
            if node.name in node_to_status
            and node_to_status[node.name].code is Code.UNSCHEDULABLE
        ]
        num_candidates = self._interface.num_candidates(len(potential))
        candidates: list[Candidate] = []
        statuses: dict[str, Status] = {}
        for node in potential:
            answer = self._interface.select_victims_on_node(
                state.clone(), info, node.clone()
            )
            if isinstance(answer, Status):
                statuses[node.name] = answer
                continue
            candidates.append(answer)
            if len(candidates) >= num_candidates and any(
                not candidate.pdb_violations for candidate in candidates
            ):
                break  # enough, and one of them breaks no budget
        return candidates, statuses

    async def call_extenders(
        self, info: PodInfo, candidates: list[Candidate]
    ) -> list[Candidate]:
        """What the extenders leave of the candidates. Raises ExtenderError."""
        for extender in self._handle.extenders:
            if not extender.supports_preemption or not extender.is_interested(info.pod):
                continue
            try:
                candidates = await extender.process_preemption(info, candidates)
            except ExtenderError:
                if not extender.ignorable:
                    raise
            if not candidates:
                break
        return candidates


def no_victims(plugin: str, node: str) -> Status:
    """What cannot be: the pod fits once some are gone, and nobody need go."""
    text = f'expected at least one victim pod on node "{node}"'
    return as_status(PluginError(text), plugin)
