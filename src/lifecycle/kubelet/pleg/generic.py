"""The pod lifecycle event generator: what has changed since the last look?

A runtime that sends events is listened to. For one that does not, somebody has to look:
list everything once a second, compare with what was there before, and tell of each
difference. Nothing is remembered but the last listing, so a container that started and
ended between two looks is only seen to have ended.

Whether a runtime sends events nobody has to say: as long as each look finds nothing but
what events told already, the looks become rare.

Upstream: `pkg/kubelet/pleg/generic.go` (`GenericPLEG.Relist`, `generateEvents`,
`computeEvents`), `evented.go` (`EventedPLEG`), v1.36, where the second is still not on
by default.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.events import ContainerEventResponse, ContainerEventType
from lifecycle.cri.apis.pod_sandbox import PodSandboxState
from lifecycle.cri.apis.services import ObjectState, RuntimeService, StateLister
from lifecycle.kubelet.pod.startup_latency_tracker import DEFAULT_BUCKETS, Histogram

RELIST_PERIOD = 1.0
RELIST_THRESHOLD = 180.0
"""Seconds since the begin of the last look that succeeded, after which the node is not
Ready any more.
"""

EVENTED_RELIST_PERIOD, EVENTED_RELIST_THRESHOLD = 300.0, 600.0
"""The same where events serve."""

RELIST_DURATION = "kubelet_pleg_relist_duration_seconds"
RELIST_INTERVAL = "kubelet_pleg_relist_interval_seconds"

RUNNING, EXITED, UNKNOWN, NON_EXISTENT = "running", "exited", "unknown", "non-existent"
STARTED, DIED, REMOVED, CHANGED = (
    "ContainerStarted",
    "ContainerDied",
    "ContainerRemoved",
    "ContainerChanged",
)

_STATES: Mapping[PodSandboxState | ContainerState, str] = {
    PodSandboxState.READY: RUNNING,
    PodSandboxState.NOTREADY: EXITED,
    ContainerState.CREATED: UNKNOWN,
    ContainerState.RUNNING: RUNNING,
    ContainerState.EXITED: EXITED,
    ContainerState.UNKNOWN: UNKNOWN,
}


@dataclass(slots=True, frozen=True)
class PodLifecycleEvent:
    """Something happened to a container (or sandbox) of a pod."""

    pod_uid: str
    type: str
    container_id: str


def generate_events(
    pod_uid: str, container_id: str, old: str, new: str
) -> list[PodLifecycleEvent]:
    """What happened, told from two looks."""
    if old == new:
        return []
    if new == RUNNING:
        kinds = [STARTED]
    elif new == EXITED:
        kinds = [DIED]
    elif new == UNKNOWN:
        kinds = [CHANGED]
    else:  # gone: it must have ended, too, if nobody saw that
        kinds = [REMOVED] if old == EXITED else [DIED, REMOVED]
    return [PodLifecycleEvent(pod_uid, kind, container_id) for kind in kinds]


async def _states(runtime: RuntimeService) -> list[ObjectState]:
    """All that is there. Upstream: `GetPods`."""
    if isinstance(runtime, StateLister):
        return await runtime.list_states()
    states = []
    for sandbox in await runtime.list_pod_sandbox():
        uid = sandbox.metadata.uid
        states.append(ObjectState(sandbox.id, uid, sandbox.state))
        for status in await runtime.list_containers(sandbox.id):
            states.append(ObjectState(status.id, uid, status.state))
    return states


class GenericPLEG:
    """Looks at a runtime; `handler` hears of each event."""

    def __init__(
        self, runtime: RuntimeService, handler: Callable[[PodLifecycleEvent], None]
    ) -> None:
        self._runtime = runtime
        self._handler = handler
        self._seen: dict[str, tuple[str, str]] = {}
        self.last_relist: float | None = None
        """When the last look that found out anything began, on the loop's clock."""
        self.durations = Histogram(DEFAULT_BUCKETS)
        self.intervals = Histogram(DEFAULT_BUCKETS)
        """Seconds from the begin of a look to the begin of the next."""

    async def relist(self) -> list[PodLifecycleEvent]:
        """Look once; the events, in the order in which the handler heard of them."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        if self.last_relist is not None:
            self.intervals.observe(begun - self.last_relist)
        try:
            states = await _states(self._runtime)
        finally:  # how long it took to hear nothing is told as well
            self.durations.observe(loop.time() - begun)
        self.last_relist = begun  # what was seen need not be newer than that
        now = {each.id: (each.pod_uid, _STATES[each.state]) for each in states}
        events = []
        for container_id in [
            *self._seen,
            *(new for new in now if new not in self._seen),
        ]:
            uid, old = self._seen.get(container_id, ("", NON_EXISTENT))
            uid, new = now.get(container_id, (uid, NON_EXISTENT))
            events += generate_events(uid, container_id, old, new)
        self._seen = now
        for event in events:
            if event.type != CHANGED:
                self._handler(event)
        return events

    def healthy(self, threshold: float = RELIST_THRESHOLD) -> str:
        """Why not, or nothing: what makes a node `NotReady`."""
        if self.last_relist is None:
            return "pleg has yet to be successful"
        silent = asyncio.get_running_loop().time() - self.last_relist
        if silent > threshold:
            return (
                f"pleg was last seen active {silent:.0f}s ago; threshold is"
                f" {threshold // 60:.0f}m0s"
            )
        return ""

    async def run(self) -> None:
        """Look every second until cancelled."""
        while True:
            with contextlib.suppress(
                RuntimeServiceError
            ):  # `healthy` tells if no look succeeds any more
                await self.relist()
            await asyncio.sleep(RELIST_PERIOD)


_RESPONSES = {
    STARTED: ContainerEventType.STARTED,
    DIED: ContainerEventType.STOPPED,
    REMOVED: ContainerEventType.DELETED,
}


class EventedPLEG:
    """Passes the runtime's events on, and looks itself for those that never came.
    `handler` hears of each once.
    """

    def __init__(
        self, runtime: RuntimeService, handler: Callable[[ContainerEventResponse], None]
    ) -> None:
        self._handler = handler
        self._generic = GenericPLEG(runtime, self._relisted)
        self._event_containers: set[str] = set()
        self._missed = True
        self.events_serve = False
        """Whether there were events, and the looks since found nothing but what they
        had told.
        """

    def event(self, event: ContainerEventResponse) -> None:
        """From the runtime."""
        self._event_containers.add(event.container_id)
        self._handler(event)

    def _relisted(self, event: PodLifecycleEvent) -> None:
        if event.container_id not in self._event_containers:
            self._missed = True
            self._handler(
                ContainerEventResponse(
                    event.container_id, _RESPONSES[event.type], 0, "", event.pod_uid
                )
            )

    async def look(self) -> float:
        """Look once; in how many seconds to look again. Raises RuntimeServiceError."""
        self._missed = False
        event_containers = self._event_containers
        await self._generic.relist()
        if self._missed:
            self.events_serve = False
        elif event_containers:
            self.events_serve = True
        self._event_containers = set()
        return EVENTED_RELIST_PERIOD if self.events_serve else RELIST_PERIOD

    def text(self) -> str:
        """The `/metrics` page's part about this; nothing where nobody looks."""
        lines: list[str] = []
        for name, histogram, about in (
            (
                RELIST_DURATION,
                self._generic.durations,
                "Duration in seconds for relisting pods in PLEG",
            ),
            (
                RELIST_INTERVAL,
                self._generic.intervals,
                "Interval in seconds between relisting in PLEG",
            ),
        ):
            if histogram.count:
                lines += [f"# HELP {name} [ALPHA] {about}."]
                lines += [f"# TYPE {name} histogram", *histogram.lines(name, "")]
        return "".join(f"{line}\n" for line in lines)

    def healthy(self) -> str:
        """Why not, or nothing. What has not begun to look is healthy."""
        if self._generic.last_relist is None:
            return ""
        return self._generic.healthy(
            EVENTED_RELIST_THRESHOLD if self.events_serve else RELIST_THRESHOLD
        )

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            wait = RELIST_PERIOD
            with contextlib.suppress(
                RuntimeServiceError
            ):  # `healthy` tells if no look succeeds any more
                wait = await self.look()
            await asyncio.sleep(wait)
