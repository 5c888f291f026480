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


MADE, BEFORE, AFTER = "2026-11-21T01:00:05Z", "2026-11-21T01:00:04Z", "2026-11-21T01:00:06Z"
NODES = {"n": {"spec": {"podCIDRs": ["10.244.1.0/24", "fd00::/64"]}}, "without": {"spec": {}}}


def an(kind: str, *, by: str = "kubelet", written: str | None = None, **parts: Any) -> Object:
    """An object made at `MADE`; `by`: who wrote to it last, and when."""
    more = parts.pop("metadata", {})
    metadata = {"name": "x", "creationTimestamp": MADE, "managedFields": [{"manager": by, "time": written}], **more}
    return {"kind": kind, "metadata": metadata, **parts}


def a_pod_at(*ips: str, **spec: Any) -> Object:
    return an("Pod", spec={"nodeName": "n", **spec}, status={"podIPs": [{"ip": ip} for ip in ips]})


def a_container(where: str, state: str, **times: str) -> dict[str, Any]:
    return {"status": {"containerStatuses": [{where: {state: times}}]}}


def an_event(nanoseconds: int | str, **times: Any) -> Object:
    suffix = nanoseconds if isinstance(nanoseconds, str) else f"{nanoseconds:x}"
    return {"kind": "Event", "metadata": {"name": f"x.{suffix}"}, **times}


AT_MADE = 1_795_222_805 * 10**9
"""`MADE`, as the names of Events tell it."""
STRANGE = "Pod x has an address that its node does not give: "
EARLY = "{} x has a {} from before it was made"


@pytest.mark.parametrize(
    ("obj", "complaints"),
    [
        (a_pod_at("10.244.1.7", "fd00::7"), []),
        (a_pod_at("10.244.1.7", "10.244.2.7", "fd01::7"), [f"{STRANGE}10.244.2.7", f"{STRANGE}fd01::7"]),
        (a_pod_at("192.0.2.1", hostNetwork=True), []),
        (a_pod_at("192.0.2.1", nodeName="without"), []),
        (a_pod_at("192.0.2.1", nodeName="unknown"), []),
        (an("Pod", metadata={"deletionTimestamp": MADE}), []),
        (an("Lease", metadata={"deletionTimestamp": BEFORE}), [EARLY.format("Lease", "deletionTimestamp")]),
        # an entry is stamped a moment before the object is, so it may be of the second before, and no earlier
        (an("Lease", written=BEFORE), []),
        (an("Lease", written="2026-11-21T01:00:03Z"), [EARLY.format("Lease", "managedFields")]),
        (an("Lease", written="2026-11-21T01:00:03Z", by="kubectl-create"), []),
        (an("Pod", status={"startTime": MADE}), []),
        (an("Pod", status={"startTime": BEFORE}), [EARLY.format("Pod", "startTime")]),
        (an("Pod", status={"startTime": BEFORE}, by="kubectl-create"), []),
        (an("Pod", status={"startTime": BEFORE}, metadata={"annotations": {"kubernetes.io/config.mirror": ""}}), []),
        (an("Pod", **a_container("state", "running", startedAt=BEFORE)), [EARLY.format("Pod", "container startedAt")]),
        (
            an("Pod", **a_container("lastState", "terminated", startedAt=MADE, finishedAt=BEFORE)),
            [EARLY.format("Pod", "container finishedAt"), "Pod x has a container that ended before it started"],
        ),
        (an("Pod", **a_container("state", "terminated", startedAt=AFTER, finishedAt=AFTER)), []),
        (an("Pod", **a_container("state", "terminated", startedAt="1970-01-01T00:00:00Z", finishedAt=AFTER)), []),
        *(
            (
                an(kind, by=by, status={"conditions": [{"type": "Ready", "lastTransitionTime": BEFORE}]}),
                [EARLY.format(kind, "condition Ready")] if told else [],
            )
            for kind, by, told in (
                ("Pod", "kubelet", True), ("Pod", "kubectl", False), ("Deployment", "kubectl", True),
                ("ReplicaSet", "kubectl", True), ("Node", "kubelet", False),
            )
        ),
        (an_event(AT_MADE, firstTimestamp=MADE, lastTimestamp=MADE, count=1), []),
        (an_event(AT_MADE, firstTimestamp=MADE, lastTimestamp=AFTER, count=2), []),
        (
            an_event(AT_MADE, firstTimestamp=MADE, lastTimestamp=AFTER, count=1),
            ["Event x.{} was seen once, and at two times"],
        ),
        (
            an_event(AT_MADE, firstTimestamp=MADE, lastTimestamp=BEFORE, count=1),
            ["Event x.{} was seen last before it was seen first"],
        ),
        (an_event(AT_MADE + 10**9 - 1, eventTime="2026-11-21T01:00:05.123456Z"), []),
        (an_event(AT_MADE + 10**9, eventTime=MADE), ["Event x.{} is named after another time than its own"]),
        (an_event(AT_MADE), []),
        (an_event("not a hexadecimal", firstTimestamp=MADE), []),
        (an_event("of 16 characters", firstTimestamp=MADE), []),
        (an_event("1", firstTimestamp=MADE), []),
    ],
)  # fmt: skip
def test_each_law_tells_in_its_words_what_breaks_it_and_nothing_else(obj: Object, complaints: list[str]) -> None:
    suffix = obj["metadata"]["name"].rpartition(".")[2]
    assert Laws(NODES).broken_by(obj) == [each.format(suffix) for each in complaints]


