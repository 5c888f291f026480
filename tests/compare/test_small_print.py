"""The edges of the comparison: what an answer is as a document, keys that look alike, limits, steps and turns."""

from __future__ import annotations

import asyncio
import base64
import json
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.compare import AgreementTable, Normaliser, compare
from lifecycle.compare.compare import Comparison
from lifecycle.compare.documents import body_of, document_of
from lifecycle.compare.held import compare_held
from lifecycle.compare.html_text import html_text
from lifecycle.compare.masked import Masked, as_optional, count_leaves, optional_rule
from lifecycle.compare.normalise import _unique, normalise_all
from lifecycle.compare.observations import Observations
from lifecycle.compare.pairing import Bijection
from lifecycle.compare.placements import Placements
from lifecycle.compare.replay import compare_cluster
from lifecycle.compare.rollouts import Limits, Rollouts, step_of
from lifecycle.compare.scenarios import (
    add_rollouts,
    add_slow_starts,
    add_watches,
    align,
    compare_exchanges,
    compare_recordings,
    in_own_place,
)
from lifecycle.compare.slow_start import SlowStart
from lifecycle.compare.watch_freedoms import carried
from lifecycle.compare.watches import compare_watches
from lifecycle.inspector import Exchange, InspectorError, Recording
from lifecycle.inspector.scenario import Scenario, Step
from tests.compare.test_slow_start import log
from tests.compare.test_watches import (
    LAWFUL,
    SETTLED,
    UNLAWFUL,
    deployment,
    line,
    pods,
    replica_set,
    rollout,
    story,
    told,
)


def exchange(path: str, response: Any = None, status: int = 200, **more: Any) -> Exchange:
    told = {"n": 0, "t": 0.0, "ms": 1.0, "identity": "admin", "moment": "", "method": "GET", "content_type": "", "accept": "",
            "headers_sent": {}, "body": None, "headers": {}} | more  # fmt: skip
    return Exchange("s", path=path, response=response, status=status, **told)


@pytest.mark.parametrize(
    ("response", "accept", "body"),
    [
        ({"a": 1}, "", {"a": 1}), ("text", "", "text"), ("a: 1", "application/yaml", {"a": "1"}),
        ('{"type":"ADDED"}\n\n{"type":"BOOKMARK"}\n', "", {"events": [{"type": "ADDED"}, {"type": "BOOKMARK"}]}),
        ({"base64": base64.b64encode(b"no protobuf").decode()}, "", {"base64": base64.b64encode(b"no protobuf").decode()}),
        ({"base64": "x", "more": 1}, "", {"base64": "x", "more": 1}), (None, "", None),
    ],
)  # fmt: skip
def test_a_body_is_a_document_whatever_it_was_encoded_in(response: Any, accept: str, body: Any) -> None:
    assert body_of(response, accept) == body


def test_an_answer_is_its_code_its_body_and_the_headers_that_clients_heed() -> None:
    headers = {"warning": ["w"], "retry-after": "1", "content-type": "c", "audit-id": "x", "etag": "e"}
    assert document_of(exchange("/a", {"b": 1}, 429, headers=headers)) == {
        "code": 429, "warning": ["w"], "retry-after": "1", "content-type": "c", "body": {"b": 1}
    }  # fmt: skip
    assert document_of(exchange("/a", headers={"content-type": ""})) == {"code": 200, "body": None}


def test_keys_that_look_alike_are_numbered() -> None:
    taken: dict[str, Any] = {}
    key = Masked("<ip>", [], "10.0.0.1")
    for expected in ("<ip>", "<ip> #2", "<ip> #3"):
        unique = _unique(key, taken)
        assert unique == expected
        assert (unique.raw, unique.marks) == ("10.0.0.1", ())  # type: ignore[attr-defined]
        taken[unique] = None
    assert _unique("plain", {"plain": 1, "plain #2": 2}) == "plain #3"
    assert not isinstance(_unique("plain", {"plain": 1}), Masked)


