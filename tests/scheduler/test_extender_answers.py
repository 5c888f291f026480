"""What an extender is asked and what its answers mean, one by one; over the wire they go in `test_extenders.py`."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from lifecycle.api.loop.clock import Clock
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.scheduler.config import ExtenderConfig, SchedulerConfiguration
from lifecycle.scheduler.extender import HTTPExtender
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.handle import Candidate, ExtenderError
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.status import unresolvable, unschedulable
from lifecycle.scheduler.framework.types import Diagnosis
from lifecycle.scheduler.profile import default_framework
from lifecycle.scheduler.schedule_pod import Algorithm
from lifecycle.scheduler.scheduler import Scheduler
from tests.fake_api import FakeAPI
from tests.scheduler.cluster_model import make_node, make_pod, snapshot_of


class Answering(HTTPExtender):
    """An extender on this side of the wire; what it was asked is in `asked`."""

    def __init__(self, answer: Any, **config: Any) -> None:
        super().__init__(ExtenderConfig("http://x", **config))
        self._answer = answer
        self.asked: list[tuple[str, Any]] = []

    async def _send(self, verb: str, args: Any) -> Any:
        self.asked.append((verb, args))
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


POD = PodInfo(make_pod("p"))
NODES = [NodeInfo(make_node(name)) for name in ("a", "b")]


def whole(*names: str) -> dict[str, Any]:
    return {"Nodes": {"items": [{"metadata": {"name": name}} for name in names]}}


@pytest.mark.parametrize(
    ("capable", "answer", "left"),
    [
        (True, {"NodeNames": ["b"]}, ["b"]), (True, {"NodeNames": []}, []), (True, {"NodeNames": ["b", "a"]}, ["b", "a"]),
        (True, whole("a"), ["a"]),  # who is sent names may answer with nodes
        (False, whole("a"), ["a"]), (False, {"Nodes": {"items": None}}, []),
        (False, {"NodeNames": ["b"]}, []),  # names mean nothing to whom nodes were sent
        (False, {}, []), (True, {}, []),
    ],
)  # fmt: skip
def test_which_nodes_an_answer_leaves(capable: bool, answer: Any, left: list[str]) -> None:
    extender = Answering(answer, filter_verb="filter", node_cache_capable=capable)
    assert [n.name for n in asyncio.run(extender.filter(POD, NODES, Diagnosis()))] == left
    [(verb, args)] = extender.asked
    assert verb == "filter"
    assert args["Pod"] == POD.pod
    nodes = {"metadata": {}, "items": [node.node for node in NODES]}
    assert (args["Nodes"], args["NodeNames"]) == ((None, ["a", "b"]) if capable else (nodes, None))


def test_the_reasons_of_those_that_eviction_could_help_and_of_those_it_could_not() -> None:
    answer = {"NodeNames": [], "FailedNodes": {"a": "busy"}, "FailedAndUnresolvableNodes": {"b": "no GPU"}}
    diagnosis = Diagnosis()
    asyncio.run(Answering(answer, filter_verb="f", node_cache_capable=True).filter(POD, NODES, diagnosis))
    assert diagnosis.node_to_status == {"a": unschedulable("http://x", "busy"), "b": unresolvable("http://x", "no GPU")}
    assert diagnosis.unschedulable_plugins == {"http://x"}


def test_without_a_verb_nothing_is_asked() -> None:
    extender = Answering({"Error": "not to be asked"})
    candidates = [Candidate("a", [POD], 0)]

    async def main() -> None:
        assert await extender.filter(POD, NODES, Diagnosis()) == NODES
        assert await extender.prioritize(POD, NODES) == {}
        assert await extender.process_preemption(POD, candidates) == candidates
        await extender.close()  # it has no connection

    asyncio.run(main())
    assert extender.asked == []


@pytest.mark.parametrize(
    ("weight", "answer", "scores"),
    [
        (1, [{"Host": "a", "Score": 10}, {"Host": "b", "Score": 3}], {"a": 100, "b": 30}), (5, [{"Host": "a", "Score": 1}], {"a": 50}),
        (1, [], {}), (1, {}, {}),
    ],
)  # fmt: skip
def test_ten_of_an_extender_weigh_as_much_as_a_hundred_of_a_plugin(
    weight: int, answer: Any, scores: dict[str, int]
) -> None:
    extender = Answering(answer, prioritize_verb="prioritize", weight=weight)
    assert asyncio.run(extender.prioritize(POD, NODES)) == scores
    assert extender.asked[0][0] == "prioritize"


def victims(*names: str) -> list[PodInfo]:
    return [PodInfo(make_pod(name)) for name in names]


CANDIDATES = [Candidate("a", victims("v1", "v2"), 2), Candidate("b", victims("v3"), 0)]


@pytest.mark.parametrize(
    ("capable", "answer", "left"),
    [
        (True, {"a": {"Pods": [{"UID": "v2"}], "NumPDBViolations": 1}}, [("a", ["v2"], 1)]),
        (True, {"b": {"Pods": [{"UID": "v3"}]}}, [("b", ["v3"], 0)]), (True, {}, []), (True, None, []),
        (False, {"a": {"Pods": [{"UID": "v1"}, {"UID": "v2"}], "NumPDBViolations": 2}}, [("a", ["v1", "v2"], 2)]),
    ],
)  # fmt: skip
def test_which_victims_an_answer_leaves(capable: bool, answer: Any, left: list[tuple[str, list[str], int]]) -> None:
    extender = Answering({"NodeNameToMetaVictims": answer}, preempt_verb="preempt", node_cache_capable=capable)
    found = asyncio.run(extender.process_preemption(POD, CANDIDATES))
    assert [(c.node, [v.uid for v in c.victims], c.pdb_violations) for c in found] == left
    [(verb, args)] = extender.asked
    key = "NodeNameToMetaVictims" if capable else "NodeNameToVictims"
    sent: list[Any] = [{"UID": n} if capable else make_pod(n) for n in ("v1", "v2", "v3")]
    assert (verb, args) == (
        "preempt",
        {
            "Pod": POD.pod,
            key: {
                "a": {"Pods": sent[:2], "NumPDBViolations": 2},
                "b": {"Pods": sent[2:], "NumPDBViolations": 0},
            },
        },
    )


@pytest.mark.parametrize(
    ("doing", "answer", "told"),
    [
        ("filter", {"Error": "out of order"}, "out of order"),
        ("filter", {"NodeNames": ["c"]}, 'extender "http://x" claims a filtered node "c" which is not found in the input node list'),
        ("bind", {"Error": "out of order"}, "out of order"),
        ("preempt", {"NodeNameToMetaVictims": {"c": {"Pods": []}}}, 'nodeinfo not found for node name "c"'),
        (
            "preempt", {"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "v1"}, {"UID": "v3"}]}}},
            "extender: http://x claims to preempt pod (UID: &{v3}) on node: a, but the pod is not found on that node",
        ),
        ("preempt", {"NodeNameToMetaVictims": {"a": {"Pods": []}}}, 'expected at least one victim pod on node "a"'),
    ],
)  # fmt: skip
def test_answers_that_cannot_be_used(doing: str, answer: Any, told: str) -> None:
    extender = Answering(answer, filter_verb="f", bind_verb="b", preempt_verb="p", node_cache_capable=True)
    work: dict[str, Any] = {
        "filter": lambda: extender.filter(POD, NODES, Diagnosis()),
        "bind": lambda: extender.bind(POD.pod, "a"),
        "preempt": lambda: extender.process_preemption(POD, CANDIDATES),
    }
    with pytest.raises(ExtenderError) as failure:
        asyncio.run(work[doing]())
    assert str(failure.value) == told


def test_who_may_be_ignored_may_leave_no_victims_and_then_that_node_is_none() -> None:
    answer = {"NodeNameToMetaVictims": {"a": {"Pods": None}, "b": {"Pods": [{"UID": "v3"}]}}}
    extender = Answering(answer, preempt_verb="p", ignorable=True)
    assert [c.node for c in asyncio.run(extender.process_preemption(POD, CANDIDATES))] == ["b"]


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (200, b'{"a": 1}', None), (200, b"null", None), (200, b"[]", None),
        (404, b"", "failed verb with extender at URL http://x/verb, code 404"),
        (201, b"{}", "failed verb with extender at URL http://x/verb, code 201"),
    ],
)  # fmt: skip
def test_only_200_is_an_answer(status: int, body: bytes, error: str | None) -> None:
    asked: list[Any] = []

    class Response:
        def __init__(self) -> None:
            self.status = status

        async def read(self) -> bytes:
            return body

        async def __aenter__(self) -> Response:
            return self

        async def __aexit__(self, *_: object) -> None: ...

    class Session:
        def post(self, *args: Any, **more: Any) -> Response:
            asked.append((args, more))
            return Response()

    extender = HTTPExtender(ExtenderConfig("http://x/"))
    session: Any = Session()
    extender._session = session
    if error is None:
        assert asyncio.run(extender._send("verb", {"k": "v"})) == ({"a": 1} if b"a" in body else {})
    else:
        with pytest.raises(ExtenderError) as failure:
            asyncio.run(extender._send("verb", {"k": "v"}))
        assert str(failure.value) == error
    assert asked == [(("http://x/verb",), {"data": b'{"k":"v"}', "headers": {"content-type": "application/json"}})]


def test_a_missing_opinion_is_no_reason_to_wait() -> None:
    algorithm = Algorithm(
        default_framework(), snapshot_of(make_node(n) for n in "ab"), rng=random.Random(1), extended=True
    )
    broken = Answering(ExtenderError("out of order"), prioritize_verb="p")
    likes_b = Answering([{"Host": "b", "Score": 10}], prioritize_verb="p", weight=9)
    result = asyncio.run(algorithm.schedule_pod_with_extenders(CycleState(), POD, [broken, likes_b]))
    assert result.suggested_host == "b"
    assert len(broken.asked) == len(likes_b.asked) == 1
    assert result.scores["http://x"] == {"a": 0, "b": 900}


@pytest.mark.parametrize(
    ("verbs", "extended"),
    [
        ({"filter_verb": "f"}, True),
        ({"prioritize_verb": "p"}, True),
        ({"bind_verb": "b"}, False),
        ({"preempt_verb": "x"}, False),
    ],
)
def test_who_filters_or_scores_makes_the_search_go_on_behind_the_first_node(
    verbs: dict[str, str], extended: bool
) -> None:
    client = Client(FakeAPI(), "scheduler/1")
    configuration = SchedulerConfiguration(extenders=(ExtenderConfig("http://x", **verbs),))  # type: ignore[arg-type]
    scheduler = Scheduler.new(client, SharedInformerFactory(client), clock=Clock(), configuration=configuration)
    [algorithm] = scheduler._schedule_one._algorithms.values()
    assert algorithm._extended is extended
