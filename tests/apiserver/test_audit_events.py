"""What the audit log says about a request, event by event."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, Request, Response, UserInfo, WatchFrame
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.api.loop.worker import LARGE
from lifecycle.api.status import not_found
from lifecycle.apiserver.audit.context import log_request_object
from lifecycle.apiserver.audit.event import response_object, source_ips, without_managed_fields
from lifecycle.apiserver.audit.policy import AuditPolicy
from lifecycle.apiserver.authn.bearer_token import BearerTokenAuthenticator, StaticTokenAuthenticator
from lifecycle.apiserver.authn.union import Authenticator
from lifecycle.apiserver.authz.always import AlwaysAllow
from lifecycle.apiserver.filters.audit import AuditLog
from lifecycle.apiserver.server.chain import ChainConfig, default_build_handler_chain
from tests.apiserver.recorded_exchanges import RECORDINGS


def audited(policy: Object, api_handler: Any) -> tuple[Any, list[Object]]:
    """A chain that logs, and its log."""
    lines: list[Object] = []
    log = AuditLog(AuditPolicy(policy), lambda line: lines.append(fast_json.loads(line)), Clock())
    tokens = BearerTokenAuthenticator(StaticTokenAuthenticator({}))
    config = ChainConfig(Authenticator(tokens), AlwaysAllow(), audit=log)
    return default_build_handler_chain(api_handler, config), lines


EVERYTHING = {"rules": [{"level": "RequestResponse"}], "omitManagedFields": True}


def recorded_events() -> list[Object]:
    return [
        fast_json.loads(line) for line in (RECORDINGS / "kind-1.36.2/audit/journey.jsonl").read_bytes().splitlines()
    ]


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
                body=fast_json.dumps(event["requestObject"]) if "requestObject" in event else b"",
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
    with pytest.raises(ValueError, match=r"unknown audit level: 'Everything'$"):
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


SHORT, LONG = "/api/v1/namespaces/default/pods/foo", "/api/v1/namespaces/default/pods"


async def answers(request: Request) -> Response:
    return Response(200, body=b"foo")


async def forbids(request: Request) -> Response:
    return Response(403, body=b"foo")


async def panics(request: Request) -> Response:
    raise RuntimeError("kaboom")


async def panics_later(request: Request) -> Response:
    async def frames() -> AsyncIterator[WatchFrame]:
        yield WatchFrame("ADDED", {})
        raise RuntimeError("kaboom")

    return Response(stream=frames())


@pytest.mark.parametrize(
    ("method", "path", "api", "omitted", "events"),
    [
        ("GET", SHORT, answers, [], ["RequestReceived", "ResponseComplete 200"]),
        ("PUT", SHORT, forbids, [], ["RequestReceived", "ResponseComplete 403"]),
        ("PUT", SHORT, panics, [], ["RequestReceived", "Panic 500"]),
        ("GET", LONG, answers, [], ["RequestReceived", "ResponseStarted 200", "ResponseComplete 200"]),
        ("GET", LONG, forbids, [], ["RequestReceived", "ResponseStarted 403", "ResponseComplete 403"]),
        ("GET", LONG, panics, [], ["RequestReceived", "Panic 500"]),
        ("GET", LONG, panics_later, [], ["RequestReceived", "ResponseStarted 200", "Panic 500"]),
        ("GET", SHORT, answers, ["RequestReceived"], ["ResponseComplete 200"]),
        ("GET", LONG, panics_later, ["RequestReceived", "ResponseStarted", "ResponseComplete"], ["Panic 500"]),
    ],
)
def test_which_events_a_request_leaves(method: str, path: str, api: Any, omitted: list[str], events: list[str]) -> None:
    """The cases of upstream's `TestAudit`."""
    handler, lines = audited({**EVERYTHING, "omitStages": omitted}, api)

    async def main() -> None:
        query = {"watch": ["true"]} if path == LONG else {}
        request = Request(method, path, query=query, user=UserInfo("admin"), headers={"audit-id": "chosen"})
        response = await handler(request)
        if response.stream is not None:
            with contextlib.suppress(RuntimeError):
                async for _ in response.stream:
                    pass

    run_virtual(main())
    assert [f"{e['stage']} {(e.get('responseStatus') or {}).get('code', '')}".strip() for e in lines] == events
    for event in lines:
        uri = SHORT if path == SHORT else f"{LONG}?watch=true"
        assert (event["auditID"], event["user"]["username"], event["requestURI"]) == ("chosen", "admin", uri)
        assert event["objectRef"]["apiVersion"] == "v1"


