"""What watchers saw, as a partial order: what one side lacks is a difference, and what may differ is bounded."""

from __future__ import annotations

import copy
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.compare import Comparison
from lifecycle.compare.held import compare_held
from lifecycle.compare.masked import optional_rule
from lifecycle.compare.rollout_steps import soften_steps
from lifecycle.compare.rollouts import STEPS, Rollouts
from lifecycle.compare.watch_freedoms import COUNTS, EARLY, TRIGGERS, WAYS
from lifecycle.compare.watches import compare_watches
from lifecycle.inspector import open_recording

SETTLED = [10.0, 20.0]
UID = "aaaaaaaa-1111-4222-8333-{:012d}"


def line(t: float, change: str, obj: Object) -> Object:
    return {"t": t, "path": "/", "event": {"type": change, "object": copy.deepcopy(obj)}}


def deployment(replicas: int = 4, available: int = 4, **status: int) -> Object:
    rolling = {"maxSurge": "25%", "maxUnavailable": "25%"}
    counts = {"replicas": replicas, "availableReplicas": available, **status}
    return {
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "uid": UID.format(0)},
        "spec": {"replicas": replicas, "strategy": {"rollingUpdate": rolling}},
        "status": counts,
    }


def replica_set(name: str, replicas: int, generation: int, **status: int) -> Object:
    owner = {"kind": "Deployment", "name": "web", "uid": UID.format(0), "controller": True}
    metadata = {"name": f"web-{name}", "namespace": "shop", "uid": UID.format(ord(name)), "generation": generation}
    return {
        "kind": "ReplicaSet",
        "metadata": {**metadata, "ownerReferences": [owner]},
        "spec": {"replicas": replicas},
        "status": {"replicas": replicas, **status},
    }


def pods(count: int) -> list[Object]:
    """So many pods of one ReplicaSet, made and deleted within one segment."""
    lines = []
    for number in range(count):
        pod = {
            "kind": "Pod",
            "metadata": {"name": f"web-747d4c55d8-{'bcdfg'[number % 5]}{'hjklm'[number // 5 % 5]}{'nn' if number < 25 else 'pp'}z",
                         "generateName": "web-747d4c55d8-", "namespace": "shop", "uid": UID.format(100 + number)},
            "spec": {"containers": []},
            "status": {"phase": "Pending"},
        }  # fmt: skip
        lines += [line(11 + number / 100, "ADDED", pod), line(15 + number / 100, "DELETED", pod)]
    return sorted(lines, key=lambda each: each["t"])


def compared(ours: list[Object], theirs: list[Object]) -> Comparison:
    whole = Comparison()
    for comparison in compare_watches(ours, theirs, SETTLED, SETTLED).values():
        whole += comparison
    return whole


def story(*statuses: Object) -> list[Object]:
    return [line(11 + t / 10, "MODIFIED" if t else "ADDED", obj) for t, obj in enumerate(statuses)]


def test_forty_pods_where_three_were_are_thirty_seven_differences() -> None:
    assert compared(pods(3), pods(3)).agrees
    assert len(compared(pods(40), pods(3)).differences) == 37
    assert len(compared(pods(3), pods(40)).differences) == 37


def test_an_object_that_only_one_side_has_is_a_difference() -> None:
    assert len(compared(story(deployment()), []).differences) == 1


@pytest.mark.parametrize(
    ("values", "granted"),
    [
        ([4, 3, 4, 5, 4], {COUNTS: 1}),  # within 4 + 1 and 4 - 1
        ([4, 7, 4], {COUNTS: 1}),  # one status a step of two behind
        ([4, 2, 4], None),
        ([4, 8, 4], None),
        ([4, 40, 4], None),
        ([4, 3], None),  # another end
        ([3, 4], None),  # another beginning
    ],
)
def test_a_deployments_counts_stay_between_what_surge_and_unavailable_allow(
    values: list[int], granted: dict[str, int] | None
) -> None:
    ours = story(*(deployment(available=value) for value in values))
    found = compared(ours, story(*(deployment(available=value) for value in (4, 3, 4))))
    assert (dict(found.freedoms) if found.agrees else None) == granted


