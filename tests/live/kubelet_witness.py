"""What came of a scene on a node: the pods that are left, what was told of them, and the way their statuses went.

A status is written when a kubelet has looked, and both look about once a second. So it is not the writes that are compared but the
way of each field: a phase, a condition, a container's state has these values, one after the other. Which of them got into one and
the same write is chance.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from tests.live.witness import GENERATED, Outcome, Told

CHANCE = re.compile(
    r"\b[0-9a-f]{64}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
    r"|\b(?:\d+m)?\d+(?:\.\d+)?m?s\b(?= \(| including)|\b10\.222\.\d+\.\d+\b"
)
"""In a message: ids, how long a pull took, a pod's address."""

OPENING = re.compile(
    r"Pending|False(?: Containers(?:NotReady|NotInitialized))?|waiting (?:ContainerCreating|PodInitializing)"
)
"""What a status begins with. It may be missing: the real status manager writes one status after the other, ours has a task for each
pod, and a status that was not written yet gives way to a newer one.
"""
Way = dict[str, list[str]]
"""Of one pod: by field, its values in their order, none twice in a row."""


@dataclass(slots=True)
class NodeOutcome(Outcome):
    """`ways` by pod."""

    ways: dict[str, Way] = field(default_factory=dict)


async def told(client: Client, namespace: str) -> Counter[Told]:
    """What a kubelet told of a namespace's pods, each once."""
    answer = await client.list(resource("events"), namespace)
    return Counter({_told(event): 1 for event in answer["items"]})


def _told(event: Object) -> Told:
    about = event["involvedObject"]
    message = GENERATED.sub("-…", CHANCE.sub("…", event["message"]))
    who = " ".join(part for part in (about["name"], about.get("fieldPath", "")) if part)
    component = f"{event['source'].get('component', '')} {event.get('reportingComponent', '')}".strip()
    return component, about["kind"], who, f"{event['type']} {event['reason']}", message


def ways(log: Path, namespace: str) -> dict[str, Way]:
    """Of each pod that a node wrote a status of, as the API server answered."""
    found: dict[str, Way] = {}
    for line in log.read_text().splitlines():
        event = json.loads(line)
        about, answer = event.get("objectRef") or {}, event.get("responseObject") or {}
        if about.get("resource") != "pods" or about.get("namespace") != namespace or answer.get("kind") != "Pod":
            continue
        way = found.setdefault(answer["metadata"]["name"], {})
        for name, value in _fields(event["verb"], about.get("subresource", ""), answer):
            values = way.setdefault(name, [])
            if not values or values[-1] != value:
                values.append(value)
    return found


def _fields(verb: str, subresource: str, pod: Object) -> Iterator[tuple[str, str]]:
    yield "write", f"{verb} {subresource}".strip()
    status: dict[str, Any] = pod["status"]
    for name in ("phase", "reason", "message", "qosClass", "observedGeneration"):
        yield name, str(status.get(name, ""))
    for condition in status.get("conditions", ()):
        yield condition["type"], f"{condition['status']} {condition.get('reason', '')}".strip()
    for key in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        for entry in status.get(key, ()):
            which = f"{key}/{entry['name']}"
            [(state, about)] = entry["state"].items()
            said = (state, about.get("reason", ""), str(about.get("exitCode", "")))
            yield f"{which}/state", " ".join(part for part in said if part)
            for name in ("ready", "started", "restartCount"):
                yield f"{which}/{name}", str(entry.get(name))


def _same(ours: list[str], theirs: list[str]) -> bool:
    short, long = sorted((ours, theirs), key=len)
    return ours == theirs or (short == long[1:] != [] and OPENING.fullmatch(long[0]) is not None)


def strayed(ours: dict[str, Way], theirs: dict[str, Way]) -> list[str]:
    """Fields that went another way."""
    lines = []
    for pod in sorted({*ours, *theirs}):
        mine, yours = ours.get(pod, {}), theirs.get(pod, {})
        for name in sorted({*mine, *yours}):
            pair = mine.get(name, []), yours.get(name, [])
            if not _same(*pair):
                lines.append(f"{pod} {name}: ours {' → '.join(pair[0])}, theirs {' → '.join(pair[1])}")
    return lines