def test_text_outside_of_any_document_is_normalised_too() -> None:
    uid = "aaaaaaaa-1111-4222-8333-444444444444"
    pod = {"kind": "Pod", "metadata": {"name": "p", "namespace": "n", "uid": uid}}
    normaliser = Normaliser().learn(pod)
    assert normaliser.text(f"/pods/{uid}/x at 2026-01-01T00:00:00Z") == "/pods/<uid of Pod n/p>/x at <time>"
    assert normaliser.counts == {"uids": 1, "times": 1}
    assert normaliser.text("nothing") == "nothing"
    shown, again = normalise_all(iter([pod, pod]))
    assert shown[0]["metadata"]["uid"] == "<uid of Pod n/p>"
    assert again.counts == {"uids": 2}
    assert normaliser.learn() is normaliser


@pytest.mark.parametrize(
    ("sentence", "page"), [("a `b<` c", "a <code>b&lt;</code> c"), ('a ` "b" & c', 'a ` "b" &amp; c'), ("``", "``")]
)
def test_a_sentence_on_a_page(sentence: str, page: str) -> None:
    assert html_text(sentence) == page


def test_optional_parts_are_optional_as_a_whole() -> None:
    whole = as_optional({"a": [1, {}], "b": "x"}, "rule")
    assert optional_rule(whole) == "rule"
    assert (str(whole["a"][0]), str(whole["a"][1]), whole["a"][1].raw, str(whole["b"])) == ("1", "{}", {}, "x")
    assert optional_rule({**whole, "c": 1}) == ""
    assert optional_rule({"a": as_optional(1, "one"), "b": as_optional(1, "two")}) == ""
    assert (optional_rule({}), optional_rule([]), optional_rule("x")) == ("", "", "")
    assert [count_leaves(value) for value in ({}, [], 1, {"a": [1, 2], "b": {}}, [[], [[3]]])] == [1, 1, 1, 3, 2]


@pytest.mark.parametrize(
    ("rolling", "replicas", "limits"),
    [
        ({"maxSurge": "25%", "maxUnavailable": "25%"}, 4, (5, 3)), ({"maxSurge": "25%", "maxUnavailable": "25%"}, 5, (7, 4)),
        ({"maxSurge": 1, "maxUnavailable": 0}, 3, (4, 3)), ({"maxSurge": 0, "maxUnavailable": 0}, 3, (3, 2)),
        ({}, 3, (3, 2)), ({"maxUnavailable": 9}, 3, (3, 0)), ({"maxSurge": "1%", "maxUnavailable": "1%"}, 3, (4, 3)),
    ],
)  # fmt: skip
def test_what_a_strategy_allows(rolling: dict[str, Any], replicas: int, limits: tuple[int, int]) -> None:
    assert Limits.of({"replicas": replicas, "strategy": {"rollingUpdate": rolling}}) == Limits(replicas, *limits)
    assert Limits.of({}) == Limits(1, 1, 0)
    assert Limits.of({"strategy": None, "replicas": 0}) == Limits(0, 0, 0)


@pytest.mark.parametrize(
    ("message", "step"),
    [
        ("Scaled up replica set web-a from 0 to 4", ("web-a", 0, 4)), ("Scaled down replica set web-a to 4", ("web-a", None, 4)),
        ("(combined from similar events): Scaled up replica set w from 10 to 21", ("w", 10, 21)), ("Scaled replica set w to 1", None),
        ("x Scaled up replica set w to 1", None),
    ],
)  # fmt: skip
def test_the_step_that_an_event_tells_of(message: str, step: Any) -> None:
    assert step_of(message) == step