@pytest.mark.parametrize(
    ("values", "granted"), [([0, 2, 4], {STEPS: 1}), ([0, 4, 2, 4], None), ([0, 40, 4], None), ([0, 3], None)]
)
def test_a_replica_sets_counts_only_rise_or_only_fall(values: list[int], granted: dict[str, int] | None) -> None:
    ours = story(*(replica_set("a", 4, 1, readyReplicas=value) for value in values))
    found = compared(ours, story(*(replica_set("a", 4, 1, readyReplicas=value) for value in (0, 1, 2, 3, 4))))
    assert (dict(found.freedoms) if found.agrees else None) == granted


@pytest.mark.parametrize(("values", "agrees"), [([0, 1, 0, 3, 0], True), ([0, 40, 0], False), ([0, 3], False)])
def test_terminating_pods_are_not_more_than_were_asked_for(values: list[int], agrees: bool) -> None:
    ours = story(*(replica_set("a", 4, 1, terminatingReplicas=value) for value in values))
    found = compared(ours, story(*(replica_set("a", 4, 1, terminatingReplicas=value) for value in (0, 2, 0))))
    assert found.agrees is agrees


def endpoints(*ready: bool) -> list[Object]:
    entry: Object = {"addresses": ["10.0.0.7"], "conditions": {"ready": True}}
    metadata = {"name": "web", "namespace": "shop", "uid": UID.format(5)}
    slices: list[Object] = [{"kind": "EndpointSlice", "metadata": metadata, "endpoints": []}]
    slices += [{**slices[0], "endpoints": [{**entry, "conditions": {"ready": each}}]} for each in ready]
    return story(*slices)


def test_an_endpoint_may_be_written_down_before_it_is_ready_and_nothing_else() -> None:
    early = compared(endpoints(False, True), endpoints(True))
    assert early.agrees
    assert early.freedoms == {EARLY: 1}
    assert not compared(endpoints(True, False, True), endpoints(True)).agrees
    assert not compared(endpoints(False), endpoints(True)).agrees
    assert not compared(endpoints(), endpoints(True)).agrees


def updates(*times: bool, pods: int) -> list[Object]:
    """A slice that so many pods come into, by updates with a trigger time (True) and without; it begins with one."""
    metadata = {"name": "web", "namespace": "shop", "uid": UID.format(5)}
    told = {"endpoints.kubernetes.io/last-change-trigger-time": "2026-01-01T00:00:00Z"}
    slices: list[Object] = []
    for number, time in enumerate((True, *times)):
        entries = [{"addresses": [f"10.0.0.{each}"]} for each in range(min(number, pods))]
        slices.append({"kind": "EndpointSlice", "metadata": {**metadata, **({"annotations": told} if time else {})},
                       "endpoints": entries})  # fmt: skip
    return [line(9, "ADDED", slices[0]), *story(*slices[1:])]


@pytest.mark.parametrize(
    ("ours", "pods", "granted"),
    [
        ((False, True, False, True), 3, {TRIGGERS: 1}),
        ((True, False, True, True), 3, {TRIGGERS: 1}),
        ((False, True, False, True, False, True, False, True), 3, None),  # more than there were pods
        ((True, True, True, True), 3, None),  # no update without
        ((False, True, False), 2, None),  # another end
        ((False, False, False, True), 0, None),  # nobody came
    ],
)
def test_there_are_not_more_trigger_times_than_pods_that_became_ready(
    ours: tuple[bool, ...], pods: int, granted: dict[str, int] | None
) -> None:
    theirs = updates(False, True, False, True, False, True, pods=3)
    found = compare_watches(updates(*ours, pods=pods), theirs, SETTLED, SETTLED)
    annotations = [d for each in found.values() for d in each.differences if "trigger-time" in d.path]
    freedoms = found["EndpointSlice"].freedoms
    assert ({TRIGGERS: freedoms[TRIGGERS]} if not annotations else None) == granted


