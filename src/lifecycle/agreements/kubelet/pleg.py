"""The kubelet's looks held against recorded nodes: what happened to each container, as
the pods' statuses and the kubelet's log tell it, and as our PLEG finds it out.

A runtime of ours has the recorded containers, each from the second in which it started,
ended from the second in which it ended, and gone from the second in which the real
kubelet removed it. Our PLEG looks at it each second. What a container went through
within one second nobody can see who looks once a second.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.cri.apis.container import (
    ContainerMetadata,
    ContainerState,
    ContainerStatus,
)
from lifecycle.cri.apis.events import ContainerEventResponse, ContainerEventType
from lifecycle.cri.apis.pod_sandbox import (
    PodSandboxMetadata,
    PodSandboxState,
    PodSandboxStatus,
)
from lifecycle.inspector import Recording
from lifecycle.kubelet.pleg.generic import (
    EventedPLEG,
    GenericPLEG,
    PodLifecycleEvent,
)

_REMOVED = re.compile(r'(\d\d:\d\d:\d\d)\.\d+ .*"RemoveContainer" containerID="(\w+)"')
_UNHEALTHY = re.compile(r"PLEG is not healthy: ([^,\]]*)")
HEALTH = "complaints about the looks themselves"
STARTED, DIED, REMOVED = "ContainerStarted", "ContainerDied", "ContainerRemoved"
_TYPES = {
    STARTED: ContainerEventType.STARTED,
    DIED: ContainerEventType.STOPPED,
    REMOVED: ContainerEventType.DELETED,
}
"""What a runtime calls them."""
_TOLD = {kind: name for name, kind in _TYPES.items()}


@dataclass(slots=True)
class Life:
    """A container: of which pod, and in which seconds it started, ended and was removed
    (None: not yet).
    """

    pod: str
    id: str
    name: str
    started: float
    finished: float | None = None
    removed: float | None = None

    def events(self) -> list[str]:
        """What can be seen of it, by who looks once a second."""
        if self.removed is not None and self.removed <= self.started:
            return []
        events = (
            [STARTED] if self.finished is None or self.finished > self.started else []
        )
        events += [DIED] if self.finished is not None else []
        return events + ([REMOVED] if self.removed is not None else [])

    def state(self, now: float) -> ContainerState | None:
        """What a runtime says; None: it has no such container."""
        if now < self.started or (self.removed is not None and now >= self.removed):
            return None
        ended = self.finished is not None and now >= self.finished
        return ContainerState.EXITED if ended else ContainerState.RUNNING


def recorded_lives(recording: Recording) -> list[Life]:
    """The containers that the statuses of the scenario *kubelet* ever told of."""
    lives: dict[str, Life] = {}
    day = ""
    for line in recording.watch("kubelet"):
        pod = line["event"]["object"]
        if pod.get("kind") != "Pod" or "status" not in pod:
            continue
        for status in _statuses(pod["status"]):
            for container_id, state in _states(status):
                day = max(day, state["startedAt"][:11])
                life = lives.setdefault(
                    container_id,
                    Life(
                        pod["metadata"]["name"],
                        container_id,
                        status["name"],
                        parse_time(state["startedAt"]),
                    ),
                )
                if "finishedAt" in state:
                    life.finished = parse_time(state["finishedAt"])
    for node in recording.nodes():
        file = recording.path / "node" / node / "kubelet-log.txt"
        log = file.read_text() if file.is_file() else ""
        for at, container_id in _REMOVED.findall(log):
            known = lives.get(f"containerd://{container_id}")
            if known is not None and known.removed is None:
                known.removed = parse_time(f"{day}{at}Z")
    return [life for life in lives.values() if _has_run(life)]


def _has_run(life: Life) -> bool:
    """Those that never started have no time of a start."""
    return life.started > 0 and (life.finished is None or life.finished >= life.started)


def _statuses(status: Object) -> Iterator[Object]:
    yield from status.get("initContainerStatuses") or ()
    yield from status.get("containerStatuses") or ()


def _states(status: Object) -> Iterator[tuple[str, Object]]:
    for state in (status.get("lastState") or {}, status.get("state") or {}):
        if state.get("running") and status.get("containerID"):
            yield status["containerID"], state["running"]
        ended = state.get("terminated") or {}
        if ended.get("containerID") and ended.get("startedAt"):
            yield ended["containerID"], ended


class _Runtime:
    """The recorded containers as a runtime tells of them; `begin` is the recorded time
    at which the loop's clock says zero.
    """

    def __init__(self, lives: list[Life], begin: float) -> None:
        self._pods: dict[str, list[Life]] = {}
        for life in lives:
            self._pods.setdefault(life.pod, []).append(life)
        self._begin, self._zero = begin, asyncio.get_running_loop().time()

    async def list_pod_sandbox(self, pod_uid: str = "") -> list[PodSandboxStatus]:
        """One for each pod, ready all the time."""
        return [
            PodSandboxStatus(
                f"sandbox of {pod}",
                PodSandboxMetadata(pod, "kubelet", pod, 0),
                PodSandboxState.READY,
                0,
            )
            for pod in self._pods
        ]

    async def list_containers(self, pod_sandbox_id: str = "") -> list[ContainerStatus]:
        """Those that are there now."""
        now = self._begin + asyncio.get_running_loop().time() - self._zero
        there = []
        for life in self._pods[pod_sandbox_id.removeprefix("sandbox of ")]:
            state = life.state(now)
            if state is not None:
                meta = ContainerMetadata(life.name, 0)
                there.append(
                    ContainerStatus(life.id, pod_sandbox_id, meta, state, 0, "", "")
                )
        return there


def our_events(lives: list[Life]) -> list[PodLifecycleEvent]:
    """What our PLEG finds out, looking in the middle of each second."""
    moments = [
        moment
        for life in lives
        for moment in (life.started, life.finished, life.removed)
        if moment is not None
    ]
    told: list[PodLifecycleEvent] = []

    async def main() -> None:
        runtime = cast(Any, _Runtime(lives, min(moments) - 0.5))
        looking = asyncio.create_task(GenericPLEG(runtime, told.append).run())
        await asyncio.sleep(max(moments) - min(moments) + 2)
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)

    on_virtual_time(main())
    return told


def heard(lives: list[Life], *, served: bool) -> tuple[dict[str, list[str]], list[str]]:
    """What our evented PLEG tells of each container, however it came to know; and what
    it says against its own health on the way. `served`: the runtime tells of everything
    itself; else it never says a word, and the looks have to find out.
    """
    news = sorted(
        (at, life.pod, life.id, kind)
        for life in lives
        for kind, at in zip(
            (STARTED, DIED, REMOVED),
            (life.started, life.finished, life.removed),
            strict=True,
        )
        if at is not None and kind in life.events()
    )
    told: dict[str, list[str]] = {}
    complaints: dict[str, None] = {}

    def hear(event: ContainerEventResponse) -> None:
        told.setdefault(event.container_id, []).append(_TOLD[event.type])

    async def main() -> None:
        loop = asyncio.get_running_loop()
        begin, zero = news[0][0] - 0.5, loop.time()
        pleg = EventedPLEG(cast(Any, _Runtime(lives, begin)), hear)
        looking = asyncio.create_task(pleg.run())
        for at, pod, container_id, kind in news:
            await asyncio.sleep(zero + at - begin - loop.time())
            complaints.update({pleg.healthy(): None} if pleg.healthy() else {})
            if served:
                pleg.event(
                    ContainerEventResponse(container_id, _TYPES[kind], 0, "", pod)
                )
        await asyncio.sleep(2)
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)

    on_virtual_time(main())
    return told, list(complaints)


def recorded_complaints(recording: Recording) -> list[str]:
    """What the nodes' kubelets said against the health of their looks."""
    complaints: list[str] = []
    for node in recording.nodes():
        file = recording.path / "node" / node / "kubelet-log.txt"
        complaints += _UNHEALTHY.findall(file.read_text() if file.is_file() else "")
    return complaints


