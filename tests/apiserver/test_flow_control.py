"""Priority and fairness under load: seats, wide requests, lending, and what can be seen of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import Object, Request, RequestInfo, Response, UserInfo
from lifecycle.api.loop.clock import run_virtual
from lifecycle.apiserver.authn.union import Authenticator, UnionRequestAuthenticator
from lifecycle.apiserver.authz.always import AlwaysAllow
from lifecycle.apiserver.filters import priority_and_fairness
from lifecycle.apiserver.filters.priority_and_fairness import FlowController, with_priority_and_fairness
from lifecycle.apiserver.filters.priority_level import PriorityLevel
from lifecycle.apiserver.filters.queue_set import Work
from lifecycle.apiserver.filters.seat_borrowing import Claim, SeatDemand, compute_concurrency_allocation
from lifecycle.apiserver.filters.work_estimate import WorkEstimator
from lifecycle.apiserver.non_resource.flow_control_dump import dump, tabulated
from lifecycle.apiserver.server.chain import ChainConfig, default_build_handler_chain
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.apiserver.storage.stats import Stats

GROUP = "flowcontrol.apiserver.k8s.io/v1"


def a_level(
    name: str, shares: int, *, lend: int = 0, borrow: int | None = None, queues: int = 4, length: int = 5
) -> Object:
    queuing = {"queues": queues, "handSize": 2, "queueLengthLimit": length}
    response = {"type": "Queue", "queuing": queuing} if queues else {"type": "Reject"}
    limited: Object = {"nominalConcurrencyShares": shares, "lendablePercent": lend, "limitResponse": response}
    if borrow is not None:
        limited["borrowingLimitPercent"] = borrow
    spec = {"type": "Limited", "limited": limited}
    return {
        "apiVersion": GROUP,
        "kind": "PriorityLevelConfiguration",
        "metadata": {"name": name, "uid": name},
        "spec": spec,
    }


def a_schema(name: str, level: str, user: str, precedence: int = 100) -> Object:
    rule = {
        "subjects": [{"kind": "User", "user": {"name": user}}],
        "resourceRules": [
            {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True, "namespaces": ["*"]}
        ],
    }
    spec = {
        "matchingPrecedence": precedence,
        "priorityLevelConfiguration": {"name": level},
        "distinguisherMethod": {"type": "ByUser"},
        "rules": [rule],
    }
    return {"apiVersion": GROUP, "kind": "FlowSchema", "metadata": {"name": name, "uid": f"fs-{name}"}, "spec": spec}


def controller(seats: int = 10, **levels: Object) -> FlowController:
    objects = [*levels.values(), *(a_schema(name, name, name) for name in levels)]
    flow = FlowController(StaticReader(objects), seats)
    flow.classify(UserInfo("x"), RequestInfo(False, "/", "get"))
    return flow


def group_schema(name: str, level: str, group: str, precedence: int) -> Object:
    schema = a_schema(name, level, "", precedence)
    schema["spec"]["rules"][0]["subjects"] = [{"kind": "Group", "group": {"name": group}}]
    return schema


def test_five_thousand_nodes_are_judged_once_and_each_has_a_flow_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[str] = []
    original = priority_and_fairness.matches_flow_schema

    def counting(schema: Object, user: UserInfo, info: RequestInfo) -> bool:
        judged.append(user.name)
        return original(schema, user, info)

    monkeypatch.setattr(priority_and_fairness, "matches_flow_schema", counting)
    schema = group_schema("system-nodes", "system", "system:nodes", 500)
    flow = FlowController(StaticReader([a_level("system", 30), schema]), 10)
    info = RequestInfo(True, "/api/v1/nodes", "get", resource="nodes")
    for number in range(5_000):
        found = flow.classify(UserInfo(f"system:node:n{number}", ("system:nodes",)), info)
        assert found is not None
        assert found.flow == ("system-nodes", f"system:node:n{number}")
    assert judged == ["system:node:n0"]


def test_a_user_whom_a_schema_names_is_judged_by_name_and_so_is_a_service_account() -> None:
    account = a_schema("account", "system", "", 50)
    subject = {"kind": "ServiceAccount", "serviceAccount": {"namespace": "kube-system", "name": "dns"}}
    account["spec"]["rules"][0]["subjects"] = [subject]
    everybody = group_schema("everybody", "system", "*", 900)
    objects = [a_level("system", 30), account, everybody, a_schema("jane", "system", "jane", 60)]
    flow = FlowController(StaticReader(objects), 10)
    info = RequestInfo(True, "/api/v1/nodes", "get", resource="nodes")

    def schema_of(name: str) -> str:
        found = flow.classify(UserInfo(name, ("system:authenticated",)), info)
        return found.schema if found is not None else ""

    names = ("joe", "jane", "system:serviceaccount:kube-system:other", "system:serviceaccount:kube-system:dns")
    for _ in range(2):
        assert [schema_of(name) for name in names] == ["everybody", "jane", "everybody", "account"]


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 40), st.integers(0, 60)), min_size=1, max_size=6),
    st.integers(1, 150),
)
def test_all_seats_are_dealt_within_the_bounds(rows: list[tuple[int, int, int]], seats: int) -> None:
    claims = [Claim(low, low + more, max(wanted, low, 1e-6)) for low, more, wanted in rows]
    possible = sum(c.lower for c in claims) <= seats <= sum(c.upper for c in claims)
    if not possible:
        with pytest.raises(ValueError, match=r"^the bounds leave no way to deal \d+ seats$"):
            compute_concurrency_allocation(seats, claims)
        return
    dealt = compute_concurrency_allocation(seats, claims)
    assert sum(dealt) == pytest.approx(seats, abs=1e-6)
    assert all(c.lower - 1e-9 <= d <= c.upper + 1e-9 for c, d in zip(claims, dealt, strict=True))


def test_seats_go_in_proportion_to_what_is_asked_for() -> None:
    claims = [Claim(0, 100, 30), Claim(0, 100, 10), Claim(0, 5, 20)]
    assert compute_concurrency_allocation(45, claims) == pytest.approx([30, 10, 5])


def test_demand_remembers_its_height_and_smooths_the_rest() -> None:
    demand = SeatDemand(0)
    demand.set(10, 0)
    demand.set(0, 5)
    assert demand.close_period(10) == 10
    assert demand.smoothed == pytest.approx(10)  # an average of 5, and a deviation of 5
    assert demand.close_period(20) == 0
    assert demand.smoothed == pytest.approx(9.77)


def test_an_idle_level_lends_to_a_busy_one_though_nobody_else_comes_and_gets_its_seats_back() -> None:
    async def main() -> None:
        flow = controller(seats=20, busy=a_level("busy", 50), idle=a_level("idle", 50, lend=80))
        busy, idle = flow.levels["busy"], flow.levels["idle"]
        flow.adjust(0)
        assert (busy.seats, idle.seats) == (10, 10)
        tasks = [asyncio.create_task(busy.acquire(("busy", str(i)), 100)) for i in range(14)]
        await asyncio.sleep(9.9)
        assert (busy.executing, busy.waiting) == (10, 4)
        await asyncio.sleep(0.2)
        assert (busy.executing, busy.waiting) == (14, 0)
        assert busy.seats >= 14
        assert idle.seats >= idle.least == 2
        assert busy.seats + idle.seats == 20
        tickets = await asyncio.gather(*tasks)
        for ticket in tickets:
            assert ticket is not None
            busy.release(ticket)
        waiting = [asyncio.create_task(idle.acquire(("idle", str(i)), 100)) for i in range(10)]
        await asyncio.sleep(10)
        flow.adjust(20)
        await asyncio.gather(*waiting)
        assert (idle.executing, idle.waiting) == (10, 0)

    run_virtual(main())


def test_where_nobody_must_have_a_seat_and_nobody_wants_one_all_are_dealt_all_the_same() -> None:
    async def main() -> None:
        flow = controller(seats=20, one=a_level("one", 75, lend=100), other=a_level("other", 25, lend=100))
        assert [level.least for level in flow.levels.values()] == [0, 0]
        flow.adjust(0)
        flow.adjust(10)
        assert [level.seats for level in flow.levels.values()] == [10, 10]

    run_virtual(main())


def test_what_may_not_be_borrowed_is_not() -> None:
    async def main() -> None:
        flow = controller(seats=20, busy=a_level("busy", 50, borrow=10), idle=a_level("idle", 50, lend=100))
        busy = flow.levels["busy"]
        flow.adjust(0)
        tasks = [asyncio.create_task(busy.acquire(("busy", str(i)), 100)) for i in range(14)]
        await asyncio.sleep(10)
        flow.adjust(10)
        await asyncio.sleep(0)
        assert busy.seats <= 11
        for task in tasks:
            task.cancel()

    run_virtual(main())


def test_a_long_list_takes_more_seats() -> None:
    """Through the whole filter: what is stored decides how many seats of its level a list takes."""

    async def main() -> None:
        flow = controller(seats=200, users=a_level("users", 50))
        counts = {("", "pods"): Stats(950, 1000), ("", "nodes"): Stats(3, 1000)}
        flow.estimator = WorkEstimator(lambda group, plural: counts.get((group, plural)))
        level = flow.levels["users"]
        taken: list[int] = []

        async def api(request: Request) -> Response:
            taken.append(level.executing)
            return Response(obj={})

        handler = with_priority_and_fairness(api, flow, wait_limit=15)
        for path in ("pods", "pods?limit=250", "nodes", "secrets"):
            plural, _, query = path.partition("?")
            info = RequestInfo(True, "/", "list", version="v1", resource=plural)
            sent = {"limit": [query[6:]]} if query else {}
            await handler(Request("GET", "/", query=sent, user=UserInfo("users"), info=info))
        assert taken == [10, 3, 1, 1]
        assert level.executing == 0

    run_virtual(main())


def test_a_wide_request_waits_for_its_seats_and_is_not_overtaken() -> None:
    async def main() -> None:
        level = PriorityLevel(a_level("l", 1, queues=1), 3)
        first = level.start(("s", "x"))
        assert first is not None
        wide = asyncio.create_task(level.acquire(("s", "a"), 10, Work(3)))
        await asyncio.sleep(0)
        narrow = asyncio.create_task(level.acquire(("s", "b"), 10))
        await asyncio.sleep(0)
        assert (level.executing, level.waiting) == (1, 2)
        level.release(first)
        ticket = await wide
        assert ticket is not None
        assert level.executing == 3
        level.release(ticket)
        ticket = await narrow
        assert ticket is not None
        level.release(ticket)
        assert level.executing == 0
        wider = level.start(("s", "c"), Work(7))
        assert wider is not None
        assert wider.started is not None, "what is wider than the level runs alone"

    run_virtual(main())


def test_a_flood_of_one_user_does_not_drown_another() -> None:
    """One level, many queues: the flood fills its own hand of them, the other user is served within a few turns."""

    async def main() -> None:
        flow = controller(seats=2, **{"elephant": a_level("elephant", 1, queues=64, length=50)})
        level = flow.levels["elephant"]
        served: list[str] = []

        async def one(user: str) -> None:
            ticket = await level.acquire(("elephant", user), 1000)
            assert ticket is not None
            await asyncio.sleep(1)
            served.append(user)
            level.release(ticket)

        flood = [asyncio.create_task(one("elephant")) for _ in range(80)]
        await asyncio.sleep(0)
        await asyncio.create_task(one("mouse"))
        assert served.count("elephant") < 10
        for task in flood:
            task.cancel()

    run_virtual(main())


def overloaded(chain_length: float = 5) -> tuple[Any, FlowController]:
    flow = controller(seats=1, jane=a_level("jane", 1, queues=1, length=1))

    async def slow(request: Request) -> Response:
        await asyncio.sleep(chain_length)
        return Response(obj={})

    config = ChainConfig(Authenticator(UnionRequestAuthenticator()), AlwaysAllow(), flow_control=flow)
    return default_build_handler_chain(slow, config), flow


def test_an_overload_ends_in_429_with_a_hint_when_to_come_again() -> None:
    async def main() -> None:
        handler, flow = overloaded()
        asked = [asyncio.create_task(handler(Request("GET", "/api/v1/nodes", user=UserInfo("jane")))) for _ in range(3)]
        await asyncio.sleep(1)
        shown = dump(flow, "dump_requests")
        assert shown is not None
        rows = [line.split() for line in shown.splitlines()[1:]]
        assert [row[:5] for row in rows] == [["jane,", "jane,", "0,", place, "jane,"] for place in ("0,", "-1,")]
        assert rows[0][6:] == ["1,", "0,", "0s,", "0001-01-01T00:00:00Z"]
        assert rows[1][9] != "0001-01-01T00:00:00Z"
        levels = dump(flow, "dump_priority_levels")
        assert levels is not None
        assert levels.splitlines()[1].split() == ["jane,", "1,", "false,", "false,", "1,", "1,", "1,", "1,", "0,", "0"]
        queues = dump(flow, "dump_queues")
        assert queues is not None
        assert queues.splitlines()[1].split() == (
            ["jane,", "0,", "1,", "1,", "1,", "0.00300000ss,", "1,", "1,", "0.00300000ss"]
        )
        answers = await asyncio.gather(*asked)
        assert sorted(each.status for each in answers) == [200, 200, 429]
        refused = next(each for each in answers if each.status == 429)
        assert refused.headers["Retry-After"] == "1"
        assert refused.headers["X-Kubernetes-Pf-Flowschema-Uid"] == "fs-jane"
        assert refused.body == b"Too many requests, please try again later.\n"

    run_virtual(main())


@pytest.mark.parametrize(("query", "patience"), [({}, 15), ({"timeout": ["4s"]}, 1), ({"timeout": ["10m"]}, 15)])
def test_a_request_waits_for_a_quarter_of_its_time(query: dict[str, list[str]], patience: float) -> None:
    async def main() -> None:
        handler, _ = overloaded(59)
        jane = UserInfo("jane")
        first = asyncio.create_task(handler(Request("GET", "/api/v1/nodes", user=jane)))
        await asyncio.sleep(0)
        answer = await handler(Request("GET", "/api/v1/nodes", query=query, user=jane))
        assert (answer.status, asyncio.get_running_loop().time()) == (429, pytest.approx(patience))
        first.cancel()

    run_virtual(main())


def test_columns_stand_under_each_other() -> None:
    assert tabulated(("A", "Bb"), [("long-name", "x")]) == "A,         Bb\nlong-name, x\n"
    assert dump(controller(), "dump_everything") is None