@pytest.mark.parametrize(("lawful", "numbers", "agrees"), [
    (True, (1, 2, 3, 4), True), (False, (1, 2, 3, 4), False), (True, (1, 2, 1), False), (True, (1, 1), True),
])  # fmt: skip
def test_generations_differ_only_in_lawful_rollouts_and_only_rise(
    lawful: bool, numbers: tuple[int, ...], agrees: bool
) -> None:
    ours = story(*(replica_set("a", 4, number) for number in numbers))
    theirs = story(*(replica_set("a", 4, number) for number in (1, 2, 3)))
    found = compare_watches(ours, theirs, SETTLED, SETTLED, lawful=lawful)
    assert found["ReplicaSet"].agrees is agrees


@cache
def recorded() -> tuple[list[Object], list[Object], Any]:
    recordings = [open_recording(name) for name in ("kind-1.36.2", "kind-1.36.2-again")]
    ours, theirs = (list(each.watch("journey")) for each in recordings)
    first: dict[str, float] = {}
    for exchange in recordings[0].exchanges("journey"):
        first.setdefault(exchange.moment, exchange.t)
    return ours, theirs, recordings


def test_a_recorded_pod_that_skips_a_state_is_a_difference() -> None:
    """Every pod is seen waiting for its container; one that is running at once is not the same."""
    lines, _, (recording, _) = recorded()
    moments = sorted({e.moment: e.t for e in reversed(recording.exchanges("journey")) if e.moment}.values())
    name = next(each["event"]["object"]["metadata"]["name"] for each in lines if is_pod(each))
    kept = [each for each in lines if not (is_pod(each) and named(each) == name and waiting(each))]
    assert len(kept) < len(lines)
    whole = Comparison()
    for comparison in compare_watches(kept, lines, moments, moments).values():
        whole += comparison
    assert whole.differences


def is_pod(each: Object) -> bool:
    return (each["event"].get("object") or {}).get("kind") == "Pod" and each["event"]["type"] != "BOOKMARK"


def named(each: Object) -> str:
    return str(each["event"]["object"]["metadata"].get("name"))


def waiting(each: Object) -> bool:
    statuses = each["event"]["object"]["status"].get("containerStatuses") or ()
    return any("waiting" in status["state"] for status in statuses)


def test_every_way_that_may_differ_has_its_bound_here() -> None:
    assert set(WAYS) == {COUNTS, STEPS, EARLY, TRIGGERS, "container start retried"}


# -- the arithmetic of a rollout ------------------------------------------------------------------


def rollout(*steps: tuple[str, int]) -> list[Object]:
    """A Deployment of four, 25 % of surge and unavailable: from ReplicaSet a to b."""
    generations = {"a": 1, "b": 0}
    lines = [line(1, "ADDED", deployment()), line(2, "ADDED", replica_set("a", 4, 1))]
    for t, (name, replicas) in enumerate(steps, 3):
        generations[name] += 1
        change = "MODIFIED" if generations[name] > 1 else "ADDED"
        lines.append(line(t, change, replica_set(name, replicas, generations[name])))
    return lines


LAWFUL = [
    (("b", 1), ("a", 3), ("b", 2), ("a", 2), ("b", 3), ("a", 1), ("b", 4), ("a", 0)),
    (("b", 1), ("a", 2), ("b", 3), ("a", 0), ("b", 4)),
]
UNLAWFUL = {
    "surge ignored: all at once": (("b", 4), ("a", 0)),
    "surge ignored: none": (("b", 0), ("a", 3), ("b", 1)),
    "room left": (("b", 1), ("a", 2), ("b", 2)),
    "too few left": (("b", 1), ("a", 0), ("b", 4)),
}


@pytest.mark.parametrize("steps", LAWFUL)
def test_a_lawful_rollout_may_take_other_steps(steps: tuple[tuple[str, int], ...]) -> None:
    assert Rollouts.of(rollout(*steps), ()).complaints == []


@pytest.mark.parametrize("steps", UNLAWFUL.values(), ids=UNLAWFUL)
def test_a_step_that_breaks_the_arithmetic_is_a_difference(steps: tuple[tuple[str, int], ...]) -> None:
    lawful, broken = Rollouts.of(rollout(*LAWFUL[0]), ()), Rollouts.of(rollout(*steps), ())
    assert compare_held(lawful, lawful).agrees
    assert not compare_held(broken, lawful).agrees
    assert not compare_held(lawful, broken).agrees