def pleg_agreement(recording: Recording) -> AgreementTable:
    """A row for each pod: what became of its containers, in the order in which they
    started.
    """
    lives = sorted(recorded_lives(recording), key=lambda life: life.started)
    events = our_events(lives)
    ways, complaints = {}, []
    for way, served in (("told by the runtime", True), ("which never tells", False)):
        ways[way], said = heard(lives, served=served)
        complaints += said
    table = AgreementTable(
        "PLEG",
        "lifecycle",
        f"recording {recording.provenance}",
        lambda table: (
            f"{len(lives)} containers of {len(table.computed) - 1} pods started, ended"
            " and were removed on real nodes. Our PLEG looks at the same containers"
            " each second, and finds out what happened; and again with a runtime that"
            " tells it, and with one that should and does not:"
            f" {table.outcome('rows')}."
        ),
    )
    for pod in dict.fromkeys(life.pod for life in lives):
        mine = {
            life.id: [e.type for e in events if e.container_id == life.id]
            for life in lives
            if life.pod == pod
        }
        theirs = {life.id: life.events() for life in lives if life.pod == pod}
        sandbox = [e.type for e in events if e.container_id == f"sandbox of {pod}"]
        table.add(
            "containers",
            pod,
            _short(mine),
            _short(theirs),
            compare(
                {
                    **mine,
                    "sandbox": sandbox,
                    **{
                        way: {each: told.get(each, []) for each in theirs}
                        for way, told in ways.items()
                    },
                },
                {**theirs, "sandbox": [STARTED], **dict.fromkeys(ways, theirs)},
            ),
        )
    theirs_said = recorded_complaints(recording)
    table.add(
        "health",
        HEALTH,
        f"{len(complaints)} complaints",
        f"{len(theirs_said)} complaints",
        compare(
            {"how many": len(complaints), "which": complaints},
            {"how many": len(theirs_said), "which": theirs_said},
        ),
    )
    return table


def _short(events: dict[str, list[str]]) -> str:
    words = [
        event.removeprefix("Container").lower()
        for each in events.values()
        for event in each
    ]
    counts = {word: words.count(word) for word in ("started", "died", "removed")}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)
