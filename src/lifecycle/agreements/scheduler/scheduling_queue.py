"""The scheduling queue held against the recorded scheduler's log: for each pod that had
to wait, which events came by, and where it was put each time.

At `-v=10` the real queue says of each event whether it helps a waiting pod, and where a
pod goes. The log is played again, in order and in its own time: pods come, attempts
fail with the plugins that the log names, pods get nodes and are deleted. All that ours
decides is where each pod is afterwards. Updates of a pod's status, which help nobody
here, are left out: the log does not say what was updated.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import NamedTuple

from lifecycle.agreements.scheduler.scheduling import pods_of
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, parse_time
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.inspector import Recording
from lifecycle.scheduler.backend.cache.cache import Cache
from lifecycle.scheduler.backend.queue.nominator import Nominator
from lifecycle.scheduler.backend.queue.scheduling_queue import SchedulingQueue
from lifecycle.scheduler.event_handlers import EventHandlers
from lifecycle.scheduler.framework.types import QueuedPodInfo
from lifecycle.scheduler.profile import default_framework

STAYS = "stays"
ADDED, FAILED = "UnschedulablePodAdd", "ScheduleAttemptFailure"
UNGATED = "UnschedulablePodUpdatePodSchedulingGatesEliminated"
OTHERS = {
    "Add event for scheduled pod": "AssignedPodAdd",
    "Delete event for scheduled pod": "AssignedPodDelete",
}
_LINE = re.compile(
    r'[IWE]\d{4} (\d\d:\d\d:\d\d\.\d+) .*?\] "([^"]+)" pod="sched/([^"]+)"(.*)'
)
_FIELD = re.compile(r'(event|queue)="([^"]+)"')
_PLUGIN = re.compile(r'"(\w+)":\{\}')


class Move(NamedTuple):
    """An event, and the place where the pod is after it: `Active`, `Backoff`,
    `Unschedulable`, or `stays` where it was.
    """

    event: str
    place: str


class LogLine(NamedTuple):
    """What the scheduler said of a pod, when, and the rest of the line."""

    at: float
    message: str
    pod: str
    rest: str


def log_lines(recording: Recording) -> list[LogLine]:
    """The lines about the scenario's pods, by their own times: threads wrote them."""
    lines = [
        LogLine(parse_time(f"1970-01-01T{at}Z"), message, pod, rest)
        for at, message, pod, rest in _LINE.findall(recording.log())
    ]
    return sorted(lines, key=lambda line: line.at)


def recorded_moves(recording: Recording) -> dict[str, list[Move]]:
    """By pod, of those that had to wait."""
    moves: dict[str, list[Move]] = {}
    for line in log_lines(recording):
        fields = dict(_FIELD.findall(line.rest))
        event = fields.get("event", "")
        if line.message == "Event is not making pod schedulable":
            if event in OTHERS.values():
                moves.setdefault(line.pod, []).append(Move(event, STAYS))
        elif line.message.startswith("Pod moved") and "is updated" not in line.message:
            moves.setdefault(line.pod, []).append(Move(event, fields["queue"]))
    return {pod: each for pod, each in moves.items() if _waited(each)}


def _waited(moves: list[Move]) -> bool:
    return any(move.place == "Unschedulable" for move in moves)


