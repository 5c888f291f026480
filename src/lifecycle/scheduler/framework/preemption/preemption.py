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

from collections.abc import Callable
from itertools import islice
from typing import Protocol

from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.handle import Candidate, ExtenderError, Handle
from lifecycle.scheduler.framework.interface import PostFilterAnswer, PostFilterResult
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.node_to_status import NodeToStatus, StatusByName
from lifecycle.scheduler.framework.preemption.dry_runs import DryRuns
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
PIECE = 32
"""So many nodes are tried before it is looked whether that is enough."""


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

    def looks_at_node_only(self) -> bool:
        """Whether nothing but the pod and the node decides who the victims are."""
        ...

    def select_victims_on_node(
        self, state: CycleState, info: PodInfo, node: NodeInfo
    ) -> Candidate | Status:
        """Who would have to go, or why that does not help. State and node are copies,
        to be changed at will.
        """
        ...


def pick_one_node(candidates: list[Candidate]) -> Candidate:
    """The candidate that hurts least; among equals the one whose most important victim
    started last.
    """
    best = min([candidate.rank for candidate in candidates])
    equals = [candidate for candidate in candidates if candidate.rank == best]
    return max(equals, key=lambda candidate: candidate.earliest)


def enough(candidates: list[Candidate], number: int) -> int:
    """How many of the candidates do, if so many are wanted and one of them breaks no
    budget; 0: all are too few.
    """
    for i, candidate in enumerate(candidates):
        if not candidate.pdb_violations:
            wanted = max(number, i + 1)
            return wanted if wanted <= len(candidates) else 0
    return 0


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
        self._dry_runs = DryRuns()

    async def preempt(
        self,
        state: CycleState,
        info: PodInfo,
        snapshot: SharedLister,
        node_to_status: NodeToStatus,
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
            diagnosis = Diagnosis(StatusByName(statuses), absent_nodes_status=hopeless)
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
        node_to_status: NodeToStatus,
    ) -> tuple[list[Candidate], dict[str, Status]]:
        """Nodes that evictions would make fit; if there are none, why not. Only those
        are tried whose refusal evictions could change.
        """
        tally = node_to_status.tally()
        potential = sum([n for said, n in tally if said.code is Code.UNSCHEDULABLE])
        wanted = self._interface.num_candidates(potential)
        alone = state.kind is not None and self._interface.looks_at_node_only()
        kind = (state.kind, info.priority) if alone else None
        nominator, nodes = self._handle.nominator, snapshot.node_info_list
        answers = self._dry_runs.of(kind, snapshot, nominator).by_position
        statuses: dict[str, Status] = {}
        candidates: list[Candidate] = []
        positions = node_to_status.positions_for_status_code(nodes, Code.UNSCHEDULABLE)
        while piece := list(islice(positions, PIECE)):
            for position in piece:
                if answers[position] is None:
                    answers[position] = self._interface.select_victims_on_node(
                        state.clone(), info, nodes[position].clone()
                    )
            found = [answers[position] for position in piece]
            candidates += [one for one in found if isinstance(one, Candidate)]
            if len(candidates) >= wanted and (kept := enough(candidates, wanted)):
                return candidates[:kept], statuses
            if not candidates:
                told = zip(piece, found, strict=True)
                statuses |= {
                    nodes[position].name: answer
                    for position, answer in told
                    if isinstance(answer, Status)
                }
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