def test_a_revision_goes_on_in_each_object_by_itself_and_not_beyond_its_list() -> None:
    laws = Laws()

    def revision(number: str, uid: str = "1", *, of_list: str = "", fresh: bool = True) -> list[str]:
        obj = {"kind": "Secret", "metadata": {"name": "x", "uid": uid, "resourceVersion": number}}
        answer = {"kind": "SecretList", "metadata": {"resourceVersion": of_list}, "items": [obj]} if of_list else obj
        return laws.broken_by(answer, fresh=fresh)

    assert revision("7") == revision("7") == revision("3", "2") == []
    assert revision("6") == ["Secret x has gone back to an older revision"]
    assert revision("6", fresh=False) == [], "from a cache, which may be behind"
    assert revision("7") == []
    assert revision("") == [], "a part of it tells none"
    assert revision("8", of_list="8") == revision("8", of_list="10") == []
    assert revision("9", of_list="8") == ["Secret x is newer than the list that it is in"]
    assert laws.broken_by(["no object"]) == []
    for number in ("9", "8"):
        nobody = {"kind": "Secret", "metadata": {"name": "x", "resourceVersion": number}}
        assert laws.broken_by(nobody) == [], "without a uid it may be another one"


def test_a_watch_is_told_apart_by_path_and_uid_and_its_breaches_by_words() -> None:
    def told(change: str, revision: str = "", uid: str = "1", path: str = "/api/v1/pods?watch=1") -> Object:
        meta = {"name": "x", "uid": uid, "resourceVersion": revision}
        return {"path": path, "event": {"type": change, "object": {"kind": "Pod", "metadata": meta}}}

    whole = [told("ADDED", "3"), told("BOOKMARK", "9"), told("MODIFIED", "4"), told("DELETED", "5")]
    assert watch_complaints([*whole, told("ADDED", "6"), told("ADDED", "2", "2")]) == []
    again = told("MODIFIED", "4", path="/api/v1/pods?watch=1&resourceVersion=3")
    assert watch_complaints([told("ADDED", "3"), again]) == [], "the same watch goes on"
    for lines, words in (
        ([told("ADDED", "3"), told("MODIFIED", "3")], "Pod x: MODIFIED at no later revision"),
        ([told("ADDED", "3"), told("DELETED", "2")], "Pod x: DELETED at no later revision"),
        ([told("ADDED", "3"), told("ADDED", "4")], "Pod x: ADDED, out of turn"),
        ([*whole, told("MODIFIED", "6")], "Pod x: MODIFIED, out of turn"),
        ([told("ERROR"), *whole], "ERROR at /api/v1/pods"),
    ):
        assert watch_complaints(lines) == [("Pod", words)]
