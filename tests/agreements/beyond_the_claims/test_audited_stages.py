"""Which stages of a request are not logged, and which of two notes stays."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from lifecycle.agreements.apiserver.audited import our_events
from lifecycle.api.http.wire import Handler, Object, Request, RequestInfo, Response, UserInfo, WatchFrame
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.audit import context
from lifecycle.apiserver.audit.policy import AuditPolicy
from lifecycle.apiserver.authn.authenticator import AuthenticationError, Identity
from lifecycle.apiserver.filters.audit import AuditLog, with_failed_request_audit
from lifecycle.apiserver.filters.authentication import answer_unauthorized, with_authentication
from lifecycle.cluster.rehearsal import on_virtual_time

GET = RequestInfo(True, "/api/v1/pods", "get", version="v1", resource="pods")
RECEIVED, STARTED, PANIC = "RequestReceived", "ResponseStarted", "Panic"


@pytest.mark.parametrize(
    ("everywhere", "here", "omitted"),
    [
        ([RECEIVED], [STARTED], {RECEIVED, STARTED}),
        ([RECEIVED], [RECEIVED], {RECEIVED}),
        ([RECEIVED], None, {RECEIVED}),
        ([RECEIVED], [], {RECEIVED}),
        (None, [STARTED, PANIC], {STARTED, PANIC}),
        (None, None, set()),
    ],
)
def test_what_the_policy_leaves_out_a_rule_can_only_add_to(
    everywhere: list[str] | None, here: list[str] | None, omitted: set[str]
) -> None:
    rule: Object = {"level": "Metadata", **({"omitStages": here} if here is not None else {})}
    policy: Object = {"rules": [rule], **({"omitStages": everywhere} if everywhere is not None else {})}
    config = AuditPolicy(policy).evaluate(UserInfo("jane", ()), GET)
    assert (config.level, set(config.omit_stages)) == ("Metadata", omitted)


@pytest.mark.parametrize(
    ("everywhere", "here", "omitted"),
    [(True, None, True), (True, False, False), (False, True, True), (False, None, False), (None, None, False)],
)
def test_of_managed_fields_the_rule_has_the_last_word(everywhere: Any, here: Any, omitted: bool) -> None:
    rule: Object = {"level": "Request", **({"omitManagedFields": here} if here is not None else {})}
    policy: Object = {"rules": [rule], **({"omitManagedFields": everywhere} if everywhere is not None else {})}
    assert AuditPolicy(policy).evaluate(None, GET).omit_managed_fields is omitted


def test_of_two_notes_with_one_key_the_first_stays() -> None:
    event: Object = {}
    token = context.audit_event.set(event)
    try:
        context.annotate("a", "first", "b", "only")
        context.annotate("a", "second", "c", "third")
    finally:
        context.audit_event.reset(token)
    assert event["annotations"] == {"a": "first", "b": "only", "c": "third"}


def _events(level: str, handler: Handler, request: Request) -> list[Object]:
    """What is written of a request, under a policy that wants all of it on this level."""
    lines = list[bytes]()
    log = AuditLog(AuditPolicy({"rules": [{"level": level}]}), lines.append, Clock())

    async def main() -> None:
        with contextlib.suppress(ValueError):
            answer = await log.logged(handler, request)
            if answer.stream is not None:
                async for _ in answer.stream:
                    pass

    on_virtual_time(main())
    return [json.loads(line) for line in lines]


def _posted() -> Request:
    path = "/api/v1/namespaces/shop/pods"
    info = RequestInfo(True, path, "create", version="v1", namespace="shop", resource="pods")
    return Request("POST", path, info=info, user=UserInfo("jane", ("devs",)), body=b'{"kind":"Pod","apiVersion":"v1"}')


async def _made(request: Request) -> Response:
    return Response(201, obj={"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}})


async def _fails(request: Request) -> Response:
    raise ValueError("a bug")


async def _watched(request: Request) -> Response:
    async def frames() -> AsyncIterator[WatchFrame]:
        yield WatchFrame(
            "ADDED", {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "resourceVersion": "1"}}
        )

    return Response(stream=frames())


@pytest.mark.parametrize(
    ("level", "sent", "answered"),
    [("Metadata", False, False), ("Request", True, False), ("RequestResponse", True, True)],
)
def test_what_was_sent_and_what_was_answered_is_kept_as_far_as_the_level_goes(
    level: str, sent: bool, answered: bool
) -> None:
    received, complete = _events(level, _made, _posted())
    assert (received["stage"], complete["stage"]) == (RECEIVED, "ResponseComplete")
    assert {each["level"] for each in (received, complete)} == {level}
    assert "responseStatus" not in received
    assert "requestObject" not in received
    assert complete["responseStatus"]["code"] == 201
    assert ("requestObject" in complete, "responseObject" in complete) == (sent, answered)
    assert received["auditID"] == complete["auditID"]


def test_who_asked_is_said_at_each_stage_whoever_it_is_further_in() -> None:
    async def impersonates(request: Request) -> Response:
        request.user = UserInfo("ann")
        return await _made(request)

    async def fails_as_another(request: Request) -> Response:
        request.user = UserInfo("ann")
        return await _fails(request)

    for handler in (_made, impersonates, _fails, fails_as_another):
        events = _events("Metadata", handler, _posted())
        assert [each["user"]["username"] for each in events] == ["jane", "jane"], handler
        assert events[0]["user"]["groups"] == ["devs"]


def test_a_bug_is_a_stage_of_its_own() -> None:
    events = _events("Metadata", _fails, _posted())
    assert [each["stage"] for each in events] == [RECEIVED, PANIC]
    assert events[1]["responseStatus"]["code"] == 500


def test_what_goes_on_for_long_is_told_of_when_it_starts_and_when_it_ends() -> None:
    request = _posted()
    request.method, request.body = "GET", b""
    request.info = RequestInfo(True, request.path, "watch", version="v1", namespace="shop", resource="pods")
    stages = [each["stage"] for each in _events("Metadata", _watched, request)]
    assert stages == [RECEIVED, STARTED, "ResponseComplete"]


def test_what_was_sent_is_kept_as_it_was_understood() -> None:
    """With defaults, and without what nobody knows. Upstream: `audit.LogRequestObject`, which has the decoded object."""
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    body = {
        "kind": "Deployment",
        "apiVersion": "apps/v1",
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template, "unheardOf": 1},
    }
    request = {"what": "", "user": "admin", "groups": ["system:masters"], "method": "POST", "headers": {}, "body": body}
    request |= {"path": "/apis/apps/v1/namespaces/default/deployments"}
    policy = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Request"}]}
    [events] = our_events(policy, [request])
    kept = events[-1]["requestObject"]
    assert kept["spec"]["replicas"] == 1
    assert "unheardOf" not in kept["spec"]
    assert "managedFields" not in kept["metadata"], "what is sent says nothing of who owns what"


@pytest.mark.parametrize("rules", [[{"level": "None"}], [], [{"level": "Metadata", "users": ["ann"]}]])
@pytest.mark.parametrize("end", ["answers", "fails", "streams"])
def test_of_what_nobody_wants_to_know_nothing_is_written_and_nothing_is_kept(rules: list[Object], end: str) -> None:
    """However it ends. Upstream: `withAudit`, which does not even decorate the answer; a policy's end is `None`."""
    lines, events = list[bytes](), list[Any]()

    async def stream() -> AsyncIterator[WatchFrame]:
        yield WatchFrame("ADDED", {"metadata": {"name": "p"}})

    async def handler(request: Request) -> Response:
        events.append(context.audit_event.get())
        context.annotate("a", "note")
        if end == "fails":
            raise ValueError("nobody thought of it")
        return Response(200, obj={}, stream=stream() if end == "streams" else None)

    async def main() -> None:
        log = AuditLog(AuditPolicy({"rules": rules}), lines.append, Clock())
        with contextlib.suppress(ValueError):
            answer = await log.logged(handler, Request("GET", GET.path, info=GET, user=UserInfo("jane", ())))
            assert answer.status == 200

    on_virtual_time(main())
    assert (lines, events) == ([], [None])


