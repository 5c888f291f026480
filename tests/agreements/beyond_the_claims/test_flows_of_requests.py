"""In which lane a request waits: the administrator in none."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.http.wire import MASTERS, Object, Request, RequestInfo, Response, UserInfo
from lifecycle.api.tracing import Span, listening
from lifecycle.apiserver.filters.priority_and_fairness import FlowController, with_priority_and_fairness
from lifecycle.apiserver.filters.work_estimate import WorkEstimator
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.apiserver.storage.stats import Stats
from lifecycle.cluster.rehearsal import RehearsedCluster, on_virtual_time, rehearse
from lifecycle.cluster.target import HandlerTarget

VERSION = "flowcontrol.apiserver.k8s.io/v1"


@pytest.mark.parametrize(
    ("user", "lane"),
    [
        (("admin", (MASTERS,)), {"level": "exempt", "flow": "exempt/"}),
        (("jane", ("system:authenticated",)), {"level": "global-default", "flow": "global-default/jane"}),
    ],
)
def test_a_request_waits_in_the_lane_of_who_sends_it(user: tuple[str, tuple[str, ...]], lane: dict[str, str]) -> None:
    spans: list[Span] = []

    async def scene(cluster: RehearsedCluster) -> None:
        with listening(spans.append):
            await HandlerTarget(cluster.server, user).request("GET", "/api/v1/namespaces/default/pods", {}, b"")

    rehearse(scene, without=("kubelet", "scheduler", "controllers"))
    assert [span.attributes for span in spans if span.name == "flow control"] == [lane]


def _schema(name: str, precedence: int, level: str, by: str, **users: list[str]) -> Object:
    subjects = [{"kind": "User", "user": {"name": each}} for each in users.get("users", ["*"])]
    rule = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}
    spec: Object = {
        "matchingPrecedence": precedence,
        "priorityLevelConfiguration": {"name": level},
        "rules": [{"subjects": subjects, "resourceRules": [rule]}],
        **({"distinguisherMethod": {"type": by}} if by else {}),
    }
    return {
        "kind": "FlowSchema",
        "apiVersion": VERSION,
        "metadata": {"name": name, "uid": f"uid of {name}"},
        "spec": spec,
    }


LEVEL: Object = {
    "kind": "PriorityLevelConfiguration",
    "apiVersion": VERSION,
    "metadata": {"name": "there"},
    "spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 5, "limitResponse": {"type": "Reject"}}},
}


@pytest.mark.parametrize(
    ("by", "flows"),
    [
        ("ByUser", ["jane", "jane", "ann", "ann"]),
        ("ByNamespace", ["shop", "bank", "shop", "bank"]),
        ("", ["", "", "", ""]),
    ],
)
def test_what_tells_flows_apart_is_what_the_schema_says(by: str, flows: list[str]) -> None:
    """Also of whom, and of where, something has been asked before."""
    control = FlowController(StaticReader([LEVEL, _schema("all", 1, "there", by)]))
    for _ in range(2):
        found = [
            control.classify(UserInfo(user), RequestInfo(True, "/", "get", version="v1", namespace=ns, resource="pods"))
            for user in ("jane", "ann")
            for ns in ("shop", "bank")
        ]
        assert [each and each.flow for each in found] == [("all", flow) for flow in flows]


@pytest.mark.parametrize(
    ("schemas", "chosen"),
    [
        ([("late", 9, "there", ["*"]), ("early", 1, "there", ["*"])], "early"),
        ([("b", 1, "there", ["*"]), ("a", 1, "there", ["*"])], "a"),
        ([("early", 1, "nowhere", ["*"]), ("late", 9, "there", ["*"])], "late"),  # its level does not exist
        ([("early", 1, "there", ["ann"]), ("late", 9, "there", ["*"])], "late"),
        ([("early", 1, "there", ["ann"])], None),
    ],
)
def test_the_first_schema_that_wants_a_request_and_has_a_level_has_it(schemas: list[Any], chosen: str | None) -> None:
    objects = [_schema(name, precedence, level, "", users=users) for name, precedence, level, users in schemas]
    control = FlowController(StaticReader([LEVEL, *objects]))
    info = RequestInfo(True, "/", "get", version="v1", namespace="shop", resource="pods")
    found = control.classify(UserInfo("jane"), info)
    assert (found and (found.schema, found.schema_uid, found.level.name)) == (
        chosen and (chosen, f"uid of {chosen}", "there")
    )


def test_seats_that_nobody_needs_are_lent_within_ten_seconds() -> None:
    """Fourteen come at once to a level of ten seats, and nobody to one that may lend eight of its ten."""

    def level(name: str, lends: int) -> Object:
        queuing = {"queues": 4, "handSize": 2, "queueLengthLimit": 5}
        response = {"type": "Queue", "queuing": queuing}
        limited = {"nominalConcurrencyShares": 50, "lendablePercent": lends, "limitResponse": response}
        return {**LEVEL, "metadata": {"name": name}, "spec": {"type": "Limited", "limited": limited}}

    objects = [level("busy", 0), level("idle", 80), _schema("all", 1, "busy", "ByUser")]

    async def main() -> list[int]:
        served = list[float]()
        loop = asyncio.get_running_loop()
        began = loop.time()

        async def serves(request: Request) -> Response:
            served.append(loop.time() - began)
            await asyncio.sleep(100)
            return Response(200, obj={})

        handler = with_priority_and_fairness(serves, FlowController(StaticReader(objects), 20), 60)

        def asked(number: int) -> Request:
            info = RequestInfo(True, "/api/v1/pods", "get", version="v1", resource="pods")
            return Request("GET", info.path, info=info, user=UserInfo(f"user {number}"))

        answers = asyncio.gather(*(handler(asked(number)) for number in range(14)))
        seen = []
        for pause in (1, 8.5, 1):
            await asyncio.sleep(pause)
            seen.append(len(served))
        assert [answer.status for answer in await answers] == [200] * 14
        return seen

    assert on_virtual_time(main()) == [10, 10, 14]


def test_each_answer_says_in_which_flow_it_was_also_a_refusal() -> None:
    """Two come at once to a level of one seat, where nobody waits. Upstream: `setResponseHeaders`, before anything is decided."""

    async def serves(request: Request) -> Response:
        await asyncio.sleep(1)
        return Response(200, {"Own": "header"}, obj={})

    async def main() -> list[Response]:
        level = {**LEVEL, "metadata": {"name": "there", "uid": "uid of there"}}
        control = FlowController(StaticReader([level, _schema("all", 1, "there", "")]), 1)
        handler = with_priority_and_fairness(serves, control, 1)
        info = RequestInfo(True, "/api/v1/pods", "get", version="v1", resource="pods")
        requests = [Request("GET", info.path, info=info, user=UserInfo("jane")) for _ in range(2)]
        return await asyncio.gather(*map(handler, requests))

    answers = on_virtual_time(main())
    assert [answer.status for answer in answers] == [200, 429]
    for answer in answers:
        marks = {key.lower(): value for key, value in answer.headers.items()}
        assert marks["x-kubernetes-pf-flowschema-uid"] == "uid of all"
        assert marks["x-kubernetes-pf-prioritylevel-uid"] == "uid of there"
        assert marks.get("own") == ("header" if answer.status == 200 else None)


def test_what_no_schema_wants_has_no_mark() -> None:
    async def serves(request: Request) -> Response:
        return Response(200, obj={})

    async def main() -> Response:
        control = FlowController(StaticReader([LEVEL, _schema("all", 1, "there", "", users=["ann"])]))
        info = RequestInfo(True, "/api/v1/pods", "get", version="v1", resource="pods")
        return await with_priority_and_fairness(serves, control, 1)(
            Request("GET", "/", info=info, user=UserInfo("jane"))
        )

    assert not any("kubernetes-pf" in key.lower() for key in on_virtual_time(main()).headers)


@pytest.mark.parametrize("end", ["answers", "fails", "goes away"])
def test_a_seat_is_given_back_however_a_request_ends(end: str) -> None:
    """Or a level would have one fewer for ever. Upstream: `Finish`, deferred."""

    async def serves(request: Request) -> Response:
        await asyncio.sleep(1)
        if request.path == "/first" and end == "fails":
            raise ValueError("nobody thought of it")
        return Response(200, obj={})

    async def main() -> list[int]:
        control = FlowController(StaticReader([LEVEL, _schema("all", 1, "there", "")]), 1)
        handler = with_priority_and_fairness(serves, control, 1)

        def asked(path: str) -> Request:
            info = RequestInfo(True, path, "get", version="v1", resource="pods")
            return Request("GET", path, info=info, user=UserInfo("jane"))

        first = asyncio.ensure_future(handler(asked("/first")))
        await asyncio.sleep(0.5)
        codes = [(await handler(asked("/meanwhile"))).status]
        if end == "goes away":
            first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        return [*codes, (await handler(asked("/next"))).status]

    assert on_virtual_time(main()) == [429, 200]


QUEUED: Object = {
    **LEVEL,
    "spec": {
        "type": "Limited",
        "limited": {
            "nominalConcurrencyShares": 50,
            "limitResponse": {"type": "Queue", "queuing": {"queues": 4, "handSize": 2, "queueLengthLimit": 50}},
        },
    },
}


def _let_in(estimator: WorkEstimator | None, *infos: RequestInfo, level: Object = QUEUED) -> int:
    """How many of these that come at once are let in at once to a level of twenty seats."""
    begun = list[RequestInfo]()

    async def serves(request: Request) -> Response:
        assert request.info is not None
        begun.append(request.info)
        await asyncio.sleep(100)
        return Response(200, obj={})

    async def main() -> int:
        control = FlowController(StaticReader([level, _schema("all", 1, "there", "ByUser")]), 20, estimator)
        handler = with_priority_and_fairness(serves, control, 60)
        requests = [
            Request("GET", info.path, info=info, user=UserInfo(f"user {number}")) for number, info in enumerate(infos)
        ]
        waiting = [asyncio.ensure_future(handler(request)) for request in requests]
        await asyncio.sleep(1)
        for each in waiting:
            each.cancel()
        return len(begun)

    return on_virtual_time(main())


def _of_pods(verb: str, subresource: str = "") -> RequestInfo:
    return RequestInfo(True, "/api/v1/pods", verb, version="v1", resource="pods", subresource=subresource)


def test_a_request_takes_as_many_seats_as_it_is_work() -> None:
    """A list of ten megabytes is three seats here: more than 15 % of a level are for nobody. Two seats are too few for it."""
    wide = WorkEstimator(lambda group, plural: Stats(1000, 10_000))
    assert _let_in(wide, *[_of_pods("get")] * 30) == 20
    assert _let_in(wide, *[_of_pods("list")] * 30) == 6
    assert _let_in(None, *[_of_pods("list")] * 30) == 20


def test_what_lasts_takes_no_seat_but_for_a_watch_that_begins() -> None:
    assert _let_in(None, *[_of_pods("create", "exec")] * 30) == 30
    assert _let_in(None, *[_of_pods("get", "log")] * 30) == 30
    assert _let_in(None, *[_of_pods("watch")] * 30) == 20


@pytest.mark.parametrize(
    ("limit", "deadline", "seconds"), [(15, None, 15), (600, None, 60), (15, 40, 10), (15, 999, 60)]
)
def test_who_waits_waits_a_quarter_of_its_time_and_no_longer_than_a_minute(
    limit: float, deadline: float | None, seconds: float
) -> None:
    async def serves(request: Request) -> Response:
        await asyncio.sleep(1000)
        return Response(200, obj={})

    async def main() -> tuple[float, int]:
        loop = asyncio.get_running_loop()
        control = FlowController(StaticReader([QUEUED, _schema("all", 1, "there", "ByUser")]), 1)
        handler = with_priority_and_fairness(serves, control, limit)

        def asked() -> Request:
            until = None if deadline is None else loop.time() + deadline
            info = _of_pods("get")
            return Request("GET", info.path, info=info, user=UserInfo("jane"), deadline=until)

        first = asyncio.ensure_future(handler(asked()))
        await asyncio.sleep(0)
        began = loop.time()
        answer = await handler(asked())
        first.cancel()
        return round(loop.time() - began, 3), answer.status

    assert on_virtual_time(main()) == (seconds, 429)
