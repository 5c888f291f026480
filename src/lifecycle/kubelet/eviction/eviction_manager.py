"""The eviction manager: every ten seconds, is there enough left? If not, one pod has to
go.

The node says that it is under pressure, which keeps new pods away (its own admission,
and the taint that the node lifecycle controller makes of the condition); it goes on
saying so for five minutes after the last time it was true. The pod that goes is
*failed*: phase, reason and message are set, and its controller makes another one
elsewhere. Pods that the system cannot do without never go.

A pod that has written more to the node's disk than it may goes even if there is plenty.

Upstream: `pkg/kubelet/eviction/eviction_manager.go` (`synchronize`, `evictPod`,
`IsUnderMemoryPressure`), v1.36. Left out: soft thresholds, removing images and dead
containers first.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence

from lifecycle.api.conditions import replace_or_append_condition
from lifecycle.api.http.wire import Object
from lifecycle.api.pods.pod_util import FAILED
from lifecycle.api.status import StatusError
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.kubelet.container.ref import Events
from lifecycle.kubelet.eviction.local_storage import is_limited, over_its_limit
from lifecycle.kubelet.eviction.ranking import eviction_message, rank
from lifecycle.kubelet.eviction.storage_usage import LocalStorage
from lifecycle.kubelet.eviction.thresholds import (
    RESOURCES,
    Threshold,
    node_condition,
    parse_thresholds,
    thresholds_met,
)
from lifecycle.kubelet.stats.summary import PodUsage, Summary
from lifecycle.kubelet.status.generate import (
    DISRUPTION_TARGET,
    condition,
)
from lifecycle.kubelet.types.pod_update import is_critical_pod

log = logging.getLogger(__name__)

MONITORING_INTERVAL = 10.0
PRESSURE_TRANSITION_PERIOD = 300.0
"""Seconds for which a pressure is told after it is over, so that pods do not come and
go.
"""

IMMEDIATE_GRACE_PERIOD = 1.0
"""Seconds that an evicted pod gets."""

REASON = "Evicted"


Evict = Callable[[Object, Callable[[Object], Object], float], bool]
"""Takes a pod, what becomes of its status, and its grace period; whether it was to be
had.
"""


MeasureDisk = Callable[[Object, PodUsage], LocalStorage]
"""What a pod has on the node's disk. Called in a thread: it looks at every file."""


class NodePressure:
    """What the node is under pressure of, and was until a short while ago. The eviction
    manager notes it; admission and the node's status read it.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._last_observed: dict[str, float] = {}

    def observe(self, condition_type: str) -> None:
        """There is too little now."""
        self._last_observed[condition_type] = self._now()

    def node_conditions(self) -> list[str]:
        """`MemoryPressure` and the like, sorted. Upstream:
        `nodeConditionsObservedSince`.
        """
        oldest = self._now() - PRESSURE_TRANSITION_PERIOD
        return sorted(
            kind for kind, seen in self._last_observed.items() if seen > oldest
        )


class EvictionManager:
    """One per node. `measure()` is awaited for a summary; `pods()` the active pods;
    `pressure_changed()` is awaited when the node has something else to say of itself.
    Without `measure_disk` no pod is asked what it has written.
    """

    def __init__(
        self,
        measure: Callable[[], Awaitable[Summary]],
        pods: Callable[[], Iterable[Object]],
        evict: Evict,
        pressure: NodePressure,
        *,
        events: Events,
        pressure_changed: Callable[[], Awaitable[None]],
        thresholds: Sequence[Threshold] | None = None,
        measure_disk: MeasureDisk | None = None,
    ) -> None:
        self._measure = measure
        self._pods = pods
        self._evict = evict
        self._pressure = pressure
        self._events = events
        self._pressure_changed = pressure_changed
        self._thresholds = (
            parse_thresholds() if thresholds is None else list(thresholds)
        )
        self._measure_disk = measure_disk
        self._reported: list[str] = []

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                await self.synchronize()
            except (
                RuntimeServiceError,
                StatusError,
                OSError,
            ) as error:  # what could not be measured or said now
                log.debug("eviction manager: %s", error)
            await asyncio.sleep(MONITORING_INTERVAL)

    async def synchronize(self) -> list[Object]:
        """Look once. The pods that have to go: all that are over a limit of their own,
        or else one if the node has too little left.
        """
        summary = await self._measure()
        met = thresholds_met(self._thresholds, summary.observations)
        for threshold in met:
            self._pressure.observe(node_condition(threshold.signal))
        if self._pressure.node_conditions() != self._reported:
            self._reported = self._pressure.node_conditions()
            await self._pressure_changed()
        pods = list(self._pods())
        evicted = [pod for pod in pods if await self._over_limit(pod, summary)]
        if evicted or not met:
            return evicted
        threshold = met[0]
        resource = RESOURCES[threshold.signal]
        self._events.node_event(
            "Warning", "EvictionThresholdMet", f"Attempting to reclaim {resource}"
        )
        for pod in rank(self._pods(), summary.pods, resource):
            usage = summary.pods.get(pod["metadata"]["uid"])
            message = eviction_message(
                pod, usage, threshold, summary.observations[threshold.signal]
            )
            if self._evict_pod(pod, message):
                return [pod]
        return []

    async def _over_limit(self, pod: Object, summary: Summary) -> bool:
        """Whether it had written too much and is gone. Upstream:
        `localStorageEviction`.
        """
        usage = summary.pods.get(pod["metadata"]["uid"])
        if self._measure_disk is None or usage is None or not is_limited(pod):
            return False
        used = await asyncio.to_thread(self._measure_disk, pod, usage)
        message = over_its_limit(pod, used)
        return bool(message) and self._evict_pod(pod, message)

    def _evict_pod(self, pod: Object, message: str) -> bool:
        def failed(status: Object) -> Object:
            target = condition(DISRUPTION_TARGET, True, "TerminationByKubelet", message)
            return {
                **status,
                "phase": FAILED,
                "reason": REASON,
                "message": message,
                "conditions": replace_or_append_condition(
                    status.get("conditions"), target
                ),
            }

        if is_critical_pod(pod):
            return False
        if not self._evict(pod, failed, IMMEDIATE_GRACE_PERIOD):
            return False
        self._events.pod_event(pod, "Warning", REASON, message, "")
        return True