def test_what_is_said_of_an_unlawful_rollout() -> None:
    assert {name: Rollouts.of(rollout(*steps), ()).complaints for name, steps in UNLAWFUL.items()} == {
        "surge ignored: all at once": [
            "ReplicaSet web-b from 0 to 4: 8 together, 5 wanted",
        ],
        "surge ignored: none": ["ReplicaSet web-b from 0 to 1: 4 together, 5 wanted"],
        "room left": ["ReplicaSet web-b from 1 to 2: 4 together, 5 wanted"],
        "too few left": ["ReplicaSet web-a from 4 to 0: 1 left together"],
    }
    lines = rollout(*LAWFUL[0])
    lines[-1]["event"]["object"]["metadata"]["generation"] += 1
    assert Rollouts.of(lines, ()).complaints == ["ReplicaSet web-a: generation 6 after 4 writes of its spec"]
    few = Rollouts.of([*rollout(*LAWFUL[0]), line(90, "MODIFIED", deployment(available=2))], ()).complaints
    assert few == ["Deployment web: 2 available, 3 wanted at least"]
    events = [{"reason": "ScalingReplicaSet", "message": "Scaled up replica set x to 1", "metadata": {"name": "e"}}]
    told = Rollouts.of([], [SimpleNamespace(response={"items": events})])  # type: ignore[list-item]
    assert (told.complaints, told.checks) == (["Scaled up replica set x to 1: nobody saw it"], 2)


def test_what_a_lawful_rollout_is_made_of() -> None:
    rollouts = Rollouts.of(rollout(*LAWFUL[1]), ())
    assert rollouts.steps == {
        ("web-a", 0, 4): 1, ("web-b", 0, 1): 1, ("web-a", 4, 2): 1, ("web-b", 1, 3): 1, ("web-a", 2, 0): 1, ("web-b", 3, 4): 1
    }  # fmt: skip
    assert rollouts.generations == {"web-a": {1, 2, 3}, "web-b": {1, 2, 3}}
    assert rollouts.raised == {"web-a": [4], "web-b": [1, 2, 1]}
    assert (rollouts.taken(("web-b", 1, 3)), rollouts.taken(("web-b", None, 3)), rollouts.taken(("web-b", 2, 3))) == (
        1,
        1,
        0,
    )
    assert rollouts.checks == 10
    gone = Rollouts.of(
        [*rollout(*LAWFUL[1]), line(50, "DELETED", replica_set("b", 4, 3)), line(51, "ADDED", replica_set("b", 5, 3))],
        (),
    )
    assert gone.complaints == []


def test_a_pod_that_did_not_wait_is_named() -> None:
    held = SlowStart.of(log("ABCabc"), {"web": [3]})
    words = "was asked for before the batch before was answered"
    assert held.complaints == [f"ReplicaSet web: pod 2 {words}", f"ReplicaSet web: pod 3 {words}"]
    result = compare_held(held, SlowStart(2, ["other"]))
    assert (result.total, result.equal) == (5, 2)
    assert [str(each) for each in result.differences] == [
        f"/ReplicaSet web: pod 2 {words}: seen ≠ (absent)", f"/ReplicaSet web: pod 3 {words}: seen ≠ (absent)",
        "/other: (absent) ≠ seen",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "changed",
    [
        {"verb": "delete"}, {"objectRef": {"resource": "secrets"}}, {"objectRef": None}, {"requestObject": None},
        {"objectRef": {"resource": "pods", "subresource": "binding"}}, {"user": {"username": "system:admin"}},
        {"requestObject": {"metadata": {"ownerReferences": None}}},
    ],
)  # fmt: skip
def test_only_pods_that_a_replica_sets_controller_asks_for_are_looked_at(changed: dict[str, Any]) -> None:
    held = SlowStart.of([each | changed for each in log("ABab")], {"web": [2]})
    assert (held.checks, held.complaints) == (0, [])


