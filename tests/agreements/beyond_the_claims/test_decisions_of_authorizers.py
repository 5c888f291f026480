"""What becomes of a decision: the answer, and a note in the audit log."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any, cast

import pytest

from lifecycle.agreements.claim_checks.authorizing import DENY, JANE, ROLE, Fixed, asked, binding
from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.http.wire import Object, Request, RequestInfo, Response, UserInfo
from lifecycle.apiserver.audit import context
from lifecycle.apiserver.authn.authenticator import Identity
from lifecycle.apiserver.authn.union import Authenticator
from lifecycle.apiserver.authz.authorizer import ALLOW, Authorizer, Decision, Verdict, decide
from lifecycle.apiserver.authz.rbac import RBACAuthorizer
from lifecycle.apiserver.authz.union import UnionAuthorizer
from lifecycle.apiserver.filters.authorization import with_authorization
from lifecycle.apiserver.filters.metrics import RequestMetrics
from lifecycle.apiserver.server.chain import ChainConfig, default_build_handler_chain
from lifecycle.apiserver.storage.object_reader import StaticReader


class _AlwaysJane:
    def authenticate_request(self, request: Request) -> Identity:
        return Identity(JANE)


JANES = Authenticator(_AlwaysJane())
BROKEN = Verdict(Decision.NO_OPINION, error="out to lunch")


def answered(authorizer: Authorizer) -> tuple[int, str, dict[str, str]]:
    """The code, the message, and what the audit log has of it."""
    event: Object = {}

    async def handler(request: Request) -> Response:
        return Response(200, obj={})

    async def ask() -> Response:
        context.audit_event.set(event)
        request = Request("GET", "/api/v1/namespaces/shop/pods/x", user=JANE, info=asked())
        return await with_authorization(handler, authorizer)(request)

    answer = on_a_loop(ask())
    assert isinstance(answer.obj, dict)
    noted = {key.removeprefix("authorization.k8s.io/"): value for key, value in event["annotations"].items()}
    return answer.status, str(answer.obj.get("message", "")), noted


@pytest.mark.parametrize(
    ("verdict", "noted"),
    [(ALLOW, {"decision": "allow", "reason": ""}), (DENY, {"decision": "forbid", "reason": "no"})],
)
def test_a_decision_is_noted(verdict: Verdict, noted: dict[str, str]) -> None:
    assert answered(Fixed(verdict))[2] == noted


def test_who_could_not_be_asked_has_not_refused() -> None:
    assert answered(Fixed(BROKEN)) == (500, "Internal error occurred: out to lunch", {"reason": "internal error"})


def test_a_binding_to_a_role_that_is_not_there_helps_nobody_and_says_so() -> None:
    verdict = RBACAuthorizer(StaticReader([binding("User", "jane")])).authorize(JANE, asked())
    gone = 'RBAC: role.rbac.authorization.k8s.io "reader" not found'
    assert (verdict.allowed, verdict.reason) == (False, gone)


def test_each_role_that_is_not_there_is_named_and_none_of_them_twice() -> None:
    first, second = binding("User", "jane"), binding("Group", "devs")
    second["metadata"] = {**second["metadata"], "name": "others"}
    twice = {**second, "metadata": {**second["metadata"], "name": "twice"}}
    second["roleRef"] = {**second["roleRef"], "name": "writer"}
    verdict = RBACAuthorizer(StaticReader([first, second, twice])).authorize(JANE, asked())
    reader, writer = (f'role.rbac.authorization.k8s.io "{name}" not found' for name in ("reader", "writer"))
    assert (verdict.allowed, verdict.reason) == (False, f"RBAC: [{writer}, {reader}]")


def test_a_roles_names_narrow_resources_and_not_addresses() -> None:
    role = {**ROLE, "rules": [{**ROLE["rules"][0], "resourceNames": ["mine", "yours"]}]}
    roles = RBACAuthorizer(StaticReader([role, binding("User", "jane")]))
    assert [roles.authorize(JANE, asked(name=name)).allowed for name in ("mine", "yours", "theirs", "")] == [
        *(True, True),
        *(False, False),
    ]


class _Waits(Fixed):
    """One that has to be waited for."""

    def authorize(self, user: UserInfo, info: RequestInfo) -> Any:
        async def later() -> Verdict:
            await asyncio.sleep(0)
            return self.verdict

        return later()


@pytest.mark.parametrize("kinds", list(itertools.product([Fixed, _Waits], repeat=3)), ids=str)
@pytest.mark.parametrize(
    ("verdicts", "decision", "reason"),
    [
        ("?a ?b ?c", Decision.NO_OPINION, "a\nb\nc"),
        ("?a ?b +c", Decision.ALLOW, "c"),
        ("?a -b +c", Decision.DENY, "b"),
        ("?a +b -c", Decision.ALLOW, "b"),
        ("-a +b +c", Decision.DENY, "a"),
        ("+a -b -c", Decision.ALLOW, "a"),
    ],
)
def test_all_are_asked_in_turn_until_one_has_an_opinion_and_those_without_say_why(
    kinds: tuple[type[Fixed], ...], verdicts: str, decision: Decision, reason: str
) -> None:
    """However many of them have to be waited for."""
    meant = {"?": Decision.NO_OPINION, "+": Decision.ALLOW, "-": Decision.DENY}
    voices = [kind(Verdict(meant[word[0]], word[1])) for kind, word in zip(kinds, verdicts.split(), strict=True)]
    verdict = on_a_loop(decide(UnionAuthorizer(*voices).authorize, JANE, asked()))
    assert (verdict.decision, verdict.reason) == (decision, reason)


def test_who_has_not_said_who_it_is_is_decided_about_as_nobody() -> None:
    """Where no authentication stands before: an anonymous user, and not none."""
    seen = list[UserInfo]()

    class Notes:
        def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
            seen.append(user)
            return Verdict(Decision.NO_OPINION, "")

    async def handler(request: Request) -> Response:
        return Response(200, obj={})

    async def ask() -> Response:
        request = Request("GET", "/api/v1/namespaces/shop/pods/x", info=asked())
        return await with_authorization(handler, cast(Authorizer, Notes()))(request)

    answer = on_a_loop(ask())
    assert [user.name for user in seen] == ["system:anonymous"]
    assert (answer.status, 'User "system:anonymous" cannot' in (answer.obj or {})["message"]) == (403, True)


def test_what_is_refused_is_not_counted_among_what_was_answered() -> None:
    """Requests are counted where they are handled (upstream: `InstrumentRouteFunc`), which a refused one does not come to."""
    metrics = RequestMetrics()

    async def handler(request: Request) -> Response:
        return Response(200, obj={})

    def counted(authorizer: Authorizer) -> tuple[int, int]:
        chain = default_build_handler_chain(handler, ChainConfig(JANES, authorizer, metrics=metrics))

        async def ask() -> Response:
            return await chain(Request("GET", "/api/v1/namespaces/shop/pods/x"))

        return on_a_loop(ask()).status, sum(sum(kind.codes.values()) for kind in metrics.kinds.values())

    assert counted(Fixed(DENY)) == (403, 0)
    assert counted(Fixed(ALLOW)) == (200, 1)


@pytest.mark.parametrize("error", ["", "out to lunch"])
@pytest.mark.parametrize("reason", ["", "because"])
@pytest.mark.parametrize("decision", list(Decision))
def test_whoever_allows_is_believed_and_else_an_error_is_the_servers_whatever_was_said_beside_it(
    decision: Decision, reason: str, error: str
) -> None:
    """Upstream: `WithAuthorization`, which looks at the decision first, then at the error, and then refuses."""
    code, message, noted = answered(Fixed(Verdict(decision, reason, error=error)))
    if decision is Decision.ALLOW:
        assert (code, noted) == (200, {"decision": "allow", "reason": reason})
    elif error:
        assert (code, noted) == (500, {"reason": "internal error"})
        assert message.endswith(error)
    else:
        assert (code, noted) == (403, {"decision": "forbid", "reason": reason})
        assert message.endswith(f": {reason}" if reason else '"shop"')


def test_what_was_decided_is_noted_before_anything_is_done() -> None:
    """What is logged while an answer is still being given has it, too. Upstream: `WithAuthorization`."""
    event: Object = {}
    seen = list[dict[str, str]]()

    async def handler(request: Request) -> Response:
        seen.append(dict(event["annotations"]))
        return Response(200, obj={})

    async def ask() -> None:
        context.audit_event.set(event)
        request = Request("GET", "/api/v1/namespaces/shop/pods/x", user=JANE, info=asked())
        await with_authorization(handler, Fixed(Verdict(Decision.ALLOW, "because")))(request)

    on_a_loop(ask())
    assert seen == [{"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "because"}]
