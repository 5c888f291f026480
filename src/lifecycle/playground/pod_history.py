"""What became of each pod, and when: the bars of the timeline.

Upstream: `pkg/printers/internalversion/printers.go` (`printPod`, whose STATUS column is
what a bar's words are).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.core.pod.table import print_pod

WAITING = frozenset({"Pending", "SchedulingGated"})
ENDED = frozenset({"Completed", "Succeeded"})
TROUBLE = ("Err", "BackOff", "Error", "Failed", "Invalid", "OOM", "Unknown", "Evicted")


@dataclass(slots=True, frozen=True)
class PodState:
    """`status` as kubectl prints it. `looks`: `waiting`, `creating`, `unready`,
    `ready`, `trouble`, `ending`, `ended`.
    """

    status: str
    looks: str
    ready: str


def pod_state(pod: Object, now: float) -> PodState:
    """What `kubectl get pods` says of a pod, and how that is to look. `now`: seconds
    since 1970.
    """
    _, ready, status, *_ = map(str, print_pod(pod, now))
    failed = (pod.get("status") or {}).get("phase") == "Failed"
    return PodState(status, "trouble" if failed else _looks(status, ready), ready)


def _looks(status: str, ready: str) -> str:
    running, _, total = ready.partition("/")
    if status == "Running":
        return "ready" if running == total else "unready"
    if status == "Terminating":
        return "ending"
    if status in ENDED:
        return "ended"
    if any(word in status for word in TROUBLE):
        return "trouble"
    return "waiting" if status in WAITING else "creating"


@dataclass(slots=True)
class PodHistory:
    """`states`: (virtual second, status, looks), each until the next. `end`: when it
    was gone; None while it is there.
    """

    uid: str
    name: str
    owner: str
    states: list[tuple[float, str, str]] = field(default_factory=list)
    end: float | None = None

    def saw(self, at: float, state: PodState) -> None:
        """The pod looks like that now."""
        if not self.states or self.states[-1][1:] != (state.status, state.looks):
            self.states.append((at, state.status, state.looks))

    def told(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)
