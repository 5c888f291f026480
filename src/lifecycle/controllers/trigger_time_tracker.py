"""When did what an endpoint shows really change? The annotation
`last-change-trigger-time` lets others measure how long the news took.

It is the earliest time since the last sync at which a pod's readiness changed (or the
Service came to be). For a Service not seen before it is the Service's own creation
time.

Upstream: `endpointslice/util/trigger_time_tracker.go` (`TriggerTimeTracker`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lifecycle.api.conditions import get_condition
from lifecycle.api.http.wire import Object


@dataclass(slots=True)
class _State:
    service: str = ""
    pods: dict[str, str] = field(default_factory=dict)


class TriggerTimeTracker:
    """Times are the API's own text: in one time zone and of one length, so they compare
    as text.
    """

    def __init__(self) -> None:
        self._states: dict[str, _State] = {}

    def compute_endpoint_last_change_trigger_time(
        self, key: str, service: Object, pods: Sequence[Object]
    ) -> str:
        """The time for this sync; empty if nothing that has a time changed."""
        known = self._states.get(key)
        state = known or _State()
        created = service["metadata"].get("creationTimestamp", "")
        times: dict[str, str] = {}
        changed: list[str] = []
        for pod in pods:
            condition = get_condition(pod, "Ready")
            stamp = (condition or {}).get("lastTransitionTime")
            if stamp:
                name = pod["metadata"]["name"]
                times[name] = stamp
                if stamp > state.pods.get(name, ""):
                    changed.append(stamp)
        if created > state.service:
            changed.append(created)
        self._states[key] = _State(created, times)
        return min(changed, default="") if known else created

    def delete_service(self, key: str) -> None:
        """The Service is gone."""
        self._states.pop(key, None)