def test_watches_tell_where_they_differ() -> None:
    ours = story(*(replica_set("a", 4, 1, readyReplicas=value) for value in (0, 4, 2, 4)))
    theirs = story(*(replica_set("a", 4, 1, readyReplicas=value) for value in (0, 4)))
    found = compare_watches(ours, theirs, SETTLED, SETTLED)
    assert {kind: [str(each) for each in result.differences] for kind, result in found.items()} == {
        "ReplicaSet": ["/ReplicaSet shop/web-a segment 1/status/readyReplicas: 0 → 4 → 2 → 4 ≠ 0 → 4"]
    }
    lacking = compare_watches(pods(1), pods(2), SETTLED, SETTLED)["Pod"]
    assert [str(each) for each in lacking.differences] == ["/Pod shop/web-747d4c55d8-<random>: (absent) ≠ seen"]
    only = compare_watches(story(deployment()), [], SETTLED, SETTLED)["Deployment"]
    assert ([str(each) for each in only.differences], only.total, only.equal) == (
        ["/Deployment shop/web: seen ≠ (absent)"],
        1,
        0,
    )
    later = compare_watches([line(5, "ADDED", deployment())], [line(15, "ADDED", deployment())], SETTLED, SETTLED)
    assert len(later["Deployment"].differences) == 2, "born in another segment"


def test_a_value_is_carried_over_from_the_segment_before() -> None:
    values = {"0:/a": ["1", "2"], "2:/a": ["3"]}
    assert [carried(values, f"{segment}:/a") for segment in range(4)] == [["1", "2"], ["2"], ["3"], ["3"]]
    assert carried(values, "1:/b") == ["(absent)"]


def test_what_is_asked_the_same_way_belongs_together() -> None:
    ours = [
        exchange("/a?limit=1&continue=x", n=1),
        exchange("/a?limit=1", n=2),
        exchange("/b", n=3),
        exchange("/a", n=4, moment="m"),
    ]
    theirs = [
        exchange("/a?continue=y&limit=1&resourceVersion=7", n=5),
        exchange("/c", n=6),
        exchange("/a", n=7, moment="m"),
    ]
    pairs = [(mine and mine.n, yours and yours.n) for mine, yours in align(ours, theirs)]
    assert pairs == [(1, 5), (2, None), (3, None), (4, 7), (None, 6)]
    for changed in ({"identity": "x"}, {"content_type": "x"}, {"method": "PUT"}, {"moment": "x"}, {"accept": "x/yaml"}):
        assert align([exchange("/a")], [exchange("/a", **changed)])[0][1] is None


def test_exchanges_are_compared_row_by_row() -> None:
    ours = [exchange("/a", {"x": 1}), exchange("/b?" + "q" * 130, {"x": 1}, moment="later"), exchange("/only", 1)]
    theirs = [
        exchange("/a", {"x": 2}, 201),
        exchange("/b?" + "q" * 130, {"x": 1}, moment="later"),
        exchange("/other", 1),
    ]
    table = compare_exchanges("some", ours, theirs, "us", "them", given="planted")
    assert (table.title, table.ours, table.cluster) == ("agreement: some", "us", "them")
    rows = [(row.stage, row.input, row.ours, row.cluster, row.given) for row in table.rows]
    assert rows == [
        ("some:", "GET /a", "200", "201", "planted"), ("some: later", "GET /b", "200, 2 fields", "200, 2 fields", "planted"),
        ("some:", "GET /only", "asked", "(absent)", "planted"), ("some:", "GET /other", "(absent)", "asked", "planted"),
    ]  # fmt: skip
    assert [str(each) for _, each in table.unexplained] == [
        "/code: 200 ≠ 201", "/body/x: 1 ≠ 2", " (asked): asked ≠ (absent)", " (asked): (absent) ≠ asked"
    ]  # fmt: skip


def test_a_step_is_told_by_an_event_of_old_as_well() -> None:
    """Older events do not say from how many."""
    old = [f"Scaled {way} replica set web-{name} to {now}" for way, name, now in (
        ("up", "a", 4), ("up", "b", 1), ("down", "a", 2), ("up", "b", 3), ("down", "a", 0), ("up", "b", 4)
    )]  # fmt: skip
    assert Rollouts.of(rollout(*LAWFUL[1]), told(*old)).complaints == []
    assert Rollouts.of(rollout(*LAWFUL[1]), told(*old[1:])).complaints == ["1 steps nobody told, 0 may"]


