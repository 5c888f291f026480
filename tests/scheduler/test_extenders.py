"""Extenders over real loopback HTTP: what they are sent, what their answers do, and what happens without an answer."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from aiohttp import web

from lifecycle.scheduler.config import extender_config, parse_configuration, with_ignored_resources
from lifecycle.scheduler.extender import HTTPExtender
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.handle import Candidate, ExtenderError
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.types import FitError
from lifecycle.scheduler.profile import default_framework
from lifecycle.scheduler.schedule_pod import Algorithm
from tests.scheduler.cluster_model import make_node, make_pod, snapshot_of

Answers = dict[str, Callable[[Any], Any]]


def with_server(answers: Answers, play: Callable[[str, list[tuple[str, Any]]], Coroutine[Any, Any, Any]]) -> Any:
    """Serve `answers` by verb on a loopback port while `play(url, what was asked)` runs."""

    async def main() -> Any:
        asked: list[tuple[str, Any]] = []

        async def serve(request: web.Request) -> web.Response:
            body = await request.json()
            asked.append((request.match_info["verb"], body))
            answer = answers[request.match_info["verb"]](body)
            if asyncio.iscoroutine(answer):
                answer = await answer
            return answer if isinstance(answer, web.Response) else web.json_response(answer)

        app = web.Application()
        app.router.add_post("/scheduler/{verb}", serve)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        try:
            return await play(f"http://127.0.0.1:{port}/scheduler", asked)
        finally:
            await runner.cleanup()

    return asyncio.run(main())


def algorithm(*names: str) -> Algorithm:
    snapshot = snapshot_of(make_node(name) for name in names)
    return Algorithm(default_framework(), snapshot, rng=random.Random(1))


async def decide(extender: HTTPExtender, *names: str, **spec: Any) -> Any:
    try:
        pod = PodInfo(make_pod("p", **spec))
        return await algorithm(*names).schedule_pod_with_extenders(CycleState(), pod, [extender])
    finally:
        await extender.close()


def test_an_extender_filters_what_the_plugins_left_and_its_scores_are_added() -> None:
    answers: Answers = {
        "filter": lambda a: {"NodeNames": [n for n in a["NodeNames"] if n != "a"], "FailedNodes": {"a": "no GPU"}},
        "prioritize": lambda a: [{"Host": n, "Score": 10 if n == "c" else 0} for n in a["NodeNames"]],
    }

    async def play(url: str, asked: list[tuple[str, Any]]) -> None:
        entry = {
            "urlPrefix": url,
            "filterVerb": "filter",
            "prioritizeVerb": "prioritize",
            "weight": 5,
            "nodeCacheCapable": True,
        }
        result = await decide(HTTPExtender(extender_config(entry)), "a", "b", "c")
        assert (result.suggested_host, result.feasible_nodes) == ("c", 2)
        assert result.scores[url] == {"b": 0, "c": 500}
        assert [verb for verb, _ in asked] == ["filter", "prioritize"]
        assert sorted(asked[0][1]["NodeNames"]) == ["a", "b", "c"]
        assert asked[0][1]["Nodes"] is None
        assert asked[0][1]["Pod"]["metadata"]["name"] == "p"

    with_server(answers, play)


def test_without_a_node_cache_it_is_sent_whole_nodes() -> None:
    answers: Answers = {"filter": lambda a: {"Nodes": {"items": a["Nodes"]["items"][:1]}}}

    async def play(url: str, asked: list[tuple[str, Any]]) -> None:
        result = await decide(HTTPExtender(extender_config({"urlPrefix": url, "filterVerb": "filter"})), "a", "b")
        assert result.suggested_host == asked[0][1]["Nodes"]["items"][0]["metadata"]["name"]
        assert (result.evaluated_nodes, result.feasible_nodes) == (2, 1)
        assert asked[0][1]["NodeNames"] is None
        assert len(asked[0][1]["Nodes"]["items"]) == 2

    with_server(answers, play)


def test_its_reasons_are_told_like_the_plugins_own() -> None:
    answers: Answers = {"filter": lambda a: {"NodeNames": [], "FailedNodes": dict.fromkeys(a["NodeNames"], "no GPU")}}

    async def play(url: str, asked: list[tuple[str, Any]]) -> None:
        entry = {"urlPrefix": url, "filterVerb": "filter", "nodeCacheCapable": True}
        with pytest.raises(FitError) as refusal:
            await decide(HTTPExtender(extender_config(entry)), "a", "b")
        assert str(refusal.value) == "0/2 nodes are available: 2 no GPU."

    with_server(answers, play)


def test_one_that_fails_fails_the_pod_unless_it_may_be_ignored() -> None:
    answers: Answers = {"filter": lambda a: web.Response(status=500)}

    async def play(url: str, asked: list[tuple[str, Any]]) -> None:
        entry = {"urlPrefix": url, "filterVerb": "filter"}
        with pytest.raises(ExtenderError) as failure:
            await decide(HTTPExtender(extender_config(entry)), "a")
        assert str(failure.value) == f"failed filter with extender at URL {url}/filter, code 500"
        result = await decide(HTTPExtender(extender_config({**entry, "ignorable": True})), "a")
        assert result.suggested_host == "a"

    with_server(answers, play)


def test_one_that_does_not_answer_is_given_up_in_time() -> None:
    over = asyncio.Event()

    async def silent(_: Any) -> web.Response:
        await over.wait()
        return web.json_response({})

    async def play(url: str, asked: list[tuple[str, Any]]) -> None:
        entry = {"urlPrefix": url, "filterVerb": "filter", "httpTimeout": "50ms", "ignorable": True}
        result = await asyncio.wait_for(decide(HTTPExtender(extender_config(entry)), "a"), 40)
        assert result.suggested_host == "a"
        assert [verb for verb, _ in asked] == ["filter"]
        over.set()  # let the server go

    with_server({"filter": silent}, play)


def test_only_pods_that_want_what_it_manages_concern_it() -> None:
    entry = {"urlPrefix": "http://x", "filterVerb": "f", "managedResources": [{"name": "example.com/gpu"}]}
    extender = HTTPExtender(extender_config(entry))
    assert not extender.is_interested(make_pod("plain", requests={"cpu": "1"}))
    assert extender.is_interested(make_pod("gpu", requests={"example.com/gpu": "1"}))


def test_it_may_spare_victims_and_strike_candidates() -> None:
    def preempt(args: Any) -> Any:
        victims = args["NodeNameToMetaVictims"]["a"]["Pods"]
        return {"NodeNameToMetaVictims": {"a": {"Pods": victims[:1], "NumPDBViolations": 0}}}

    async def play(url: str, asked: list[tuple[str, Any]]) -> None:
        extender = HTTPExtender(extender_config({"urlPrefix": url, "preemptVerb": "preempt", "nodeCacheCapable": True}))
        node = NodeInfo(make_node("a"))
        victims = [PodInfo(make_pod(name)) for name in ("v1", "v2")]
        candidates = [Candidate(node.name, victims, 1), Candidate("b", victims, 0)]
        left = await extender.process_preemption(PodInfo(make_pod("p")), candidates)
        await extender.close()
        assert [(c.node, [v.uid for v in c.victims]) for c in left] == [("a", ["v1"])]

    with_server({"preempt": preempt}, play)


def test_it_can_bind_instead_of_the_scheduler() -> None:
    async def play(url: str, asked: list[tuple[str, Any]]) -> None:
        extender = HTTPExtender(extender_config({"urlPrefix": url, "bindVerb": "bind"}))
        await extender.bind({"metadata": {"name": "p", "namespace": "default", "uid": "u"}}, "a")
        await extender.close()
        assert asked == [("bind", {"PodName": "p", "PodNamespace": "default", "PodUID": "u", "Node": "a"})]

    with_server({"bind": lambda a: {}}, play)


def test_a_nominated_node_that_an_extender_refuses_is_not_the_only_one_looked_at() -> None:
    answers: Answers = {"filter": lambda a: {"NodeNames": [n for n in a["NodeNames"] if n != "a"]}}

    async def play(url: str, asked: list[tuple[str, Any]]) -> None:
        extender = HTTPExtender(extender_config({"urlPrefix": url, "filterVerb": "filter", "nodeCacheCapable": True}))
        nominated = {**make_pod("p"), "status": {"nominatedNodeName": "a"}}
        chosen = algorithm("a", "b")
        result = await chosen.schedule_pod_with_extenders(CycleState(), PodInfo(nominated), [extender])
        await extender.close()
        assert result.suggested_host == "b"
        assert [sorted(body["NodeNames"]) for _, body in asked] == [["a"], ["a", "b"]]

    with_server(answers, play)


def test_what_an_extender_looks_after_is_ignored_by_the_plugins_if_it_says_so() -> None:
    managed = [{"name": "example.com/gpu", "ignoredByScheduler": True}, {"name": "example.com/tpu"}]
    configuration = parse_configuration(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "extenders": [{"urlPrefix": "http://x", "managedResources": managed}],
            "profiles": [
                {
                    "pluginConfig": [
                        {"name": "NodeResourcesFit", "args": {"ignoredResources": ["example.com/old"]}},
                    ]
                }
            ],
        }
    )
    [profile] = with_ignored_resources(configuration)
    assert profile.args["NodeResourcesFit"]["ignoredResources"] == ["example.com/old", "example.com/gpu"]
    plain = configuration.profiles[0].args["NodeResourcesFit"]
    assert plain == {"ignoredResources": ["example.com/old"]}
