"""Two versions of one object: an Event, as v1 and as events.k8s.io/v1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.apis.event_versions import CORE, EVENTS, from_core, to_core
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.inspector import open_recording

CONTRACT = """\
convert(event, api_version) -> the Event in that version

event:       an Event, whose "apiVersion" is "v1" or "events.k8s.io/v1".
api_version: one of the two. An event that is in it already stays as it is.
The newer group renamed fields (v1 → events.k8s.io/v1):
    message → note                       source → deprecatedSource
    involvedObject → regarding           firstTimestamp → deprecatedFirstTimestamp
    reportingComponent                   lastTimestamp → deprecatedLastTimestamp
      → reportingController              count → deprecatedCount
All others have the same name in both. Some fields are written even if they say nothing:
in v1 involvedObject and source ({}), reportingComponent and reportingInstance (""),
firstTimestamp, lastTimestamp and eventTime (null); in events.k8s.io/v1 regarding and
deprecatedSource ({}), deprecatedFirstTimestamp, deprecatedLastTimestamp and eventTime
(null). There reportingController and reportingInstance are left out if they are empty.
"""

STARTER = '''\
def convert(event, api_version):
    """The same event in other words."""
    found = {**event, "apiVersion": api_version}
    if "message" in found:
        found["note"] = found.pop("message")
    return found
'''

SEED = 36


def cases() -> Iterator[Case]:
    """The recorded cluster's events in both versions, and made-up ones."""
    seen: set[str] = set()
    for scenario in ("objects", "scheduling"):
        for exchange in open_recording().exchanges(scenario):
            answer = exchange.response
            if not isinstance(answer, dict) or answer.get("kind") != "EventList":
                continue
            for item in answer.get("items", ())[:20]:
                version = answer["apiVersion"]
                event = {"kind": "Event", "apiVersion": version, **item}
                about = event["metadata"]
                label = f"{about['name']} of {version}".replace("/", "∕")
                if label not in seen:
                    seen.add(label)
                    yield from _both(f"recorded as {version}", label, event)
    chance = Random(SEED)
    for number in range(30):
        event = _any(chance, number)
        yield from _both("made up as v1", f"event {number}", event)
        newer = from_core(event)
        yield from _both("made up as events.k8s.io∕v1", f"event {number}", newer)
    bare = {"kind": "Event", "apiVersion": EVENTS, "metadata": {"name": "bare"}}
    yield from _both("made up as events.k8s.io∕v1", "a bare one", bare)


def _any(chance: Random, number: int) -> Object:
    """A v1 Event in which some fields are there and some are not."""
    event: Object = {
        "kind": "Event",
        "apiVersion": CORE,
        "metadata": {"name": f"e{number}", "namespace": "shop"},
        "involvedObject": chance.choice(({}, {"kind": "Pod", "name": "nginx"})),
    }
    for key, values in {
        "reason": ("Pulled", "Killing"),
        "message": ("done", ""),
        "source": ({}, {"component": "kubelet"}),
        "firstTimestamp": ("2026-01-01T00:00:00Z", None),
        "lastTimestamp": ("2026-01-01T00:00:09Z",),
        "count": (1, 7),
        "type": ("Normal", "Warning"),
        "eventTime": (None, "2026-01-01T00:00:00.000001Z"),
        "series": ({"count": 2},),
        "action": ("Binding",),
        "related": ({"kind": "Node", "name": "one"},),
        "reportingComponent": ("", "kubelet"),
        "reportingInstance": ("", "one"),
    }.items():
        if chance.random() < 0.7:
            event[key] = chance.choice(values)
    return event


def _both(group: str, label: str, event: Object) -> Iterator[Case]:
    for version in (CORE, EVENTS):
        ask: Callable[[Attempt], Any] = _asking(event, version)
        as_version = f"{label}, as {version}".replace("/", "∕")
        question = {"event": event, "api_version": version}
        yield Case(group, as_version, _ours(event, version), ask, event, question)


def _asking(event: Object, version: str) -> Callable[[Attempt], Any]:
    return lambda attempt: attempt(event, version)


def _ours(event: Object, api_version: str) -> Object:
    return to_core(event) if api_version == CORE else from_core(event)


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "event-versions",
    "An Event in two versions",
    CONTRACT,
    STARTER,
    "the book's own, on the recorded cluster's events among others",
    cases,
    ours,
    ("versions-and-conversion", "conversion"),
)
