"""The fuzzer's own parts: cases come from their seed, answers keep what counts, excuses excuse nothing else, shrinking keeps what shows."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lifecycle.api.http.wire import MASTERS
from lifecycle.api.loop.clock import run_virtual
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.cluster.target import HandlerTarget
from lifecycle.etcd.memory import MemoryStore
from tests.differential import definitions
from tests.differential.answers import differences, settled
from tests.differential.case import CASES, Case, Step, load
from tests.differential.definitions import define
from tests.differential.fields import AT_ONCE, Fields, changed
from tests.differential.freedoms import FREEDOMS, explained
from tests.differential.objects import Objects
from tests.differential.player import Player, play
from tests.differential.published import Published, published
from tests.differential.scenes import Scenes
from tests.differential.servers import HTTPTarget, ready, real_server
from tests.differential.shrink import shrink
from tests.live.real_programs import kube_bin


@pytest.fixture(scope="module")
def shapes() -> Published:
    async def ask() -> Published:
        server = create_server_chain(MemoryStore())
        await server.start()
        try:
            return await published(HandlerTarget(server, ("admin", (MASTERS,))))
        finally:
            await server.stop()

    return run_virtual(ask())


def test_a_seed_gives_the_same_cases_again(shapes: Published) -> None:
    first, again, other = (list(islice(Scenes(shapes, seed).cases(), 60)) for seed in (7, 7, 8))
    assert first == again
    assert first != other


def test_cases_cover_kinds_verbs_and_forms(shapes: Published) -> None:
    steps = [step for case in islice(Scenes(shapes, 1).cases(), 1500) for step in case.steps]
    assert {step.method for step in steps} == {"GET", "POST", "PUT", "PATCH", "DELETE"}
    assert len({step.content_type for step in steps if step.method == "PATCH"}) == 4
    created = {
        step.body["kind"]
        for step in steps
        if step.method == "POST" and isinstance(step.body, dict) and "kind" in step.body
    }
    assert {kind.kind for kind in shapes.kinds} <= created
    text = json.dumps([(step.path, step.accept, step.content_type) for step in steps])
    for part in (
        "/status",
        "/scale",
        "/eviction",
        "/binding",
        "/token",
        "as=Table",
        "as=PartialObjectMetadata",
        "protobuf",
    ):
        assert part in text, part
    for option in (
        "force=true",
        "force=false",
        "labelSelector",
        "fieldSelector",
        "watch=1",
        "dryRun=All",
        "fieldValidation=Strict",
    ):
        assert option in text, option


def test_custom_resources_are_defined_published_and_asked_like_others() -> None:
    async def scene() -> tuple[Published, list[int]]:
        server = create_server_chain(MemoryStore())
        await server.start()
        try:
            target = HandlerTarget(server, ("admin", (MASTERS,)))
            await define(target)
            await define(target)  # what is there already is as good
            shapes = await published(target)
            player = Player(target, "custom")
            await player.begin()
            kinds = [kind for kind in shapes.kinds if kind.kind in definitions.PLAIN]
            plain = [Objects(shapes, Random(1)).plain(kind) for kind in kinds]
            steps = [Step("POST", kind.collection, obj) for kind, obj in zip(kinds, plain, strict=True)]
            return replace(shapes, kinds=tuple(kinds)), [(await player.answer(step))["status"] for step in steps]
        finally:
            await server.stop()

    shapes, statuses = run_virtual(scene())
    assert sorted(kind.kind for kind in shapes.kinds) == sorted(definitions.PLAIN)
    assert statuses == [201, 201]
    asked = [step for case in islice(Scenes(shapes, 3).cases(), 60) for step in case.steps]
    assert {step.method for step in asked} == {"GET", "POST", "PUT", "PATCH", "DELETE"}
    assert any(step.path.partition("?")[0].endswith("/scale") for step in asked)


def test_only_what_is_left_to_chance_is_masked() -> None:
    def answer(**body: Any) -> Any:
        return settled(200, {}, json.dumps(body).encode(), '{"generateName": "web-", "t": "2026-01-02T03:04:05Z"}')[
            "body"
        ]

    uid = "0b3a5e04-86b1-4f0e-9d38-2f7ac1a01f6b"
    assert answer(uid=uid, resourceVersion="17", name="web-x7llg") == {
        "uid": "UID",
        "resourceVersion": "REVISION",
        "name": "web-RANDOM",
    }
    assert answer(a="2026-01-02T03:04:05Z", b="2026-01-02T03:04:06Z") == {"a": "2026-01-02T03:04:05Z", "b": "TIME"}
    assert answer(port=31000, nodePort=31000) == {"port": 31000, "nodePort": "NODE_PORT"}
    assert answer(resourceVersion="", generation=2, clusterIP="10.97.0.1") == {
        "resourceVersion": "",
        "generation": 2,
        "clusterIP": "10.97.0.1",
    }
    assert list(differences({"a": [1], "b": 1}, {"a": [True]})) == [".a[0]: 1 | ours: true", ".b: only the real one: 1"]


def _refusal(message: str, *causes: str) -> Any:
    details = {"causes": [{"message": cause} for cause in causes]} if causes else {}
    return {"status": 422, "body": {"message": message, "details": details}}


def test_each_excuse_excuses_its_own_and_nothing_else() -> None:
    one, other, third = _refusal("a b", "a", "b"), _refusal("b a", "b", "a"), _refusal("c", "c", "d")
    assert explained(one, third, [one, third]) is FREEDOMS[0]
    assert explained(one, third, [one, one]) is None
    assert explained(one, other, [_refusal("x", "b", "a")]) is FREEDOMS[1]
    assert explained(one, other, [one, one]) is None  # it keeps to its order
    assert explained(one, _refusal("b a", "b", "z"), [_refusal("x", "b", "a")]) is None
    empty, nothing = _refusal("spec: Invalid value: {}: no"), _refusal("spec: Invalid value: null: no")
    assert explained(empty, nothing, [empty]) is FREEDOMS[3]
    assert explained(empty, _refusal("spec: Invalid value: 0: no"), [empty]) is None
    assert explained({**empty, "status": 200}, {**nothing, "status": 200}, [empty]) is None
    assert all(freedom.reason.count(" ") > 8 for freedom in FREEDOMS)


def test_a_list_may_have_another_order_only_where_the_real_one_changes_its_order() -> None:
    def rules(*order: Any, other: Any = ("x", "y")) -> Any:
        return {"status": 201, "body": {"rules": list(order), "other": list(other)}}

    one, swapped, third = (
        rules({"a": 1}, {"b": 2}, {"c": 3}),
        rules({"b": 2}, {"a": 1}, {"c": 3}),
        rules({"c": 3}, {"a": 1}, {"b": 2}),
    )
    assert explained(one, swapped, [one, third]) is FREEDOMS[2]
    assert explained(one, swapped, [one, one]) is None  # it keeps to its order
    assert explained(one, rules({"b": 2}, {"a": 1}), [third]) is None  # one is missing
    assert explained(one, rules({"b": 2}, {"a": 9}, {"c": 3}), [third]) is None  # one is another
    assert explained(one, {**swapped, "status": 200}, [third]) is None
    assert (
        explained(one, rules({"b": 2}, {"a": 1}, {"c": 3}, other=("y", "x")), [third]) is None
    )  # that one never changed


def test_a_case_is_shrunk_to_what_shows_it() -> None:
    body = {
        "metadata": {"name": "one", "labels": {"a": "b"}},
        "spec": {"list": [1, {"bad": True, "good": 1}], "other": {}},
    }
    steps = (Step("POST", "/first", {}), Step("GET", "/x", accept="y"), Step("POST", "/x?dryRun=All&pretty=true", body))
    case = Case(steps)

    async def shows(candidate: Case) -> bool:
        return "bad" in json.dumps(candidate.steps[-1].body)

    small = asyncio.run(shrink(case, shows))
    assert small.steps == (Step("POST", "/x", {"spec": {"list": [{"bad": True}]}}),)
    assert asyncio.run(shrink(case, shows, attempts=1)).steps == steps[1:]


def test_a_watch_keeps_its_end_when_its_case_is_shrunk() -> None:
    async def shows(case: Case) -> bool:
        return True

    case = Case((Step("GET", "/api/v1/pods?watch=1&timeoutSeconds=1&pretty=true"),))
    assert asyncio.run(shrink(case, shows)).steps[0].path == "/api/v1/pods?timeoutSeconds=1"


def test_a_case_is_what_was_saved(tmp_path: Path) -> None:
    case = Case(
        (Step("POST", "/api/v1/{ns}", {"a": "ü"}), Step("GET", "/x", accept="text/plain")),
        ({"status": 201}, {"status": 0}),
    )
    path = case.save(tmp_path)
    assert load(path) == case
    assert load(replace(case, known="why").save(tmp_path)).known == "why"


def test_the_real_server_still_answers_as_was_kept(tmp_path: Path) -> None:
    """Where Kubernetes' own program is there, it is asked all kept cases again."""

    async def ask(kubeconfig: Path) -> list[str]:
        async with HTTPTarget(kubeconfig) as target:
            await ready(target)
            found = []
            for count, path in enumerate(sorted(CASES.glob("*.yaml"))):
                case = load(path)
                answers = await play(target, case, f"kept-{count}")
                if answers != list(case.answers) and await play(target, case, f"kept-{count}-again") != list(
                    case.answers
                ):
                    found += [f"{path.stem}: {line}" for line in differences(list(case.answers), answers)]
            return found

    kube_bin("kube-apiserver")
    with real_server(tmp_path) as kubeconfig:
        assert asyncio.run(ask(kubeconfig)) == []


