"""What the stages of a request tell whoever listens: the trace of a chapter is made of it, and of nothing else."""

from __future__ import annotations

from typing import Any

from lifecycle.agreements.apiserver.resource_handling import stages_of
from lifecycle.agreements.claim_checks.etcd import MAPS, config_map
from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.http.wire import Request, Response, UserInfo
from lifecycle.api.tracing import Span, listening
from lifecycle.apiserver.authn.authenticator import Identity
from lifecycle.apiserver.filters.authentication import with_authentication
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client

PATH = "/api/v1/namespaces/default/configmaps"
OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u-1", "controller": True}


def _told(spans: list[Span]) -> list[tuple[str, dict[str, Any]]]:
    return [(f"{each.component}: {each.name}", each.attributes) for each in spans]


def test_a_write_tells_who_may_what_was_called_and_where_it_went() -> None:
    uids = list[str]()

    async def scene(server: GenericAPIServer, client: Client) -> None:
        made = config_map("m")
        made["metadata"]["ownerReferences"] = [OWNER]
        uids.append((await client.create(MAPS, made, "default"))["metadata"]["uid"])

    assert _told(stages_of(scene)) == [
        ("apiserver: request", {"method": "POST", "path": PATH, "code": 201}),
        ("apiserver: flow control", {"level": "exempt", "flow": "exempt/"}),
        ("apiserver: authorization", {"user": "root", "verb": "create", "allowed": True, "reason": ""}),
        ("apiserver: decode", {}),
        ("apiserver: mutating admission", {}),
        ("apiserver: admission", {"plugin": "NamespaceLifecycle"}),
        ("apiserver: validation", {}),
        ("apiserver: validating admission", {}),
        ("apiserver: admission", {"plugin": "ResourceQuota"}),
        ("apiserver: storage", {}),
        ("etcd: txn", {"key": "/registry/configmaps/default/m", "uid": uids[0], "owner_uid": "u-1"}),
    ]


def test_a_refusal_tells_why_and_nothing_of_what_was_not_reached() -> None:
    async def scene(server: GenericAPIServer, client: Client) -> None:
        jane = Client(server.in_process_transport(UserInfo("jane", ("devs",))), "jane/1")
        await jane.transport.round_trip(Request("DELETE", f"{PATH}/m"))

    request, flow, decision = _told(stages_of(scene))
    assert request == ("apiserver: request", {"method": "DELETE", "path": f"{PATH}/m", "code": 403})
    assert flow == ("apiserver: flow control", {"level": "global-default", "flow": "global-default/jane"})
    assert decision[1] == {"user": "jane", "verb": "delete", "allowed": False, "reason": ""}


def test_the_stage_that_finds_out_who_asks_says_it() -> None:
    class Known:
        """Knows everybody."""

        async def authenticate_request(self, request: Request) -> Identity:
            return Identity(UserInfo("jane"))

    async def handler(request: Request) -> Response:
        return Response(200)

    spans = list[Span]()
    with listening(spans.append):
        on_a_loop(with_authentication(handler, Known())(Request("GET", PATH)))
    assert _told(spans) == [("apiserver: authentication", {"user": "jane"})]