@pytest.mark.parametrize(
    ("rules", "kept"),
    [
        ([{"level": "Metadata"}], ["ResponseStarted"]),
        ([{"level": "None"}], []),
        # nobody is known yet, so a rule about somebody does not fit
        ([{"level": "None", "users": ["jane"]}, {"level": "Metadata"}], ["ResponseStarted"]),
    ],
)
def test_whoever_is_refused_before_it_is_known_who_asks_is_logged_too(rules: list[Object], kept: list[str]) -> None:
    """Upstream: `WithFailedAuthenticationAudit`."""

    class Unknown:
        async def authenticate_request(self, request: Request) -> Identity:
            raise AuthenticationError("no such token")

    lines, reached = list[bytes](), list[Request]()
    log = AuditLog(AuditPolicy({"rules": rules}), lines.append, Clock())

    async def inner(request: Request) -> Response:
        reached.append(request)
        return Response(200)

    failed = with_failed_request_audit(answer_unauthorized, log)
    request = Request("GET", "/api/v1/pods", headers={"authorization": "Bearer x"}, info=GET)
    answer = on_virtual_time(with_authentication(inner, Unknown(), failed)(request))
    events = [json.loads(line) for line in lines]
    assert (answer.status, reached) == (401, [])
    assert [each["stage"] for each in events] == kept
    assert all(each["responseStatus"]["code"] == 401 and not each["user"] for each in events)
