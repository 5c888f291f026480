"""How fast nodes may be given up: one every ten seconds and zone, slower or not at all
when it may be the network that failed.

A zone of which more than 55 % (and at least three nodes) are silent is *partially
disrupted*: small zones then stop, large ones go on at a tenth of the pace. A zone that
is silent altogether goes on as usual, since its pods can move elsewhere – unless *all*
zones are silent: then it is the control plane that is cut off, every taint is taken
back, and nothing is given up.

Upstream: `pkg/controller/nodelifecycle/node_lifecycle_controller.go`
(`ComputeZoneState`, `handleDisruption`, `setLimiterInZone`),
`scheduler/rate_limited_queue.go` (`RateLimitedTimedQueue`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from lifecycle.api.http.wire import Object

EVICTION_LIMITER_QPS = 0.1
SECONDARY_EVICTION_LIMITER_QPS = 0.01
LARGE_CLUSTER_THRESHOLD = 50
UNHEALTHY_ZONE_THRESHOLD = 0.55


class ZoneState(Enum):
    """Upstream: `ZoneState`."""

    INITIAL = "Initial"
    NORMAL = "Normal"
    PARTIAL_DISRUPTION = "PartialDisruption"
    FULL_DISRUPTION = "FullDisruption"


def zone_key(node: Object) -> str:
    """Region and zone in one text; empty for a node without either."""
    labels = node["metadata"].get("labels") or {}
    region = (
        labels.get("topology.kubernetes.io/region")
        or labels.get("failure-domain.beta.kubernetes.io/region")
        or ""
    )
    zone = (
        labels.get("topology.kubernetes.io/zone")
        or labels.get("failure-domain.beta.kubernetes.io/zone")
        or ""
    )
    return f"{region}:\0:{zone}" if region or zone else ""


def compute_zone_state(ready: Iterable[bool]) -> ZoneState:
    """From whether each node of the zone is ready."""
    answers = list(ready)
    well = sum(answers)
    silent = len(answers) - well
    if not well and silent:
        return ZoneState.FULL_DISRUPTION
    if silent > 2 and silent / len(answers) >= UNHEALTHY_ZONE_THRESHOLD:
        return ZoneState.PARTIAL_DISRUPTION
    return ZoneState.NORMAL


def eviction_rate(state: ZoneState, zone_size: int) -> float:
    """Nodes per second that may be given up."""
    if state is ZoneState.PARTIAL_DISRUPTION:
        return (
            SECONDARY_EVICTION_LIMITER_QPS
            if zone_size > LARGE_CLUSTER_THRESHOLD
            else 0.0
        )
    return EVICTION_LIMITER_QPS


class ZoneQueue:
    """Nodes of one zone that are to be given up, let out at `qps` a second, one at a
    time.
    """

    def __init__(self, qps: float = EVICTION_LIMITER_QPS) -> None:
        self.qps = qps
        self._waiting: dict[str, None] = {}
        self._next = 0.0

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, node: str) -> bool:
        """Whether it was not waiting already."""
        new = node not in self._waiting
        self._waiting.setdefault(node)
        return new

    def remove(self, node: str) -> None:
        """It is well again, or gone."""
        self._waiting.pop(node, None)

    def swap_limiter(self, qps: float) -> None:
        """Another pace from now on; what was let out before still counts."""
        self.qps = qps

    def due(self, now: float) -> float | None:
        """Seconds until the next node may go; None if nothing waits or nothing may
        go.
        """
        return max(0.0, self._next - now) if self._waiting and self.qps > 0 else None

    def take(self, now: float) -> str | None:
        """The next node, if one may go now."""
        if self.due(now) != 0.0:
            return None
        node = next(iter(self._waiting))
        del self._waiting[node]
        self._next = now + 1.0 / self.qps
        return node