class _Replay:
    """A queue behind the scheduler's own event handlers, and who was taken out of
    it.
    """

    def __init__(self, recording: Recording) -> None:
        self.posted: dict[str, Object] = {}
        self.settled: dict[str, Object] = {}
        for posted, settled in pods_of(recording):
            self.posted[posted["metadata"]["name"]] = posted
            self.settled[posted["metadata"]["name"]] = settled
        self.queue = SchedulingQueue(default_framework(), Clock())
        self.handlers = EventHandlers(
            Cache(), self.queue, Nominator(), lambda pod: True
        )
        self.attempted: dict[str, QueuedPodInfo] = {}
        self.moves: dict[str, list[Move]] = {}

    def follow(self, line: LogLine) -> None:
        """Do what the line says has happened."""
        posted, settled = self.posted.get(line.pod), self.settled.get(line.pod)
        if posted is None or settled is None:
            return
        if line.message == "Add event for unscheduled pod":
            self.handlers.pod_added(posted)
            self._note(line.pod, ADDED)
        elif line.message == "Update event for unscheduled pod":
            ungated = {
                key: value
                for key, value in posted["spec"].items()
                if key != "schedulingGates"
            }
            if ungated != posted["spec"] and self._place(line.pod) == "Unschedulable":
                self.handlers.pod_updated(posted, {**posted, "spec": ungated})
                self._note(line.pod, UNGATED)
        elif line.message == "Attempting to schedule pod":
            self._take(line.pod)
        elif f'event="{FAILED}"' in line.rest:
            queued = self.attempted.pop(line.pod)
            queued.unschedulable_plugins = set(_PLUGIN.findall(line.rest))
            self.queue.add_unschedulable(queued)
            self._note(line.pod, FAILED)
        elif line.message in OTHERS:
            waiting = [
                name for name in self.moves if self._place(name) == "Unschedulable"
            ]
            if "Delete" in line.message:
                self.handlers.pod_deleted(settled)
            else:
                self.handlers.pod_updated(posted, settled)
            for name in waiting:
                self._note(name, OTHERS[line.message], before="Unschedulable")

    def _take(self, pod: str) -> None:
        """Out of the queue; whoever wrongly stands before it goes back in."""
        others = []
        while (queued := self.queue.try_pop()) is not None:
            if queued.key == f"sched/{pod}":
                self.attempted[pod] = queued
                break
            others.append(queued.info.pod)
        for other in others:
            self.queue.add(other)

    def _place(self, pod: str) -> str:
        places = self.queue.pending_pods()
        places["unschedulable"] = places["unschedulable"] + places.pop("gated")
        key = f"sched/{pod}"
        return next((p.capitalize() for p, keys in places.items() if key in keys), "")

    def _note(self, pod: str, event: str, before: str = "") -> None:
        place = self._place(pod)
        move = Move(event, STAYS if place == before else place)
        self.moves.setdefault(pod, []).append(move)


async def _moves(recording: Recording) -> dict[str, list[Move]]:
    replay, begin = _Replay(recording), asyncio.get_running_loop().time()
    lines = log_lines(recording)
    for line in lines:
        passed = asyncio.get_running_loop().time() - begin
        await asyncio.sleep(max(line.at - lines[0].at - passed, 0))
        replay.follow(line)
    replay.queue.close()
    return replay.moves


def our_moves(recording: Recording) -> dict[str, list[Move]]:
    """By pod: where our queue put it each time."""
    return on_virtual_time(_moves(recording))


def scheduling_queue_agreement(recording: Recording) -> AgreementTable:
    """One row per pod that had to wait."""
    ours, theirs = our_moves(recording), recorded_moves(recording)
    events = sum(map(len, theirs.values()))
    table = AgreementTable(
        "The scheduling queue",
        "lifecycle",
        f"recording {recording.provenance}",
        lambda table: (
            f"{len(theirs)} pods had to wait, and {events} times the real queue said"
            f" what an event means for one of them; {table.outcome('rows')}."
        ),
    )
    for pod, moves in theirs.items():
        mine = ours.get(pod, [])
        table.add(
            "queue",
            pod,
            " · ".join(_told(mine)),
            " · ".join(_told(moves)),
            compare([list(m) for m in mine], [list(m) for m in moves], path=f"/{pod}"),
        )
    return table


def _told(moves: list[Move]) -> Iterator[str]:
    """The moves in a few words: those events that changed nothing are counted."""
    stayed = 0
    for event, place in moves:
        if place == STAYS:
            stayed += 1
            continue
        if stayed:
            yield f"{stayed} events, stays"
        stayed = 0
        yield f"{event} → {place}"
    if stayed:
        yield f"{stayed} events, stays"
