"""DynamicResources: what remains of it for pods without resource claims.

Claims for devices are not rebuilt here. The plugin is in every default profile, though, and users can see it: its
PostFilter speaks before preemption's, which puts `no new claims to deallocate` into every FailedScheduling message,
and where another plugin's PreFilter refused the pod before this one's ran, the state it looks for is `not found`.

Upstream: `pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go` (`PreFilter`, `PostFilter`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lifecycle.scheduler.framework import (
    SKIP,
    Code,
    CycleState,
    FilterPlugin,
    PostFilterPlugin,
    ScorePlugin,
    Status,
    unschedulable,
)
from lifecycle.scheduler.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.snapshot import Snapshot


class DynamicResources(FilterPlugin, PostFilterPlugin, ScorePlugin):
    """Lets every pod pass; has nothing to deallocate."""

    name = "DynamicResources"
    weight = 2

    def pre_filter(self, state: CycleState, info: PodInfo, snapshot: Snapshot) -> Status | None:
        """No claims: nothing to filter."""
        state.data[self.name] = ()
        return SKIP

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Never called."""
        return None

    def pre_score(
        self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo], snapshot: Snapshot
    ) -> Status | None:
        """Upstream scores every node 0 (its log shows it)."""
        return None

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """Nobody is better for having no claims."""
        return 0

    def post_filter(
        self, state: CycleState, info: PodInfo, snapshot: Snapshot, statuses: Mapping[str, Status]
    ) -> tuple[str | None, Status | None]:
        """Nothing to deallocate."""
        if self.name not in state.data:
            return None, Status(Code.ERROR, ("not found",), self.name)
        return None, unschedulable(self.name, "no new claims to deallocate")
