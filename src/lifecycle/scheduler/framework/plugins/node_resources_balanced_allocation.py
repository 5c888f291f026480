"""NodeResourcesBalancedAllocation: a node should not run out of CPU while its memory
idles.

Balance is one minus the standard deviation of the used shares, in per cent. Since v1.35
the score says how the pod *changes* the balance:

    score = 50 + (50 + balance with the pod - balance without it) / 2      (integer
    division)

so that a node is not preferred merely for being empty. Pods that request nothing say
nothing about balance and are skipped.

Upstream: `pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go`
(`balancedResourceScorer`), v1.36; the older score was the balance with the pod alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import (
    MAX_NODE_SCORE,
    PreScorePlugin,
    ScorePlugin,
)
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.status import SKIP, Status

DEFAULT_RESOURCES = ("cpu", "memory")


def balance(requested: Sequence[int], allocatable: Sequence[int]) -> int:
    """100 for equal shares, less the further they are apart."""
    shares = [min(r / a, 1.0) for r, a in zip(requested, allocatable, strict=True) if a]
    if len(shares) == 2:
        deviation = abs(shares[0] - shares[1]) / 2
    elif len(shares) > 2:
        mean = sum(shares) / len(shares)
        deviation = sqrt(sum((share - mean) ** 2 for share in shares) / len(shares))
    else:
        deviation = 0.0
    return int((1 - deviation) * MAX_NODE_SCORE)


class NodeResourcesBalancedAllocation(PreScorePlugin, ScorePlugin):
    """Scores by the change in balance of `resources`. One that a node does not have is
    left out there.
    """

    name = "NodeResourcesBalancedAllocation"

    def __init__(self, resources: Sequence[str] | None = None) -> None:
        self._resources = tuple(resources or DEFAULT_RESOURCES)

    def pre_score(
        self,
        state: CycleState,
        info: PodInfo,
        nodes: Sequence[NodeInfo],
        snapshot: SharedLister,
    ) -> Status | None:
        """Nothing to do for best-effort pods."""
        return (
            None if any(info.requests.get(name) for name in self._resources) else SKIP
        )

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """See the formula above."""
        requests = info.requests
        named = [
            n
            for n in self._resources
            if n in DEFAULT_RESOURCES or n == "ephemeral-storage" or requests.get(n)
        ]
        allocatable = [node.allocatable.get(name) for name in named]
        without = [node.requested.get(name) for name in named]
        with_pod = [
            amount + requests.get(name, 0)
            for name, amount in zip(named, without, strict=True)
        ]
        half = MAX_NODE_SCORE // 2
        return (
            half
            + (half + balance(with_pod, allocatable) - balance(without, allocatable))
            // 2
        )