def test_what_is_held_to_a_rule_is_a_row_of_its_own() -> None:
    lawful, broken = Rollouts.of(rollout(*LAWFUL[1]), ()), Rollouts.of(rollout(*UNLAWFUL["room left"]), ())
    table = AgreementTable("t", "us", "them")
    row = add_rollouts(table, "journey", lawful, lawful)
    assert row is table.rows[0]
    steps = "6 steps, 10 of 10 checks hold"
    assert (row.stage, row.input, row.ours, row.cluster) == ("journey: watch", "steps of rollouts", steps, steps)
    row = add_rollouts(table, "journey", lawful, broken)
    assert (row.ours, row.cluster) == ("(absent)", "seen")
    sides = [Observations((), (), audit=log(order)) for order in ("AaBCbc", "AaBbCc")]
    raised = [Rollouts(raised={"web": [3]})] * 2
    row = add_slow_starts(table, "journey", sides, raised)
    waited = "3 of 3 pods waited for the batch before"
    assert (row.stage, row.input, row.ours, row.cluster) == (
        "journey: audit log", "slow start of replica sets", waited, waited
    )  # fmt: skip
    watched = [
        Observations([exchange("/a", moment="m", t=20.0), exchange("/b", moment="l", t=10.0)], story(deployment()))
    ] * 2
    add_watches(table, "journey", watched[0], watched[1])
    row = table.rows[-1]
    assert (row.stage, row.input, row.ours, row.cluster) == (
        "journey: watch", "Deployment events", f"{row.comparison.total} sequences", "the same"
    )  # fmt: skip
    assert row.comparison.total > 5


def test_a_stand_in_is_told_as_the_namespace_it_stands_for(tmp_path: Any) -> None:
    (tmp_path / "http").mkdir()
    body = {"metadata": {"namespace": "standin", "name": "my-standin", "other": "standin.x"}}
    lines = [
        {"n": 0, "t": 0, "ms": 1, "as": "admin", "note": None, "method": "POST", "path": "/api/v1/namespaces/standin/pods",
         "content_type": None, "accept": None, "headers_sent": None, "body": body, "status": 201, "headers": {},
         "response": body},
    ]  # fmt: skip
    lines.append(lines[0] | {"path": "/api", "body": None, "response": "text"})
    (tmp_path / "http" / "s.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    (tmp_path / "namespaces.json").write_text('{"s": {"standin": "default"}}')
    renamed: Counter[str] = Counter()
    first, second = in_own_place(Recording(tmp_path), "s", renamed)
    moved = {"metadata": {"namespace": "default", "name": "my-standin", "other": "default.x"}}
    assert (first.path, first.body, first.response) == ("/api/v1/namespaces/default/pods", moved, moved)
    assert (second.path, second.response) == ("/api", "text")
    assert renamed == {"a namespace made for the recording": 1}
    table = compare_recordings(Recording(tmp_path), Recording(tmp_path), "s")
    assert table.equal
    assert table.freedoms == {"a namespace made for the recording": 2}


class Target:
    """A cluster that notes what it is asked."""

    def __init__(self, refuse: bool = False) -> None:
        self.asked: list[Any] = []
        self.refuse = refuse

    async def request(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Any:
        self.asked.append((method, path, headers, body))
        if method == "POST" and self.refuse:
            return 409, {}, b"taken"
        return (201 if method == "POST" else 200), {"content-type": "application/json"}, b"{}"

    async def watch(self, path: str) -> Any:
        await asyncio.sleep(1.5)
        yield {"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {}}}
        await asyncio.get_running_loop().create_future()


class Played:
    """A recording of one scenario."""

    provenance = "then"

    def __init__(self, *exchanges: Exchange, **stand_ins: str) -> None:
        self._exchanges, self._stand_ins = exchanges, stand_ins

    def exchanges(self, scenario: str) -> tuple[Exchange, ...]:
        if scenario == "objects":
            raise InspectorError("none")
        return self._exchanges

    def stand_ins(self, scenario: str) -> dict[str, str]:
        return self._stand_ins

    def scenarios(self) -> list[str]:
        return ["mine"]

    def watch(self, scenario: str) -> Any:
        raise InspectorError("none")

    audit = watch


def test_a_cluster_is_asked_in_a_namespace_that_was_made_for_it() -> None:
    target = Target()
    asked = exchange("/api/v1/namespaces/default/pods", {}, headers={"content-type": "application/json"})
    other = exchange("/x", {}, identity="jane")
    table = run_virtual(
        compare_cluster(target, Played(asked, other, standin="default"), "mine", name="us", given="g")  # type: ignore[arg-type]
    )
    made = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "standin", "labels": {"lifecycle.book/made-by": "inspector"}},
    }
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "User-Agent": "OpenAPI-Generator/python",
    }
    method, path, sent, body = target.asked[0]
    assert (method, path, sent, json.loads(body)) == ("POST", "/api/v1/namespaces", headers, made)
    where = "/api/v1/namespaces/standin"
    assert [path for _, path, _, _ in target.asked[1:]] == [
        f"{where}/serviceaccounts/default", f"{where}/configmaps/kube-root-ca.crt", f"{where}/pods"
    ]  # fmt: skip
    assert (table.ours, table.cluster, table.rows[0].given) == ("us", "recording then", "g")
    with pytest.raises(InspectorError) as refused:
        run_virtual(compare_cluster(Target(refuse=True), Played(asked, standin="default"), "mine"))  # type: ignore[arg-type]
    assert str(refused.value) == "namespace 'standin' cannot be made: taken"