def test_a_generation_counts_writes_of_the_spec() -> None:
    lines = rollout(*LAWFUL[0])
    lines[-1]["event"]["object"]["metadata"]["generation"] += 1
    assert len(Rollouts.of(lines, ()).complaints) == 1


def test_fewer_available_than_wanted_is_a_complaint() -> None:
    lines = rollout(*LAWFUL[0])
    assert len(Rollouts.of([*lines, line(90, "MODIFIED", deployment(available=2))], ()).complaints) == 1


def test_recorded_rollouts_keep_to_the_arithmetic_and_a_step_told_but_not_seen_does_not() -> None:
    ours, theirs, recordings = recorded()
    for lines, recording in zip((ours, theirs), recordings, strict=True):
        held = Rollouts.of(lines, recording.exchanges("journey"))
        assert held.complaints == []
        assert held.checks > 200
    unseen = [each for each in ours if not (
        (each["event"].get("object") or {}).get("kind") == "ReplicaSet"
        and each["event"]["object"]["spec"]["replicas"] == 2
    )]  # fmt: skip
    assert Rollouts.of(unseen, recordings[0].exchanges("journey")).complaints


def told(*messages: str, count: int = 1) -> list[Any]:
    items = [{"reason": "ScalingReplicaSet", "message": message, "count": count, "metadata": {"name": f"e{i}"}}
             for i, message in enumerate(messages)]  # fmt: skip
    return [SimpleNamespace(response={"kind": "EventList", "items": items})]


STEPS_TOLD = [f"Scaled {way} replica set web-{name} from {before} to {now}" for way, name, before, now in (
    ("up", "a", 0, 4), ("up", "b", 0, 1), ("down", "a", 4, 2), ("up", "b", 1, 3), ("down", "a", 2, 0), ("up", "b", 3, 4)
)]  # fmt: skip


def test_every_step_is_told_or_lost_among_those_that_were_put_together() -> None:
    lines = rollout(*LAWFUL[1])
    assert Rollouts.of(lines, told(*STEPS_TOLD)).complaints == []
    assert Rollouts.of(lines, told(*STEPS_TOLD[1:])).complaints == ["1 steps nobody told, 0 may"]
    combined = f"(combined from similar events): {STEPS_TOLD[0]}"
    assert Rollouts.of(lines, told(*STEPS_TOLD[2:], combined)).complaints == []
    assert Rollouts.of(lines, told(*STEPS_TOLD[3:], combined)).complaints == ["2 steps nobody told, 1 may"]


def at_rest(generation: int, message: str, count: int = 1, reason: str = "ScalingReplicaSet") -> list[Object]:
    sets = {"kind": "ReplicaSetList", "items": [replica_set("b", 4, generation)]}
    event = {"reason": reason, "message": message, "count": count, "metadata": {"name": "web.1111111111111111"}}
    return [sets, {"kind": "EventList", "items": [event]}]


@pytest.mark.parametrize(
    ("ours", "free"),
    [
        (at_rest(3, STEPS_TOLD[3]), [True, True]),
        (at_rest(9, STEPS_TOLD[3]), [False, True]),  # a generation that nobody saw
        (at_rest(3, "Scaled up replica set web-b from 1 to 4"), [True, False]),  # a step that nobody saw
        (at_rest(3, STEPS_TOLD[3], count=2), [True, False]),  # more often than it was seen
        (at_rest(3, STEPS_TOLD[3], reason="FailedCreate"), [True, False]),
    ],
)
def test_what_is_at_rest_differs_only_by_steps_that_were_seen(ours: list[Object], free: list[bool]) -> None:
    rollouts = Rollouts.of(rollout(*LAWFUL[1]), told(*STEPS_TOLD))
    sets, events = (soften_steps(each, each, rollouts) for each in ours)
    generation = sets["items"][0]["metadata"]["generation"]
    assert [str(generation) == "<writes of the spec>", optional_rule(events["items"][0]) == STEPS] == free
    assert [soften_steps(each, each, None) for each in ours] == ours
