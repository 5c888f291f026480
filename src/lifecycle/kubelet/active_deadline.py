"""The one handler that is asked whether a pod may stay: has it been active longer than
it may?

The kubelet keeps a list of such handlers, two kinds of them: one asks for a sync when
something is due, the other says that the pod has to end. Nothing but the deadline was
ever registered in either.

Until 1.20 the handlers were asked before the phase was computed, and one that objected
ended the matter: the status said nothing about containers. Now everything is computed
first, and the handler's word replaces phase, reason and message.

Upstream: `pkg/kubelet/active_deadline.go` (`activeDeadlineHandler`),
`pkg/kubelet/lifecycle/interfaces.go` (`PodSyncHandler`), `kubelet_pods.go`
(`generateAPIPodStatus`), v1.36 and v1.20.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time
from lifecycle.api.pods.pod_util import FAILED

REASON = "DeadlineExceeded"
MESSAGE = "Pod was active on the node longer than the specified deadline"


@dataclass(slots=True, frozen=True)
class ShouldEvictResponse:
    """What a handler says."""

    evict: bool
    reason: str = ""
    message: str = ""


PodSyncHandler = Callable[[Object], ShouldEvictResponse]


class ActiveDeadlineHandler:
    """`status(uid)`: the newest status; `now()`: seconds."""

    def __init__(
        self, status: Callable[[str], Object | None], now: Callable[[], float]
    ) -> None:
        self._status = status
        self._now = now

    def deadline(self, pod: Object) -> float | None:
        """When the pod has to be over, in seconds of the clock, if ever. It counts from
        the start time, not from creation.
        """
        seconds = pod["spec"].get("activeDeadlineSeconds")
        status = self._status(pod["metadata"]["uid"]) or pod.get("status") or {}
        if seconds is None or not status.get("startTime"):
            return None
        return parse_time(status["startTime"]) + float(seconds)

    def should_evict(self, pod: Object) -> ShouldEvictResponse:
        """Whether its time is up."""
        deadline = self.deadline(pod)
        if deadline is None or self._now() < deadline:
            return ShouldEvictResponse(False)
        return ShouldEvictResponse(True, REASON, MESSAGE)


def generate_status(
    compute: Callable[[], Object], pod: Object, handlers: Iterable[PodSyncHandler]
) -> Object:
    """As 1.36 does it: compute the whole status, then ask."""
    status = compute()
    for handler in handlers:
        verdict = handler(pod)
        if verdict.evict:
            return {
                **status,
                "phase": FAILED,
                "reason": verdict.reason,
                "message": verdict.message,
            }
    return status


def generate_status_1_20(
    compute: Callable[[], Object], pod: Object, handlers: Iterable[PodSyncHandler]
) -> Object:
    """As 1.20 did it: ask, and compute only if nobody objects."""
    for handler in handlers:
        verdict = handler(pod)
        if verdict.evict:
            return {
                "phase": FAILED,
                "reason": verdict.reason,
                "message": verdict.message,
            }
    return compute()
