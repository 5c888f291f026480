"""Events that controllers tell while they act, held against those that real ones wrote.

An act (a pod made, a ReplicaSet scaled) is known from the audit log. Ours acts again
and tells what it has to tell; all of it goes through the correlator, which combines the
tenth of a kind and those after it. What comes out is laid beside what was written,
whole events in their order; so one that is told twice is there twice.

Requests of one batch are under way together. Whose answer is heard of first is the
order of threads, and that of their events with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from lifecycle.agreements.recorded_journey import AGE_OF_CACHE, RecordedJourney
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time
from lifecycle.client.event_correlator import EventCorrelator
from lifecycle.client.events import object_reference
from lifecycle.compare.compare import Comparison, compare

LOOK_BACK = 14
"""Revisions that a controller's cache may be behind."""
TOGETHER = "order of events of requests that were under way together"
OF_THE_MOMENT = ("kind", "apiVersion", "metadata", "firstTimestamp", "lastTimestamp")
"""What says of an event how it is written and when, not what it tells."""


class Told(NamedTuple):
    """What was told for one act, and when the audit log says that it began and was
    over.
    """

    began: str
    over: str
    events: list[Object]

    @classmethod
    def of(cls, act: Object, events: list[Object]) -> Told:
        """What was told for an audited request."""
        return cls(act["requestReceivedTimestamp"], act["stageTimestamp"], events)


class Telling:
    """An event recorder that keeps what it is told."""

    def __init__(self, component: str) -> None:
        self._component = component
        self.events: list[Object] = []

    def event(self, obj: Object, event_type: str, reason: str, message: str) -> None:
        """Keep the whole event, but for its time and its name."""
        self.events.append(
            {
                "involvedObject": object_reference(obj),
                "reason": reason,
                "message": message,
                "source": {"component": self._component},
                "count": 1,
                "type": event_type,
                "eventTime": None,
                "reportingComponent": self._component,
                "reportingInstance": "",
            }
        )


def compare_events(
    journey: RecordedJourney, component: str, plural: str, acts: Iterable[Told]
) -> tuple[int, Comparison]:
    """How many events `component` wrote, and ours beside them. They are about objects
    of `plural`; the revision of one may be as old as the cache was.
    """
    theirs = [
        {"verb": event["verb"], **_lasting(event["requestObject"])}
        for event in sorted(
            journey.requests(component, part="/events"),
            key=lambda event: str(event["requestReceivedTimestamp"]),
        )
    ]
    in_order, swapped = _in_order(acts, [event["message"] for event in theirs])
    ours = list(_written(in_order))
    older = _as_old(journey, plural, ours, theirs)
    comparison = compare(ours, theirs)
    comparison.freedoms[AGE_OF_CACHE] += older
    comparison.freedoms[TOGETHER] += swapped
    return len(theirs), comparison


def _in_order(acts: Iterable[Told], messages: list[str]) -> tuple[list[Told], int]:
    """By their ends; of two that were under way together, the one first whose event was
    written first. How many were swapped for that.
    """

    def place(act: Told) -> int:
        said = [event["message"] for event in act.events]
        places = (i for i, m in enumerate(messages) if any(map(m.endswith, said)))
        return next(places, len(messages))

    ordered, swapped = sorted(acts, key=lambda act: act.over), 0
    for last in range(len(ordered) - 1, 0, -1):
        for i in range(last):
            one, other = ordered[i], ordered[i + 1]
            if other.began < one.over and place(other) < place(one):
                ordered[i : i + 2] = other, one
                swapped += 1
    return ordered, swapped


def _written(acts: Iterable[Told]) -> Iterable[Object]:
    correlator = EventCorrelator()
    for _, moment, events in acts:
        for number, event in enumerate(events):
            raw = {
                **event,
                "metadata": {
                    "namespace": event["involvedObject"]["namespace"],
                    "name": f"{moment}/{number}",
                },
                "firstTimestamp": moment,
                "lastTimestamp": moment,
            }
            combined = correlator.correlate(raw, parse_time(moment))
            if combined is not None:
                correlator.update_state(combined.event)
                verb = "create" if combined.patch is None else "patch"
                yield {"verb": verb, **_lasting(combined.patch or combined.event)}


def _lasting(event: Object) -> Object:
    return {key: value for key, value in event.items() if key not in OF_THE_MOMENT}


def _as_old(
    journey: RecordedJourney, plural: str, ours: list[Object], theirs: list[Any]
) -> int:
    """Gives the objects of our events the recorded revision, where that one is a little
    older, and of the same object. How many there were.
    """
    granted = 0
    for mine, other in zip(ours, theirs, strict=False):
        about, seen = mine.get("involvedObject"), other.get("involvedObject")
        if not about or not seen or about == seen:
            continue
        version = seen["resourceVersion"]
        lag = abs(int(about["resourceVersion"]) - int(version))
        if lag <= LOOK_BACK and journey.has(plural, about, version):
            mine["involvedObject"] = {**about, "resourceVersion": version}
            granted += 1
    return granted
