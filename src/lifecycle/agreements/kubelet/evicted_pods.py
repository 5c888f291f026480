"""Eviction held against a real kubelet: a node is short of memory, and one pod after
the other has to go.

The real one stood in front of a container runtime of ours, whose containers use as much
memory as the scene says; in each pod's cgroup somebody held as much. Then it was told
that a node has too little memory if not nearly all of it is free. Ours gets the same
pods and the same usage; how much the machine had left is taken from what the real one
said.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import parse_quantity
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers
from lifecycle.kubelet.container.ref import NoEvents
from lifecycle.kubelet.eviction.eviction_manager import EvictionManager, NodePressure
from lifecycle.kubelet.eviction.thresholds import parse_thresholds
from lifecycle.kubelet.kuberuntime.container_killer import MINIMUM_GRACE_PERIOD
from lifecycle.kubelet.stats.summary import (
    ContainerUsage,
    Observation,
    PodUsage,
    Summary,
)

SIGNAL = "memory.available"
AVAILABLE = re.compile(r"available: (\w+)\.")


def evicted_pods_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each pod. `programs`: what the real one did; None: as recorded."""
    [scene] = asked(programs, "evicted")
    pods = scene.answer["pods"]
    gone = [name for name, each in scene.answer["after"].items() if each["turn"]]
    table = AgreementTable(
        "Eviction",
        "lifecycle",
        f"{scene.program}, asked directly",
        lambda table: (
            f"{len(pods)} pods on a node that is short of memory; {len(gone)} of them"
            " a real kubelet evicts, one after the other. Whose turn it is with ours,"
            f" and what is said of it: {table.outcome('pods')}."
        ),
    )
    ours = our_evictions(scene.answer)
    for name, theirs in scene.answer["after"].items():
        mine = ours.pods[name]
        table.add("eviction", name, _short(mine), _short(theirs), compare(mine, theirs))
    told, recorded = ours.node, scene.answer["node"]
    words = ", ".join(told), ", ".join(recorded)
    table.add("told", "of the node", *words, compare(told, recorded))
    return table


def _short(after: Object) -> str:
    return f"turn {after['turn']}" if after["turn"] else "stays"


def available(after: Object) -> int:
    """Bytes that were left when a pod was evicted, as its message says."""
    left = AVAILABLE.search(after["status"].get("message", ""))
    return parse_quantity(left[1]).value() if left else 0


class _Telling(NoEvents):
    """Keeps what is told of pods, by name, and of the node."""

    def __init__(self) -> None:
        self.told: defaultdict[str, list[str]] = defaultdict(list)
        self.of_the_node: set[str] = set()

    def node_event(self, kind: str, reason: str, message: str) -> None:
        """Keep it."""
        self.of_the_node.add(f"{kind} {reason}: {message}")

    def pod_event(
        self, pod: Object, kind: str, reason: str, message: str, container: str
    ) -> None:
        """Keep it."""
        self.told[pod["metadata"]["name"]].append(f"{kind} {reason}: {message}")


@dataclass(slots=True, frozen=True)
class Evictions:
    """What becomes of each pod, and what is told of the node."""

    pods: dict[str, Object]
    node: list[str]


def our_evictions(scene: Object) -> Evictions:
    """What becomes of it all, with our eviction manager."""

    async def play() -> Evictions:
        pods = {pod["metadata"]["name"]: pod for pod in scene["pods"]}
        left = dict(pods)
        turns: list[tuple[str, Object]] = []
        graces: dict[str, int] = {}
        capacity = parse_quantity(scene["machine"]["capacity"]["memory"]).value()
        seen = [
            available(each)
            for each in sorted(scene["after"].values(), key=lambda e: e["turn"])
            if each["turn"]
        ]

        async def measure() -> Summary:
            now = seen[min(len(turns), len(seen) - 1)]
            usages = {
                pods[name]["metadata"]["uid"]: PodUsage(
                    {key: ContainerUsage(memory=used) for key, used in usage.items()}
                )
                for name, usage in scene["uses"].items()
                if name in left
            }
            return Summary({SIGNAL: Observation(now, capacity)}, usages)

        def evict(pod: Object, failed: Any, grace_period: float) -> bool:
            name = pod["metadata"]["name"]
            turns.append((name, failed({"phase": "Running"})))
            graces[name] = int(max(grace_period, MINIMUM_GRACE_PERIOD))
            del left[name]
            return True

        telling = _Telling()
        manager = EvictionManager(
            measure,
            left.values,
            evict,
            NodePressure(asyncio.get_running_loop().time),
            events=telling,
            pressure_changed=_nothing,
            thresholds=parse_thresholds(scene["settings"]["evictionHard"]),
        )
        while await manager.synchronize():
            pass
        order = [name for name, _ in turns]
        ended = dict(turns)
        after_all = {
            name: after(
                order,
                name,
                ended.get(name) or {"phase": "Running"},
                telling.told[name],
                graces.get(name),
            )
            for name in scene["after"]
        }
        return Evictions(after_all, sorted(telling.of_the_node))

    return on_virtual_time(play())


async def _nothing() -> None:
    """The node is not asked."""


def stopped(runtime: Any) -> Iterator[tuple[str, str, int]]:
    """Each container that the runtime was told to stop: its name, its pod's, and the
    seconds that it was given.
    """
    for call, *rest in runtime.calls:
        if call == "stop":
            pod, name, seconds = rest
            yield name, pod, seconds


def node_events(events: list[Any]) -> list[str]:
    """What was told of a node about eviction."""
    return sorted(
        {
            f"{event['type']} {event['reason']}: {event['message']}"
            for event in events
            if event["involvedObject"]["kind"] == "Node"
            and event["reason"].startswith("Eviction")
        }
    )


def after(
    order: list[str], name: str, status: Object, told: list[str], grace: int | None
) -> Object:
    """Whose turn it was, from 1 (0: nobody evicted it), what its status says, what was
    told of its eviction, each time that it was, and how many seconds its containers
    were given (of which no container gets fewer than two).
    """
    target = [
        {key: each[key] for key in ("status", "reason", "message")}
        for each in status.get("conditions") or ()
        if each["type"] == "DisruptionTarget"
    ]
    said = {k: status[k] for k in ("phase", "reason", "message") if k in status}
    turn = order.index(name) + 1 if name in order else 0
    events = [text.strip() for text in told]
    return {
        "turn": turn,
        "status": said,
        "disruption": target,
        "told": events,
        "grace": grace,
    }