def test_a_request_whose_time_is_over_is_complete_and_so_is_one_whose_client_left() -> None:
    async def slow(request: Request) -> Response:
        await asyncio.sleep(100)
        return Response()

    handler, lines = audited(EVERYTHING, slow)

    async def main() -> None:
        for path, query in ((SHORT, {"timeout": ["3s"]}), (SHORT, {}), (LONG, {"watch": ["1"]})):
            asked = asyncio.ensure_future(handler(Request("GET", path, query=query, user=UserInfo("jane"))))
            await asyncio.wait([asked], timeout=5)
            asked.cancel()
            await asyncio.wait([asked])

    run_virtual(main())
    ends = [
        (e["stage"], e["responseStatus"]["code"], e["responseStatus"]["message"])
        for e in lines
        if "responseStatus" in e
    ]
    about = "Timeout: request did not complete within requested timeout - context"
    assert ends == [
        ("ResponseComplete", 504, f"{about} deadline exceeded"),
        ("ResponseComplete", 504, f"{about} canceled"),
        ("ResponseStarted", 200, "Connection closed early"),
        ("ResponseComplete", 200, "Connection closed early"),
    ]


@pytest.mark.parametrize("level", ["None", "Metadata", "RequestResponse"])
def test_a_stranger_leaves_one_event_and_so_does_a_timeout_that_is_none(level: str) -> None:
    """What nobody is known to have asked: as a 1.20.2 server was seen to write it."""
    handler, lines = audited({"rules": [{"level": level}]}, answers)
    refused = run_virtual(handler(Request("GET", LONG, headers={"authorization": "Bearer wrong"})))
    malformed = run_virtual(handler(Request("GET", LONG, query={"timeout": ["1x"]})))
    assert (refused.status, malformed.status) == (401, 400)
    assert malformed.obj is not None
    why = 'invalid timeout specified in the request URL - time: unknown unit "x" in duration "1x"'
    assert malformed.obj["message"] == why
    shown = [
        (e["stage"], e["user"], e["verb"], e["responseStatus"]["code"], e["responseStatus"]["message"]) for e in lines
    ]
    assert shown == (
        []
        if level == "None"
        else [("ResponseStarted", {}, "list", 401, "Unauthorized"), ("ResponseStarted", {}, "list", 400, why)]
    )
    assert ["responseObject" in e for e in lines] == [level == "RequestResponse"] * len(lines)
    handler, lines = audited({**EVERYTHING, "omitStages": ["ResponseStarted"]}, answers)
    run_virtual(handler(Request("GET", LONG, headers={"authorization": "Bearer wrong"})))
    assert lines == []


def test_the_reference_is_completed_by_the_object_even_where_that_is_not_kept() -> None:
    sent = {"kind": "ConfigMap", "metadata": {"name": "c", "uid": "u", "resourceVersion": "7"}}

    async def api(request: Request) -> Response:
        log_request_object(sent)
        return Response(201, obj=sent)

    handler, lines = audited({"rules": [{"level": "Metadata"}]}, api)
    for method, path in (("POST", "configmaps"), ("PUT", "configmaps/c"), ("PATCH", "configmaps/c")):
        run_virtual(handler(Request(method, f"/api/v1/namespaces/n/{path}", user=UserInfo("jane"))))
    whole = {"resource": "configmaps", "namespace": "n", "apiVersion": "v1", "name": "c"}
    said = {**whole, "uid": "u", "resourceVersion": "7"}
    assert [line["objectRef"] for line in lines if line["stage"] == "ResponseComplete"] == [said, said, whole]
    assert not any("requestObject" in line for line in lines)


