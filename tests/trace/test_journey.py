"""Which spans belong to a journey, span by span."""

from __future__ import annotations

import re
from typing import Any

import pytest

from lifecycle.api.tracing import Span, span
from lifecycle.trace import SpanRecorder
from lifecycle.trace.colours import COLOURS, colour_of
from lifecycle.trace.journey import STAGES, Journey, Step, journey_of


class Spans(list[Span]):
    """Spans one second apart; `add` answers the id."""

    def add(self, component: str, name: str, parent: int = 0, lasts: float = 0.5, **attributes: Any) -> int:
        number = len(self) + 1
        at = 100.0 + number
        self.append(Span(number, parent, component, name, at, at + lasts, attributes))
        return number


def txn(spans: Spans, key: str, uid: str = "", owner: str = "", parent: int = 0) -> int:
    given = {"uid": uid, "owner_uid": owner}
    return spans.add(
        "etcd", "txn", parent, key=f"/registry/{key}", **{name: value for name, value in given.items() if value}
    )


def about(journey: Journey) -> list[str]:
    return [step.about for step in journey.steps]


def test_who_is_owned_by_uid_or_named_after_its_owner_belongs():
    spans = Spans()
    txn(spans, "deployments/ns/web", "d1")
    txn(spans, "replicasets/ns/web-1", "r1", "d1")
    txn(spans, "pods/ns/web-1-a")
    txn(spans, "pods/ns/web-1-b", "p2")
    txn(spans, "replicasets/ns/web-2")
    for stranger in (
        "pods/ns/web-3-a", "pods/ns/web-1", "pods/ns/web-10-a", "pods/other/web-1-a", "replicasets/ns/webs-1",
        "replicasets/ns/web", "configmaps/ns/web-1-a", "deployments/ns/web-1",
    ):  # fmt: skip
        txn(spans, stranger, stranger)
    spans.add("kubelet", "status", key="/registry/pods/ns/web-1-c")  # only what is stored is known by its name
    assert about(journey_of(spans, "d1")) == [
        "deployments/ns/web", "replicasets/ns/web-1", "pods/ns/web-1-a", "pods/ns/web-1-b", "replicasets/ns/web-2",
    ]  # fmt: skip


def test_owners_that_come_after_what_they_own_are_met_in_another_round():
    spans = Spans()
    txn(spans, "pods/ns/x", "p1", "r1")
    txn(spans, "replicasets/ns/y", "r1", "d1")
    txn(spans, "deployments/ns/web", "d1")
    assert about(journey_of(spans, "d1")) == ["pods/ns/x", "replicasets/ns/y", "deployments/ns/web"]


@pytest.mark.parametrize(
    ("component", "key"),
    [
        ("deployment-controller", "ns/web"),
        ("replicaset-controller", "ns/web-1"),
        ("scheduler", "ns/web-1-a"),
        ("kubelet", "ns/web-1-a"),
    ],
)
def test_work_is_known_by_the_key_of_its_components_kind(component, key):
    spans = Spans()
    txn(spans, "deployments/ns/web", "d1")
    txn(spans, "replicasets/ns/web-1", "r1", "d1")
    txn(spans, "pods/ns/web-1-a", "p1", "r1")
    keys = ("ns/web", "ns/web-1", "ns/web-1-a")
    for each in keys:
        spans.add(component, "sync", key=each)
    spans.add("somebody", "sync", key=key)
    steps = journey_of(spans, "d1").of(component)
    assert [step.about for step in steps] == [key]


def test_work_is_known_by_uid_and_by_its_owners_uid():
    spans = Spans()
    spans.add("kubelet", "sync_pod", uid="d1")
    spans.add("kubelet", "volume", owner_uid="d1", plugin="one")
    spans.add("kubelet", "sync_pod", uid="d2")
    assert [step.stage for step in journey_of(spans, "d1").steps] == ["sync_pod", "volume"]


def test_the_whole_request_around_a_member_belongs_and_other_work_around_it_does_not():
    spans = Spans()
    command = spans.add("kubectl", "create", argv="create deployment web", lasts=50)
    loop = spans.add("somebody", "loop", command, lasts=40)
    request = spans.add("apiserver", "request", loop, method="POST", path="/apis", lasts=30)
    spans.add("apiserver", "authentication", request)
    storage = spans.add("apiserver", "storage", request, lasts=5)
    txn(spans, "deployments/ns/web", "d1", parent=storage)
    other = spans.add("apiserver", "request", method="GET", path="/api")
    txn(spans, "deployments/ns/other", "d2", parent=other)
    journey = journey_of(spans, "d1")
    assert [(step.stage, step.depth, step.about) for step in journey.steps] == [
        ("create", 0, "create deployment web"),
        ("loop", 1, ""),
        ("request", 2, "POST /apis"),
        ("authentication", 3, ""),
        ("storage", 3, ""),
        ("txn", 4, "deployments/ns/web"),
    ]
    assert journey.title == "deployments/ns/web"
    assert journey_of(spans, "d1", title="mine").title == "mine"
    alone = Spans(found for found in spans if found.id > loop)
    assert [step.depth for step in journey_of(alone, "d1").steps] == [0, 1, 1, 2]


