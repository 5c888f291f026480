"""What one cluster told in the course of a scenario: its answers, and what watchers of
it saw.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from lifecycle.compare.entities import objects_in, standalone
from lifecycle.compare.placements import Placements
from lifecycle.inspector import Exchange, InspectorError, Recording

LINGERING = timedelta(minutes=2)
"""How long a namespace full of pods may take to go: their grace period, and some."""
_LASTING = ("kube-system", "local-path-storage")
FRESH = "objects"
"""The scenario that lists the fresh cluster: its nodes, and the pods on them."""


@dataclass(slots=True, frozen=True)
class Observations:
    """One side of a comparison. `before`: objects that were there from the start;
    `leftovers`: pods of the scenario before, which may have been on their way out;
    `audit`: the API server's log of it.
    """

    exchanges: Sequence[Exchange]
    lines: Sequence[dict[str, Any]] = ()
    before: Sequence[dict[str, Any]] = ()
    leftovers: Sequence[dict[str, Any]] = ()
    audit: Sequence[dict[str, Any]] = ()

    def placements(self) -> Placements:
        """Who stood where, and when: from a watch of the pods if there was one, else
        from the answers.
        """
        placements = Placements()
        placements.seen(float("-inf"), self.before)
        placements.watched_continuously()
        placements.seen(float("-inf"), self.leftovers)
        pods = [line for line in self.lines if _about_a_pod(line["event"])]
        for line in pods:
            event = line["event"]
            if event["type"] == "DELETED":
                placements.deleted(line["t"], event["object"])
            else:
                placements.seen(line["t"], [event["object"]])
        if pods:
            placements.watched_continuously(since=pods[0]["t"])
        for exchange in self.exchanges:
            objects = list(_objects(exchange))
            if pods:
                objects = [obj for obj in objects if obj["kind"] == "Node"]
            placements.seen(exchange.t, objects)
        return placements


def observations_of(recording: Recording, scenario: str) -> Observations:
    """A recorded scenario, and what was recorded of the cluster around it."""
    return Observations(
        recording.exchanges(scenario),
        watched_lines(recording, scenario),
        settled_before(recording),
        left_behind(recording, scenario),
        audited_lines(recording, scenario),
    )


def left_behind(recording: Recording, scenario: str) -> list[dict[str, Any]]:
    """Pods of other scenarios that were played shortly before this one: how many of
    them were still there when it began was not recorded.
    """
    born = {
        other: [obj for e in recording.exchanges(other) for obj in _pods(e)]
        for other in recording.scenarios()
        if other != FRESH
    }
    began = min(map(_created, born.pop(scenario, ())), default=None)
    if began is None:
        return []
    return [
        pod
        for pods in born.values()
        for pod in pods
        if timedelta() <= began - _created(pod) <= LINGERING
        and pod["metadata"].get("namespace") not in _LASTING
    ]


def settled_before(recording: Recording) -> list[dict[str, Any]]:
    """The objects of the fresh cluster; none where nobody looked."""
    try:
        exchanges: Iterable[Exchange] = recording.exchanges(FRESH)
    except InspectorError:
        return []
    return [
        obj
        for exchange in exchanges
        if exchange.method == "GET"
        for obj in _objects(exchange)
    ]


def watched_lines(recording: Recording, scenario: str) -> list[dict[str, Any]]:
    """What watchers saw in a scenario; nothing where nobody watched."""
    try:
        return list(recording.watch(scenario))
    except InspectorError:
        return []


def audited_lines(recording: Recording, scenario: str) -> list[dict[str, Any]]:
    """The audit log of a scenario; nothing where none was kept."""
    try:
        return list(recording.audit(scenario))
    except InspectorError:
        return []


def _objects(exchange: Exchange) -> Iterable[dict[str, Any]]:
    return (standalone(*pair) for pair in objects_in(exchange.response))


def _pods(exchange: Exchange) -> Iterable[dict[str, Any]]:
    response = exchange.response
    if isinstance(response, dict) and response.get("kind") in ("Pod", "PodList"):
        return [
            obj
            for obj in _objects(exchange)
            if obj["kind"] == "Pod" and (obj.get("spec") or {}).get("nodeName")
        ]
    return []


def _created(pod: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(pod["metadata"]["creationTimestamp"])


def _about_a_pod(event: dict[str, Any]) -> bool:
    return (event.get("object") or {}).get("kind") == "Pod" and event.get("type") in (
        "ADDED",
        "MODIFIED",
        "DELETED",
    )