@pytest.mark.parametrize(
    ("headers", "peer", "sources"),
    [
        ({}, "10.0.0.9", ["10.0.0.9"]),
        ({"x-forwarded-for": "1.2.3.4, bad, 5.6.7.8"}, "10.0.0.9", ["1.2.3.4", "5.6.7.8", "10.0.0.9"]),
        ({"x-forwarded-for": "1.2.3.4", "x-real-ip": "1.2.3.4"}, "1.2.3.4", ["1.2.3.4"]),
        ({"x-real-ip": "9.9.9.9"}, "::1", ["9.9.9.9", "::1"]),
        ({"x-forwarded-for": "10.0.0.9, 1.2.3.4"}, "10.0.0.9", ["10.0.0.9", "1.2.3.4", "10.0.0.9"]),
        ({"x-forwarded-for": "fd00::0001", "x-real-ip": "nobody"}, "", ["fd00::1"]),
    ],
)
def test_proxies_are_believed_but_the_peer_comes_last(headers: dict[str, str], peer: str, sources: list[str]) -> None:
    """The cases of upstream's `TestSourceIPs`."""
    assert source_ips(Request("GET", "/", headers=headers, remote_addr=peer)) == sources


@pytest.mark.parametrize(
    ("response", "kept"),
    [
        (Response(obj={"kind": "PodList"}), {"kind": "PodList"}),
        (Response(body=b'{"kind":"APIGroupList","groups":[]}'), {"kind": "APIGroupList", "groups": []}),
        (Response(body=b'{"major":"1","minor":"36"}'), None),
        (Response(body=b'["kind"]'), None),
        (Response(body=b"ok"), None),
    ],
)
def test_only_api_objects_are_kept_as_answers(response: Response, kept: Any) -> None:
    assert response_object(response) == kept


def test_managed_fields_are_left_out_of_objects_lists_and_tables() -> None:
    pod: Object = {"kind": "Pod", "metadata": {"name": "p", "managedFields": [{}]}}
    bare = {"kind": "Pod", "metadata": {"name": "p"}}
    assert without_managed_fields(pod) == bare
    assert without_managed_fields({"kind": "PodList", "items": [pod]}) == {"kind": "PodList", "items": [bare]}
    table = without_managed_fields({"kind": "Table", "rows": [{"cells": [1], "object": pod}, {"cells": [2]}]})
    assert table["rows"] == [{"cells": [1], "object": bare}, {"cells": [2], "object": None}]
    assert without_managed_fields([{"op": "add"}]) == [{"op": "add"}]
    assert pod["metadata"]["managedFields"] == [{}]


def test_a_head_that_is_long_is_read_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may name a hundred thousand proxies, and everybody may send it."""
    given = list[int]()

    async def beside(size: int, work: Any, *args: Any) -> Any:
        given.append(size)
        return work(*args)

    monkeypatch.setattr("lifecycle.apiserver.filters.audit.beside", beside)
    handler, lines = audited(EVERYTHING, answers)

    async def main(proxies: int) -> None:
        forwarded = ",".join(["10.0.0.1"] * proxies)
        await handler(Request("GET", SHORT, headers={"x-forwarded-for": forwarded}, user=UserInfo("admin")))

    for proxies in (1, 10_000):
        given.clear()
        run_virtual(main(proxies))
        assert [size > LARGE for size in given].count(True) == (2 if proxies > 1 else 0)
    assert len(lines[-1]["sourceIPs"]) == 10_001