def test_every_field_is_asked_for(shapes: Published) -> None:
    cases = list(Fields(shapes, "^apps/v1/Deployment$").cases())
    asked = [step for case in cases for step in case.steps]
    sent = [json.dumps(step.body["spec"]) for step in asked if step.path.endswith("/deployments?dryRun=All")]
    assert any('"minReadySeconds": -1' in spec for spec in sent)
    assert any('"schedulerName": "<&>"' in spec for spec in sent)
    assert any('"ports": []' in spec for spec in sent)
    assert {"status": {"readyReplicas": -1}} in [
        step.body for step in asked if step.path.endswith("/status?dryRun=All")
    ]
    assert {"metadata": {"labels": {"a": "<&>"}}} in [step.body for step in asked if step.method == "PATCH"]
    assert all("dryRun=All" in step.path for step in asked if step.body != cases[-1].steps[0].body)
    assert all(len(case.steps) <= AT_ONCE + 1 for case in cases)


def test_a_value_is_put_where_nothing_was() -> None:
    obj = {"a": {"b": [{"c": 1}]}, "d": "text"}
    assert changed(obj, ("a", "b", 0, "c"), 2)["a"] == {"b": [{"c": 2}]}
    assert changed(obj, ("a", "b", 0), {})["a"] == {"b": [{}]}
    assert changed(obj, ("d", 0, "e"), [])["d"] == [{"e": []}]
    assert changed({}, ("x", 0), -1) == {"x": [-1]}
    assert obj == {"a": {"b": [{"c": 1}]}, "d": "text"}
