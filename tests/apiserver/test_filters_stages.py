"""The single stages: impersonation, audit, flow control, CORS, warnings, the in-flight limit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.clock import Clock, run_virtual
from lifecycle.api.status import StatusError, not_found
from lifecycle.api.wire import MASTERS, Object, Request, RequestInfo, Response, UserInfo, WatchFrame
from lifecycle.apiserver.authn.union import Authenticator, UnionRequestAuthenticator
from lifecycle.apiserver.authz.always import AlwaysAllow
from lifecycle.apiserver.authz.rbac import RBACAuthorizer
from lifecycle.apiserver.bootstrap.policy import bootstrap_objects
from lifecycle.apiserver.chain import ChainConfig, default_build_handler_chain
from lifecycle.apiserver.filters.audit import AuditLog, log_request_object
from lifecycle.apiserver.filters.audit_policy import AuditPolicy
from lifecycle.apiserver.filters.cors import with_cors
from lifecycle.apiserver.filters.impersonation import impersonated_user, repeated, wanted_user
from lifecycle.apiserver.filters.max_in_flight import with_max_in_flight_limit
from lifecycle.apiserver.filters.priority_and_fairness import FlowController, with_priority_and_fairness
from lifecycle.apiserver.filters.priority_level import PriorityLevel, deal
from lifecycle.apiserver.filters.timeout import parse_duration
from lifecycle.apiserver.filters.warning import warning_headers
from lifecycle.apiserver.object_reader import StaticReader
from tests.apiserver.recorded_exchanges import RBAC, RECORDINGS

# -- impersonation ----------------------------------------------------------------------------------------------------


def granting(*rules: Object) -> RBACAuthorizer:
    """RBAC under which `boss` has some rules."""
    meta = {"name": "r"}
    role = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": meta, "rules": list(rules)}
    binding: Object = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding", "metadata": meta}
    binding |= {"roleRef": {"kind": "ClusterRole", "name": "r"}, "subjects": [{"kind": "User", "name": "boss"}]}
    return RBACAuthorizer(StaticReader([role, binding]))


def rule(verbs: str, group: str, resources: str, *names: str) -> Object:
    named = {"resourceNames": list(names)} if names else {}
    return {"verbs": [verbs], "apiGroups": [group], "resources": [resources], **named}


LIST_PODS = RequestInfo(True, "/api/v1/pods", "list", version="v1", resource="pods")
BOSS = UserInfo("boss")
AUTHN = "authentication.k8s.io"


def test_the_old_way_is_one_verb_for_each_part_of_the_identity() -> None:
    wanted = UserInfo("jane", ("devs",), "7", {"scopes": ("view",)})
    parts = [
        rule("impersonate", "", "users", "jane"),
        rule("impersonate", "", "groups", "devs"),
        rule("impersonate", AUTHN, "uids", "7"),
        rule("impersonate", AUTHN, "userextras/scopes", "view"),
    ]
    user, constraint = impersonated_user(granting(*parts), BOSS, wanted, LIST_PODS)
    assert user == UserInfo("jane", ("devs", "system:authenticated"), "7", {"scopes": ("view",)})
    assert constraint == ""
    for missing in parts:
        with pytest.raises(StatusError):
            impersonated_user(granting(*(part for part in parts if part is not missing)), BOSS, wanted, LIST_PODS)


def test_the_constrained_way_needs_both_halves() -> None:
    on, who = rule("impersonate-on:user-info:list", "", "pods"), rule("impersonate:user-info", AUTHN, "users", "jane")
    user, constraint = impersonated_user(granting(on, who), BOSS, UserInfo("jane"), LIST_PODS)
    assert (user.name, constraint) == ("jane", "impersonate:user-info")
    with pytest.raises(StatusError, match="cannot impersonate-on:user-info:list resource"):
        impersonated_user(granting(who), BOSS, UserInfo("jane"), LIST_PODS)
    with pytest.raises(StatusError, match='cannot impersonate:user-info resource "users"'):
        impersonated_user(granting(on), BOSS, UserInfo("jane"), LIST_PODS)


def test_nodes_and_accounts_have_modes_and_groups_of_their_own() -> None:
    node = UserInfo("system:node:n")
    rules = [
        rule("impersonate-on:arbitrary-node:list", "", "pods"),
        rule("impersonate:arbitrary-node", AUTHN, "nodes", "n"),
    ]
    user, _ = impersonated_user(granting(*rules), BOSS, node, LIST_PODS)
    assert user.groups == ("system:nodes", "system:authenticated")
    account = UserInfo("system:serviceaccount:a:b")
    rules = [
        rule("impersonate-on:serviceaccount:list", "", "pods"),
        rule("impersonate:serviceaccount", AUTHN, "serviceaccounts", "b"),
    ]
    user, _ = impersonated_user(granting(*rules), BOSS, account, LIST_PODS)
    assert user.groups == ("system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated")


def test_a_constrained_impersonator_never_becomes_a_master() -> None:
    rules = [rule("impersonate-on:user-info:list", "", "pods"), rule("impersonate:user-info", AUTHN, "*")]
    with pytest.raises(StatusError, match="impersonating the system:masters group is not allowed"):
        impersonated_user(granting(*rules), BOSS, UserInfo("jane", (MASTERS,)), LIST_PODS)


def test_an_associated_node_is_the_one_the_accounts_token_names() -> None:
    on = rule("impersonate-on:associated-node:list", "", "pods")
    who = rule("impersonate:associated-node", AUTHN, "nodes", "*")
    authorizer = granting(on, who)
    agent = UserInfo("system:serviceaccount:n:agent", extra={"authentication.kubernetes.io/node-name": ("here",)})
    binding = StaticReader()
    meta = {"name": "r"}
    binding.put({"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": meta, "rules": [on, who]})
    subjects = [{"kind": "ServiceAccount", "name": "agent", "namespace": "n"}]
    ref = {"kind": "ClusterRole", "name": "r"}
    binding.put(
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": meta,
            "roleRef": ref,
            "subjects": subjects,
        }
    )
    authorizer = RBACAuthorizer(binding)
    user, constraint = impersonated_user(authorizer, agent, UserInfo("system:node:here"), LIST_PODS)
    assert (user.name, constraint) == ("system:node:here", "impersonate:associated-node")
    with pytest.raises(StatusError):
        impersonated_user(authorizer, agent, UserInfo("system:node:there"), LIST_PODS)


def test_headers_say_whom_to_be_and_a_group_alone_is_an_error() -> None:
    lines = [
        ("Impersonate-User", "jane"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
        ("Impersonate-Extra-A%2fb", "c"),
    ]
    assert wanted_user(repeated(lines)) == UserInfo("jane", ("a", "b"), "", {"a/b": ("c",)})
    assert wanted_user({"accept": "x"}) is None
    with pytest.raises(StatusError) as refused:
        wanted_user({"impersonate-group": "a"})
    assert refused.value.message == (
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a"}, Extra:map[string][]string(nil)} '
        "without impersonating a user name"
    )


# -- audit ------------------------------------------------------------------------------------------------------------


def audited(policy: Object, api_handler: Any) -> tuple[Any, list[Object]]:
    """A chain that logs, and its log."""
    lines: list[Object] = []
    log = AuditLog(AuditPolicy(policy), lambda line: lines.append(orjson.loads(line)), Clock())
    config = ChainConfig(authenticator=Authenticator(UnionRequestAuthenticator()), authorizer=AlwaysAllow(), audit=log)
    return default_build_handler_chain(api_handler, config), lines


EVERYTHING = {"rules": [{"level": "RequestResponse"}], "omitManagedFields": True}


def recorded_events() -> list[Object]:
    return [orjson.loads(line) for line in (RECORDINGS / "kind-1.36.2/audit/journey.jsonl").read_bytes().splitlines()]


def test_events_have_the_recorded_shape() -> None:
    """One recorded event of each kind: the same keys in the same order, the same facts where we made the same request."""
    recorded = recorded_events()

    async def api(request: Request) -> Response:
        assert request.info is not None
        if request.info.verb == "get":
            raise not_found("serviceaccounts", "default")
        created = {"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": "default", "managedFields": []}}
        return Response(201, obj=created)

    handler, lines = audited(EVERYTHING, api)

    async def main() -> None:
        for event in recorded[:6]:
            if event["stage"] != "ResponseComplete":
                continue
            verb = {"create": "POST", "get": "GET"}[event["verb"]]
            user = event["user"]
            extra = {key: tuple(values) for key, values in user["extra"].items()}
            request = Request(
                verb,
                event["requestURI"],
                headers={"user-agent": event["userAgent"], "audit-id": event["auditID"]},
                body=orjson.dumps(event["requestObject"]) if "requestObject" in event else b"",
                user=UserInfo(user["username"], tuple(user["groups"]), user.get("uid", ""), extra),
                remote_addr=event["sourceIPs"][0],
            )
            await handler(request)

    run_virtual(main())
    assert len(lines) == 6
    by_id = {(event["auditID"], event["stage"]): event for event in recorded[:6]}
    for ours in lines:
        theirs = by_id[ours["auditID"], ours["stage"]]
        assert list(ours) == list(theirs)
        for key in (
            "level",
            "requestURI",
            "verb",
            "user",
            "sourceIPs",
            "userAgent",
            "objectRef",
            "responseStatus",
            "requestObject",
        ):
            assert ours.get(key) == theirs.get(key), key
        assert "managedFields" not in str(ours.get("responseObject"))


def test_every_recorded_kind_of_event_is_one_we_write() -> None:
    known = {
        "kind",
        "apiVersion",
        "level",
        "auditID",
        "stage",
        "requestURI",
        "verb",
        "user",
        "impersonatedUser",
        "sourceIPs",
    }
    known |= {"userAgent", "objectRef", "responseStatus", "requestObject", "responseObject", "annotations"}
    known |= {"requestReceivedTimestamp", "stageTimestamp"}
    assert {key for event in recorded_events() for key in event} <= known


def test_the_level_decides_how_much_is_kept() -> None:
    async def api(request: Request) -> Response:
        log_request_object({"kind": "ConfigMap", "data": {}})
        return Response(201, obj={"kind": "ConfigMap"})

    policy = {
        "rules": [
            {"level": "None", "users": ["quiet"]},
            {"level": "Metadata", "resources": [{"group": "", "resources": ["secrets"]}]},
            {"level": "Request", "namespaces": ["n"], "omitStages": ["RequestReceived"]},
            {"level": "Metadata", "nonResourceURLs": ["/healthz*"]},
        ]
    }
    handler, lines = audited(policy, api)

    async def main() -> None:
        for user, path in (
            ("quiet", "/api/v1/namespaces/n/configmaps"),
            ("loud", "/api/v1/namespaces/n/secrets"),
            ("loud", "/api/v1/namespaces/n/configmaps"),
            ("loud", "/healthz/x"),
            ("loud", "/version"),
        ):
            await handler(Request("POST", path, user=UserInfo(user), obj={"kind": "posted"}))

    run_virtual(main())
    kept = [
        (e["requestURI"].rpartition("/")[2], e["stage"], "requestObject" in e, "responseObject" in e) for e in lines
    ]
    assert kept == [
        ("secrets", "RequestReceived", False, False),
        ("secrets", "ResponseComplete", False, False),
        ("configmaps", "ResponseComplete", True, False),
        ("x", "RequestReceived", False, False),
        ("x", "ResponseComplete", False, False),
    ]
    assert lines[2]["requestObject"] == {"kind": "ConfigMap", "data": {}}
    with pytest.raises(ValueError, match="unknown audit level"):
        AuditPolicy({"rules": [{"level": "Everything"}]})


def test_a_watch_is_complete_when_it_is_closed() -> None:
    async def frames() -> AsyncIterator[WatchFrame]:
        yield WatchFrame("ADDED", {})
        await asyncio.sleep(100)

    async def api(request: Request) -> Response:
        return Response(stream=frames())

    handler, lines = audited(EVERYTHING, api)

    async def main() -> None:
        request = Request("GET", "/api/v1/pods", query={"watch": ["1"]}, user=UserInfo("jane"))
        response = await handler(request)
        stages = [line["stage"] for line in lines]
        assert stages == ["RequestReceived", "ResponseStarted"]
        async for _ in response.stream:
            break
        await response.stream.aclose()

    run_virtual(main())
    assert [line["stage"] for line in lines] == ["RequestReceived", "ResponseStarted", "ResponseComplete"]
    assert lines[-1]["requestURI"] == "/api/v1/pods?watch=1"


def test_an_impersonated_request_names_both_users_and_a_bug_is_a_panic() -> None:
    async def bug(request: Request) -> Response:
        raise RuntimeError("oops")

    handler, lines = audited(EVERYTHING, bug)
    request = Request("GET", "/api/v1/pods", user=UserInfo("boss"), headers={"impersonate-user": "jane"})
    assert run_virtual(handler(request)).status == 500
    panic = lines[-1]
    assert (panic["stage"], panic["user"]["username"], panic["impersonatedUser"]["username"]) == (
        "Panic",
        "boss",
        "jane",
    )
    assert panic["annotations"]["authorization.k8s.io/decision"] == "allow"


# -- flow control -----------------------------------------------------------------------------------------------------


def level(seats: int, queues: int = 4, hand: int = 2, length: int = 2) -> PriorityLevel:
    queuing = {"queues": queues, "handSize": hand, "queueLengthLimit": length}
    response = {"type": "Queue", "queuing": queuing} if queues else {"type": "Reject"}
    spec = {"type": "Limited", "limited": {"nominalConcurrencyShares": 1, "limitResponse": response}}
    return PriorityLevel({"metadata": {"name": "l", "uid": "u"}, "spec": spec}, seats)


def test_seats_are_taken_queued_for_and_handed_on() -> None:
    async def main() -> None:
        one = level(seats=1)
        assert one.try_acquire()
        assert not one.try_acquire()
        waiting = [asyncio.ensure_future(one.acquire("flow", 10)) for _ in range(3)]
        await asyncio.sleep(0)
        assert one.waiting == 3
        for _ in range(3):
            one.release()
            await asyncio.sleep(0)
        assert [await task for task in waiting] == [True, True, True]
        one.release()
        assert (one.executing, one.waiting) == (0, 0)

    run_virtual(main())


def test_a_full_queue_turns_away_and_so_does_patience() -> None:
    async def main() -> None:
        one = level(seats=1, queues=2, hand=2, length=1)
        assert one.try_acquire()
        waiting = [asyncio.ensure_future(one.acquire("flow", 5)) for _ in range(3)]
        await asyncio.sleep(0)
        assert [await task for task in waiting] == [False, False, False]  # one at once, two after five seconds
        assert asyncio.get_running_loop().time() == pytest.approx(5)
        assert (one.executing, one.waiting) == (1, 0)
        assert not await level(seats=0, queues=0).acquire("flow", 5)

    run_virtual(main())


def test_a_flood_leaves_another_flow_its_turn() -> None:
    """One seat; 20 requests of one flow wait, then one of another: it does not wait for all twenty."""

    async def main() -> None:
        one = level(seats=1, queues=64, hand=4, length=50)
        order: list[str] = []

        async def work(flow: str) -> None:
            assert await one.acquire(flow, 1000)
            await asyncio.sleep(1)
            order.append(flow)
            one.release()

        tasks = [asyncio.ensure_future(work("flood")) for _ in range(21)]
        await asyncio.sleep(0)
        tasks.append(asyncio.ensure_future(work("other")))
        await asyncio.gather(*tasks)
        assert order.index("other") <= 6

    run_virtual(main())


@given(
    st.integers(1, 3),
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 20), st.integers(1, 9), st.booleans()), min_size=1, max_size=25
    ),
)
def test_no_seat_is_ever_lost_or_doubled(seats: int, requests: list[tuple[str, int, int, bool]]) -> None:
    """Whatever arrives, waits, gives up or is cancelled: never more than `seats` at work, and none left taken."""

    async def main() -> None:
        one = level(seats=seats)
        busiest = 0
        at_work = 0

        async def work(flow: str, start: int, length: int) -> None:
            nonlocal busiest, at_work
            await asyncio.sleep(start)
            if not await one.acquire(flow, 7):
                return
            at_work += 1
            busiest = max(busiest, at_work)
            try:
                await asyncio.sleep(length)
            finally:
                at_work -= 1
                one.release()

        tasks = [asyncio.ensure_future(work(flow, start, length)) for flow, start, length, _ in requests]
        await asyncio.sleep(10)
        for task, (_, _, _, cancelled) in zip(tasks, requests, strict=True):
            if cancelled:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert busiest <= seats
        assert (one.executing, one.waiting) == (0, 0)

    run_virtual(main())


@given(st.text(max_size=10), st.integers(1, 64), st.integers(1, 8))
def test_a_flow_is_always_dealt_the_same_hand(flow: str, deck: int, hand: int) -> None:
    cards = deal(flow, deck, hand)
    assert cards == deal(flow, deck, hand)
    assert len(set(cards)) == min(hand, deck)
    assert all(0 <= card < deck for card in cards)


def test_too_much_of_one_kind_is_answered_with_429_and_does_not_stop_the_rest() -> None:
    async def main() -> None:
        flow_control = FlowController(StaticReader(bootstrap_objects()), concurrency=10)
        started = asyncio.Event()

        async def slow(request: Request) -> Response:
            started.set()
            await asyncio.sleep(1000)
            return Response(obj={})

        handler = with_priority_and_fairness(slow, flow_control, wait_limit=15)
        info = RequestInfo(True, "/api/v1/nodes", "list", version="v1", resource="nodes")
        jane = UserInfo("jane", ("system:authenticated",))
        default = flow_control.classify(jane, info)
        assert default is not None
        assert (default.schema, default.level.name) == ("global-default", "global-default")
        assert default.level.seats == 1  # 10 seats, 20 of 245 shares, rounded up
        first = asyncio.ensure_future(handler(Request("GET", "/api/v1/nodes", user=jane, info=info)))
        await started.wait()
        second = await handler(Request("GET", "/api/v1/nodes", user=jane, info=info))
        assert (second.status, second.headers["Retry-After"]) == (429, "1")
        assert second.body == b"Too many requests, please try again later.\n"
        boss = asyncio.ensure_future(
            handler(Request("GET", "/api/v1/nodes", user=UserInfo("r", (MASTERS,)), info=info))
        )
        await asyncio.sleep(1)
        assert not boss.done()  # at work, not waiting: its level is exempt
        assert flow_control.levels["exempt"].executing == 1
        for task in (first, boss):
            task.cancel()
        await asyncio.gather(first, boss, return_exceptions=True)
        assert default.level.executing == 0

    run_virtual(main())


def test_the_plain_limit_counts_reads_and_writes_apart() -> None:
    async def main() -> None:
        async def slow(request: Request) -> Response:
            await asyncio.sleep(1)
            return Response(obj={})

        handler = with_max_in_flight_limit(slow, max_requests=1, max_mutating=1)

        def ask(verb: str, user: UserInfo) -> asyncio.Future[Response]:
            info = RequestInfo(True, "/api/v1/nodes", verb, version="v1", resource="nodes")
            return asyncio.ensure_future(handler(Request("GET", "/", user=user, info=info)))

        jane, boss = UserInfo("jane"), UserInfo("boss", (MASTERS,))
        tasks = [ask("list", jane), ask("list", jane), ask("create", jane), ask("update", jane), ask("list", boss)]
        assert [(await task).status for task in tasks] == [200, 429, 200, 429, 200]

    run_virtual(main())


# -- small ones -------------------------------------------------------------------------------------------------------


def test_browsers_are_answered_only_for_allowed_origins() -> None:
    async def api(request: Request) -> Response:
        return Response(obj={})

    assert with_cors(api, ()) is api
    handler = with_cors(api, (r"//example\.com$",))

    def ask(origin: str, method: str = "GET") -> Response:
        return run_virtual(handler(Request(method, "/", headers={"origin": origin})))  # type: ignore[arg-type]

    assert ask("https://example.com").headers["Access-Control-Allow-Origin"] == "https://example.com"
    assert "Access-Control-Allow-Origin" not in ask("https://example.org").headers
    assert ask("https://example.com", "OPTIONS").status == 204


def test_warnings_are_quoted_once_each_and_cut_when_there_are_too_many() -> None:
    assert warning_headers(['say "hi"', "b\\c", 'say "hi"', "", "new\nline"]) == [
        '299 - "say \\"hi\\""',
        '299 - "b\\\\c"',
    ]
    long = warning_headers([f"{number} " + "x" * 1000 for number in range(30)])
    assert all(len(header) <= 256 + len('299 - ""') for header in long)
    assert sum(map(len, long)) < 5000


@pytest.mark.parametrize(
    ("text", "seconds"), [("1s", 1), ("1m30s", 90), ("1.5h", 5400), ("100ms", 0.1), ("0", 0), ("-1s", -1), (".5s", 0.5)]
)
def test_go_durations_are_understood(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5", "x", "1s2", "1 s", "1d"])
def test_other_durations_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="time: "):
        parse_duration(text)
