"""The handler chain as a whole: its order, and that nobody outside can claim what only the inside may."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.http.wire import ANONYMOUS, MASTERS, Request, Response, UserInfo
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.names import NameSource
from lifecycle.api.status import StatusError, not_found
from lifecycle.api.tracing import Span, listening
from lifecycle.apiserver.authn.bearer_token import BearerTokenAuthenticator, StaticTokenAuthenticator
from lifecycle.apiserver.authn.union import Authenticator
from lifecycle.apiserver.authz.always import AlwaysAllow, PrivilegedGroups
from lifecycle.apiserver.filters.priority_and_fairness import FlowController
from lifecycle.apiserver.server.chain import ChainConfig, default_build_handler_chain
from lifecycle.apiserver.storage.object_reader import StaticReader
from tests.apiserver.recorded_exchanges import ROOT, Replay

JANE = UserInfo("jane", ("devs",))
ROOT_TOKEN = UserInfo("root", (MASTERS,))


def chain(api_handler: Any, **changes: Any) -> Any:
    tokens = StaticTokenAuthenticator({"jane": JANE, "root": ROOT_TOKEN})
    config = ChainConfig(
        authenticator=changes.pop("authenticator", Authenticator(BearerTokenAuthenticator(tokens))),
        authorizer=changes.pop("authorizer", PrivilegedGroups()),
        names=NameSource(1),
        **changes,
    )
    return default_build_handler_chain(api_handler, config)


def ask(handler: Any, method: str = "GET", path: str = "/api/v1/nodes", **more: Any) -> Response:
    async def main() -> Response:
        response: Response = await handler(Request(method, path, **more))
        return response

    return run_virtual(main())


def token(name: str) -> dict[str, str]:
    return {"authorization": f"Bearer {name}"}


async def seen(request: Request) -> Response:
    assert request.user is not None
    return Response(
        obj={"user": request.user.name, "groups": list(request.user.groups), "headers": dict(request.headers)}
    )


def test_a_request_passes_the_stages_in_upstreams_order() -> None:
    spans: list[Span] = []

    async def api(request: Request) -> Response:
        assert request.info is not None
        return Response(obj={})

    with listening(spans.append):
        headers = {**token("root"), "impersonate-user": "jane"}
        assert ask(chain(api, authorizer=AlwaysAllow()), headers=headers).status == 200
    assert [span.name for span in spans] == ["authentication", "impersonation", "authorization", "request"]


def test_every_answer_has_an_audit_id_and_may_not_be_cached() -> None:
    async def fails(request: Request) -> Response:
        raise not_found("nodes", "x")

    for headers, code in ((token("root"), 404), (token("jane"), 403), ({}, 403), (token("unknown"), 401)):
        response = ask(chain(fails), headers=headers)
        assert response.status == code
        assert len(response.headers["Audit-Id"]) == 36
        assert response.headers["Cache-Control"] == "no-cache, private"
    chosen = ask(chain(fails), headers={**token("root"), "audit-id": "x" * 100})
    assert chosen.headers["Audit-Id"] == "x" * 64


def test_a_bug_in_the_server_is_one_requests_500() -> None:
    async def bug(request: Request) -> Response:
        raise RuntimeError("secret detail")

    response = ask(chain(bug), headers=token("root"))
    assert response.status == 500
    assert response.body == b"This request caused apiserver to panic. Look in the logs for details.\n"


def test_the_chain_never_raises_a_status() -> None:
    async def refuses(request: Request) -> Response:
        raise not_found("nodes", "x")

    async def main() -> None:
        try:
            response = await chain(refuses)(Request("GET", "/api/v1/nodes/x", user=ROOT))
        except StatusError:
            pytest.fail("a refusal is an answer")
        assert response.obj["reason"] == "NotFound"

    run_virtual(main())


def test_an_identity_from_inside_is_kept_and_none_from_outside_is_believed() -> None:
    """The transport of this process sets `Request.user`. Whatever a client sends ends up in headers, path or body."""
    handler = chain(seen, authorizer=AlwaysAllow())
    inside = ask(handler, user=UserInfo("system:kube-scheduler")).obj
    assert inside is not None
    assert (inside["user"], inside["groups"]) == ("system:kube-scheduler", ["system:authenticated"])
    forgeries = [
        {"user": "root"},
        {"x-remote-user": "root", "x-remote-group": MASTERS},
        {"remote-user": "root"},
        {"authorization": "Basic cm9vdDpyb290"},
    ]
    for headers in forgeries:
        outside = ask(handler, headers=headers).obj
        assert outside is not None
        assert (outside["user"], tuple(outside["groups"])) == (ANONYMOUS.name, ANONYMOUS.groups)


def test_credentials_go_no_further_than_authentication() -> None:
    answer = ask(chain(seen, authorizer=AlwaysAllow()), headers={**token("jane"), "accept": "x"}).obj
    assert answer is not None
    assert answer["headers"] == {"accept": "x"}


def test_a_url_with_nothing_behind_a_special_verb_is_an_error() -> None:
    assert ask(chain(seen), path="/api/v1/watch", headers=token("root")).status == 500


def test_a_request_ends_after_its_time_and_a_watch_does_not() -> None:
    async def slow(request: Request) -> Response:
        await asyncio.sleep(30)
        return Response(obj={})

    handler = chain(slow, request_timeout=20.0)
    response = ask(handler, headers=token("root"))
    assert response.status == 504
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert (response.body or b"").decode() == (
        '{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout",'
        '"reason":"Timeout","details":{},"code":504}\n'
    )
    assert ask(handler, query={"watch": ["1"]}, headers=token("root")).status == 200
    patient = chain(slow)
    assert ask(patient, headers=token("root")).status == 200
    assert ask(patient, headers=token("root"), query={"timeout": ["5s"]}).status == 504
    assert ask(patient, headers=token("root"), query={"timeout": ["0"]}).status == 200
    assert ask(patient, headers=token("root"), query={"timeout": [""]}).status == 200
    assert ask(patient, headers=token("root"), query={"timeout": ["61s"]}).status == 200
    malformed = ask(patient, headers=token("root"), query={"timeout": ["5"]})
    assert malformed.status == 400
    assert malformed.obj is not None
    assert (
        malformed.obj["message"] == 'invalid timeout specified in the request URL - time: missing unit in duration "5"'
    )


def test_the_chain_works_with_flow_control_before_its_objects_exist() -> None:
    response = ask(chain(seen, flow_control=FlowController(StaticReader())), headers=token("root"))
    assert response.status == 200


def test_the_whole_server_classifies_and_names_what_it_answers() -> None:
    async def main() -> None:
        replay = Replay()
        await replay.start()
        handler = replay.server.handler
        levels = {level.name: level for level in replay.server.flow_control.levels.values()}
        for user, path, level in (
            (ROOT, "/api/v1/nodes", "exempt"),
            (UserInfo("jane"), "/healthz", "exempt"),
            (UserInfo("jane"), "/api/v1/nodes", "global-default"),
            (UserInfo("system:kube-scheduler"), "/api/v1/pods", "workload-high"),
            (
                UserInfo("system:serviceaccount:kube-system:x", ("system:serviceaccounts",)),
                "/api/v1/pods",
                "workload-high",
            ),
            (UserInfo("system:serviceaccount:n:x", ("system:serviceaccounts",)), "/api/v1/pods", "workload-low"),
            (UserInfo("system:node:n", ("system:nodes",)), "/api/v1/nodes/n", "node-high"),
            (UserInfo("system:node:n", ("system:nodes",)), "/api/v1/pods", "system"),
        ):
            response = await handler(Request("GET", path, user=user, accepts_object=True))
            assert response.headers["X-Kubernetes-Pf-Prioritylevel-Uid"] == levels[level].uid, (user.name, path)
        assert all(level.executing == 0 for level in levels.values())

    run_virtual(main())