def test_watches_are_open_while_the_questions_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []

    def observed(scenario: str, ours: Any, theirs: Any, *names: str, given: str) -> str:
        told.append((scenario, list(ours.lines), ours.audit, ours.before, names, given))
        return "table"

    monkeypatch.setattr("lifecycle.compare.replay.compare_observations", observed)
    monkeypatch.setattr("lifecycle.compare.replay.scenario_names", lambda: ["mine"])
    steps = (Step("GET", "/a", number=0), Step(settle="n"), Step("GET", "/b", number=1))
    monkeypatch.setattr("lifecycle.compare.replay.load_scenario", lambda name: Scenario(name, steps, ("/v", "/w")))
    target, heard = Target(), []
    answer = run_virtual(
        compare_cluster(
            target,
            Played(),
            "mine",
            pause=2.0,
            on_step=heard.append,
            like_recorded=False,
            audit=lambda: ["audited"],  # type: ignore[arg-type]
        )
    )
    event = {"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {}}}
    lines = [{"t": 1.5, "path": path, "event": event} for path in ("/v", "/w")]
    assert told == [("mine", lines, ["audited"], (), ("the embedded cluster", "recording then"), "")]
    assert (answer, heard) == ("table", list(steps))


def pod(name: str, node: str, **more: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": "n", "uid": name, "creationTimestamp": more.pop("created", "1")} | more.pop(
        "meta", {}
    )
    return {
        "kind": "Pod",
        "metadata": meta,
        "spec": {"nodeName": node, "containers": [{"name": "c"}], **more},
        "status": {},
    }


def machine(name: str, cpu: str = "4", memory: str = "8Gi", **spec: Any) -> dict[str, Any]:
    return {
        "kind": "Node",
        "metadata": {"name": name},
        "spec": spec,
        "status": {"allocatable": {"cpu": cpu, "memory": memory}},
    }


TAINT = {"taints": [{"key": "k", "effect": "NoSchedule"}]}


@pytest.mark.parametrize(
    ("nodes", "seen", "free"),
    [
        ([machine("a"), machine("b")], [pod("p", "a")], True),
        ([machine("a")], [pod("p", "a")], False),  # only one
        ([machine("a"), machine("b", **TAINT)], [pod("p", "a")], False),
        ([machine("a"), machine("b")], [pod("early", "a", created="0"), pod("p", "a")], False),  # less room
        ([machine("a"), machine("b")], [pod("early", "b", created="0"), pod("p", "a")], True),  # nothing is better than `a`, now or then
        ([machine("a"), machine("b", cpu="8", memory="16Gi")], [pod("p", "a")], False),
        ([machine("a"), machine("b")], [pod("p", "a", meta={"ownerReferences": [{"kind": "DaemonSet", "uid": "d"}]})], False),
        ([machine("a"), machine("b")], [pod("p", "a", meta={"ownerReferences": [{"kind": "Node", "uid": "d"}]})], False),
        ([machine("a"), machine("b", cpu="8", memory="16Gi")], [pod("p", "a", topologySpreadConstraints=[{}])], True),
        ([machine("a"), machine("b", cpu="8", memory="16Gi")], [pod("p", "a", affinity={"podAffinity": {"x": 1}})], True),
        ([machine("a"), machine("b", cpu="8", memory="16Gi")], [pod("p", "a", volumes=[{"persistentVolumeClaim": {}}])], True),
        ([machine("a"), machine("b", cpu="8", memory="16Gi")], [pod("p", "a", volumes=[{"emptyDir": {}}])], False),
        ([machine("a"), machine("b"), machine("c")], [pod("early", "b", created="0"), pod("p", "a")], True),
        ([machine("a"), machine("b")], [pod("p", "")], False),  # not bound
    ],
)  # fmt: skip
def test_where_a_pod_may_as_well_be(nodes: list[Any], seen: list[Any], free: bool) -> None:
    placements = Placements()
    placements.seen(0.0, nodes)
    placements.seen(1.0, seen)
    assert placements.may_be_elsewhere("n", "p") is free
    assert placements.may_be_elsewhere("n", "nobody") is False


def test_a_bijection_tells_partners_and_their_number() -> None:
    bijection = Bijection()
    assert bijection.bind(("Pod", "a"), ("Pod", "x"))
    assert bijection.bind(("Pod", "a"), ("Pod", "x"))
    assert not bijection.bind(("Pod", "a"), ("Pod", "y"))
    assert not bijection.bind(("Pod", "b"), ("Pod", "x"))
    assert not bijection.bind(("Pod", "b"), ("uid", "z"))
    assert (bijection.partner(("Pod", "a")), bijection.partner(("Pod", "b"))) == (("Pod", "x"), None)
    assert bijection.number(("Pod", "a"), theirs=False) == bijection.number(("Pod", "x"), theirs=True) is not None
    assert bijection.number(("Pod", "x"), theirs=False) is bijection.number(("Pod", "a"), theirs=True) is None


def test_comparisons_add_up() -> None:
    whole = Comparison()
    for ours, theirs in (({"a": 1}, {"a": 2}), ({"a": 1, "b": []}, {"a": 1, "b": []})):
        whole += compare(ours, theirs)
    assert (whole.total, whole.equal, len(whole.differences), whole.agrees) == (3, 2, 1, False)


def order_of(path: str, ours: list[Any], theirs: list[Any], kind: str = "X") -> tuple[list[str], dict[str, int]]:
    result = compare({"kind": kind, path: ours}, {"kind": kind, path: theirs})
    return [str(each) for each in result.differences], dict(result.freedoms)


ONE, TWO = {"type": "A", "n": 1}, {"type": "B", "n": 2}
NAMED = [{"metadata": {"name": name}} for name in "ab"]
ROWS = [{"cells": [name], "object": {"metadata": {"name": name}}} for name in "ab"]
BARE_ROWS = [{"cells": [name, "x"]} for name in "ab"]
MANAGED = [{"manager": name} for name in "ab"]
TARGETS = [{"addresses": [f"10.0.0.{n}"]} for n in "12"]
IPS = [{"ip": f"10.0.0.{n}"} for n in "12"]
VERBS = [{"verbs": [verb]} for verb in ("get", "list")]


@pytest.mark.parametrize(
    ("path", "items", "freedom", "kept"),
    [
        ("conditions", [ONE, TWO], None, ["/conditions (order): ['A', 'B'] ≠ ['B', 'A']"]),
        ("items", NAMED, None, ["/items (order): [('', 'a'), ('', 'b')] ≠ [('', 'b'), ('', 'a')]"]),
        ("rows", ROWS, None, ["/rows (order): [('', 'a'), ('', 'b')] ≠ [('', 'b'), ('', 'a')]"]),
        ("rows", BARE_ROWS, None, ["/rows (order): ['a', 'b'] ≠ ['b', 'a']"]),
        ("managedFields", MANAGED, None, ["/managedFields (sorted): sorted ≠ not sorted"]),
        ("endpoints", TARGETS, "order of endpoints", []), ("addresses", IPS, "order of endpoints", []),
        ("notReadyAddresses", IPS, "order of endpoints", []),
        ("resourceRules", VERBS, "order of rules, from unordered bindings", []),
        ("nonResourceRules", VERBS, "order of rules, from unordered bindings", []),
    ],
)  # fmt: skip
def test_which_lists_have_an_order(path: str, items: list[Any], freedom: str | None, kept: list[str]) -> None:
    assert order_of(path, items, items) == ([], {})
    assert order_of(path, items, items[::-1]) == (kept, {freedom: 1} if freedom else {})


def test_what_one_list_lacks_is_told_by_its_key_or_its_place() -> None:
    assert order_of("conditions", [ONE, TWO], [ONE])[0] == ["/conditions/B: {'type': 'B', 'n': 2} ≠ (absent)"]
    assert order_of("conditions", [TWO], [ONE, TWO])[0] == ["/conditions/A: (absent) ≠ {'type': 'A', 'n': 1}"]
    assert order_of("conditions", [{**ONE, "n": 7}], [ONE])[0] == ["/conditions/A/n: 7 ≠ 1"]
    assert order_of("list", [1, 2], [1])[0] == ["/list/1: 2 ≠ (absent)"]
    assert order_of("list", [1], [1, 2])[0] == ["/list/1: (absent) ≠ 2"]
    assert order_of("list", [1, 2], [2, 1])[0] == ["/list/0: 1 ≠ 2", "/list/1: 2 ≠ 1"]
    statuses = [{"metadata": {"name": name}} for name in "ab"]
    assert order_of("items", statuses, statuses[::-1], "ComponentStatusList") == (
        [], {"order of component statuses, asked for in parallel": 1}
    )  # fmt: skip


@pytest.mark.parametrize(
    ("field", "free"), [("readyReplicas", True), ("updatedReplicas", True), ("odd", False), ("oddReplicas", False)]
)
def test_only_a_replica_sets_counts_may_take_other_steps(field: str, free: bool) -> None:
    ours = story(*(replica_set("a", 4, 1, **{field: value}) for value in (0, 2, 4)))
    theirs = story(*(replica_set("a", 4, 1, **{field: value}) for value in (0, 4)))
    assert compare_watches(ours, theirs, SETTLED, SETTLED)["ReplicaSet"].agrees is free


def test_a_replica_sets_size_may_take_other_steps() -> None:
    ours, theirs = (story(*(replica_set("a", size, 1) for size in sizes)) for sizes in ((0, 2, 4), (0, 4)))
    found = compare_watches(ours, theirs, SETTLED, SETTLED)["ReplicaSet"]
    assert (found.differences, dict(found.freedoms)) == ([], {"steps of a rollout": 2})
