"""What one cluster says has to hang together: recorded answers, each tampered with in what is free, are differences."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.compare.lawful import Laws, watch_complaints
from lifecycle.compare.observations import Observations, observations_of
from lifecycle.compare.scenarios import compare_observations
from lifecycle.inspector import open_recording


@cache
def recorded(name: str, scenario: str) -> Observations:
    return observations_of(open_recording(name), scenario)


def of(exchanges: Sequence[Any], kind: str) -> list[Object]:
    """All recorded objects of a kind, in the order of the answers."""
    lists = [e.response for e in exchanges if isinstance(e.response, dict) and e.response.get("kind") == f"{kind}List"]
    return [item for each in lists for item in each["items"]]


def wherever(exchanges: Sequence[Any], kind: str, change: Callable[[Object], None]) -> None:
    """The first of them, in each answer in which it is."""
    name = of(exchanges, kind)[0]["metadata"]["name"]
    for each in of(exchanges, kind):
        if each["metadata"]["name"] == name:
            change(each)


def backwards(exchanges: Sequence[Any]) -> None:
    seen = [each["metadata"] for each in of(exchanges, "Pod")]
    again = next(each for each in seen[::-1] if sum(each["uid"] == other["uid"] for other in seen) > 1)
    again["resourceVersion"] = "2"


def everywhere_else(pod: Object) -> None:
    other = "10.244.2.77" if pod["status"]["podIP"].startswith("10.244.1.") else "10.244.1.77"
    pod["status"] |= {"podIP": other, "podIPs": [{"ip": other}]}


def set_at(*path: Any, value: Any) -> Callable[[Object], None]:
    def change(obj: Object) -> None:
        for key in path[:-1]:
            obj = obj[key]
        obj[path[-1]] = value

    return change


LONG_AGO, FAR_AWAY = "2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z"
TAMPERED: dict[str, tuple[str, Callable[[Sequence[Any]], None]]] = {
    "a revision that goes back": ("journey", backwards),
    "an object newer than its list": (
        "journey", lambda each: wherever(each, "Deployment", set_at("metadata", "resourceVersion", value="99999999"))
    ),
    "a pod that was started before it was made": (
        "journey", lambda each: wherever(each, "Pod", set_at("status", "startTime", value=LONG_AGO))
    ),
    "a container that was started before its pod was made": ("journey", lambda each: wherever(each, "Pod", set_at(
        "status", "containerStatuses", 0, "state", "running", "startedAt", value=LONG_AGO))),
    "a condition from before": ("journey", lambda each: wherever(each, "Deployment", set_at(
        "status", "conditions", 0, "lastTransitionTime", value=LONG_AGO))),
    "written before it was made": ("journey", lambda each: wherever(each, "Deployment", set_at(
        "metadata", "managedFields", -1, "time", value=LONG_AGO))),
    "made after all that was done to it": (
        "journey", lambda each: wherever(each, "Deployment", set_at("metadata", "creationTimestamp", value=FAR_AWAY))
    ),
    "seen last before it was seen first": (
        "journey", lambda each: wherever(each, "Event", set_at("lastTimestamp", value=LONG_AGO))
    ),
    "seen once, a second later as well": ("journey", lambda each: wherever(each, "Event", lambda event: event.update(
        count=1, lastTimestamp=FAR_AWAY))),
    "an event named after another time": ("journey", lambda each: wherever(each, "Event", lambda event: event["metadata"].update(
        name=event["metadata"]["name"].rpartition(".")[0] + ".1111111111111111"))),
    "an address that is another node's to give": ("journey", lambda each: wherever(each, "Pod", everywhere_else)),
}  # fmt: skip


@pytest.mark.parametrize("name", ["kind-1.36.2", "kind-1.36.2-again", "bare-1.36.2", "bare-1.20.2"])
def test_what_was_recorded_hangs_together(name: str) -> None:
    recording = open_recording(name)
    asked = 0
    for scenario in set(recording.scenarios()) & {"journey", "services", "scheduling", "storage", "quotas"}:
        observed = recorded(name, scenario)
        laws = Laws(observed.placements().nodes)
        for exchange in observed.exchanges:
            assert laws.broken_by(exchange.response, fresh="resourceVersion=" not in exchange.path) == []
            asked += 1
    assert asked > 20


@cache
def honest(scenario: str) -> list[str]:
    """What does not hang together in what nobody has touched."""
    ours, theirs = (replace(recorded(name, scenario), lines=()) for name in ("kind-1.36.2", "kind-1.36.2-again"))
    found = compare_observations(scenario, ours, theirs, "us", "them")
    return [str(each) for _, each in found.unexplained if "(by itself)" in each.path]


@pytest.mark.parametrize("what", TAMPERED)
def test_what_does_not_hang_together_is_a_difference(what: str) -> None:
    scenario, tamper = TAMPERED[what]
    theirs = recorded("kind-1.36.2-again", scenario)
    ours = recorded("kind-1.36.2", scenario)
    tampered = replace(ours, exchanges=copy.deepcopy(list(ours.exchanges)), lines=())
    tamper(tampered.exchanges)
    laws = Laws(ours.placements().nodes)
    assert [words for each in tampered.exchanges for words in laws.broken_by(each.response)]
    found = compare_observations(scenario, tampered, replace(theirs, lines=()), "us", "them")
    by_itself = [str(each) for _, each in found.unexplained if "(by itself)" in each.path]
    assert by_itself
    assert honest(scenario) == []


def lines() -> list[Object]:
    return copy.deepcopy(list(recorded("kind-1.36.2", "journey").lines))


def modified(told: list[Object]) -> int:
    return next(i for i, each in enumerate(told) if each["event"]["type"] == "MODIFIED")


WATCHED: dict[str, Callable[[list[Object]], Any]] = {
    "an error in between": lambda told: told.insert(9, {**told[8], "event": {"type": "ERROR", "object": {"kind": "Status"}}}),
    "added again": lambda told: told[modified(told)]["event"].update(type="ADDED"),
    "modified, and never added": lambda told: told[0]["event"].update(type="MODIFIED"),
    "told twice": lambda told: told.insert(modified(told), copy.deepcopy(told[modified(told)])),
    "a revision that goes back": lambda told: told[modified(told)]["event"]["object"]["metadata"].update(resourceVersion="1"),
    "on another resource's watch": lambda told: told[modified(told)].update(path="/api/v1/nodes"),
}  # fmt: skip


@pytest.mark.parametrize("what", WATCHED)
def test_a_watch_that_nobody_can_follow_is_a_difference(what: str) -> None:
    told = lines()
    assert watch_complaints(told) == []
    WATCHED[what](told)
    assert watch_complaints(told)