def test_a_span_around_a_member_that_is_no_request_is_left_out():
    spans = Spans()
    loop = spans.add("apiserver", "loop", lasts=40)
    watch = spans.add("somebody", "request", loop, lasts=30)
    txn(spans, "deployments/ns/web", "d1", parent=watch)
    assert [step.stage for step in journey_of(spans, "d1").steps] == ["txn"]


def test_steps_begin_at_zero_the_longer_first_and_the_journey_lasts_to_the_last_end():
    spans = Spans()
    spans.append(Span(1, 0, "kubelet", "short", 5.0, 6.0, {"uid": "d1"}))
    spans.append(Span(2, 0, "kubelet", "long", 5.0, 9.0, {"uid": "d1"}))
    spans.append(Span(3, 0, "kubelet", "late", 6.0, 7.5, {"uid": "d1"}))
    journey = journey_of(spans, "d1")
    assert [(step.stage, step.start, step.end, step.duration) for step in journey.steps] == [
        ("long", 0.0, 4.0, 4.0), ("short", 0.0, 1.0, 1.0), ("late", 1.0, 2.5, 1.5)
    ]  # fmt: skip
    assert (journey.duration, journey.title, journey.provenance) == (4.0, "uid d1", "the embedded cluster")
    assert Journey("none", ()).duration == 0.0


def test_what_a_step_is_about_is_an_object_a_plugin_a_command_or_a_request():
    spans = Spans()
    for given in ({"key": "k"}, {"plugin": "p"}, {"argv": "a"}, {"path": "/x"}, {"method": "GET", "path": "/x"}, {}):
        spans.add("kubelet", "work", uid="d1", **given)
    spans.add("kubelet", "work", uid="d1", key="k", plugin="p", argv="a")
    assert about(journey_of(spans, "d1")) == ["k", "p", "a", " /x", "GET /x", "", "k"]
    assert journey_of(spans, "d1").steps[0].attributes == {"uid": "d1", "key": "k"}


def test_rows_stand_in_the_order_a_request_meets_them_and_strangers_at_the_end():
    known = [(component, stage) for component, stages in STAGES.items() for stage in stages]
    strange = [("apiserver", "zeal"), ("zoo", "a"), ("zoo", "b"), ("aviary", "z")]
    steps = [Step(component, stage, 0.0, 1.0) for component, stage in reversed(known + strange)]
    rows = Journey("all", (*steps, *steps)).rows()
    storage = known.index(("apiserver", "storage")) + 1
    assert rows == [
        *known[:storage], ("apiserver", "zeal"), *known[storage:], ("aviary", "z"), ("zoo", "a"), ("zoo", "b")
    ]  # fmt: skip


def test_components_and_stages_are_those_that_report_spans():
    assert list(STAGES) == list(COLOURS)
    assert list(STAGES) == [
        "kubectl", "apiserver", "etcd", "deployment-controller", "replicaset-controller", "scheduler", "kubelet"
    ]  # fmt: skip
    assert STAGES["apiserver"] == (
        "request", "authentication", "audit", "impersonation", "flow control", "authorization", "decode",
        "mutating admission", "validation", "validating admission", "admission", "storage",
    )  # fmt: skip
    assert (STAGES["etcd"], STAGES["deployment-controller"]) == (("txn",), ("sync",))
    assert STAGES["replicaset-controller"] == ("sync",)
    assert STAGES["scheduler"] == ("schedule", "schedule_one", "bind")
    assert STAGES["kubelet"] == (
        "sync_pod", "run_pod_sandbox", "start_container", "pull", "create", "start", "status"
    )  # fmt: skip


def test_each_component_has_a_colour_of_its_own_and_a_stranger_always_the_same():
    known = [colour_of(component) for component in STAGES]
    assert known == list(COLOURS.values())
    assert len(set(known)) == len(known)
    strangers = [colour_of(name) for name in "abcd"]
    assert [colour_of(name) for name in "efgh"] == strangers
    assert len(set(strangers)) == 4
    assert not set(strangers) & set(known)
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in known + strangers)


def test_a_tenth_is_forgotten_when_the_memory_is_full():
    with SpanRecorder(limit=50) as recorder:
        for number in range(51):
            with span("a", str(number)):
                pass
    assert [found.name for found in recorder.spans] == [str(number) for number in range(5, 51)]


def test_a_recorder_that_never_listened_can_end():
    recorder = SpanRecorder()
    recorder.__exit__(None, None, None)
    assert recorder.spans == []
