"""What each verb sends: method, path, query, headers and body, with nothing said and with everything said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from lifecycle.api.http.wire import Request, Response, WatchFrame
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, Client

PODS, NODES, DEPLOYMENTS = resource("pods"), resource("nodes"), resource("deployments.apps")
POD = {"metadata": {"name": "p", "namespace": "ns"}}
OPTIONS = {"kind": "DeleteOptions", "apiVersion": "v1"}
POD_PATH, PODS_PATH = "/api/v1/namespaces/ns/pods/p", "/api/v1/namespaces/ns/pods"


class Sink:
    """A transport that keeps what it was sent and gives one answer."""

    def __init__(self, answer: Response | None = None) -> None:
        self.sent: list[Request] = []
        self.answer = answer or Response(obj={"kind": "Status"})

    async def round_trip(self, request: Request) -> Response:
        self.sent.append(request)
        return self.answer

    async def close(self) -> None:
        pass


Call = Callable[[Client], Awaitable[Any]]


@pytest.mark.parametrize(
    ("call", "method", "path", "query", "body"),
    [
        (lambda c: c.get(PODS, "p", "ns"), "GET", POD_PATH, {}, None),
        (lambda c: c.get(PODS, "p", "ns", subresource="log"), "GET", f"{POD_PATH}/log", {}, None),
        (lambda c: c.get(NODES, "n"), "GET", "/api/v1/nodes/n", {}, None),
        (lambda c: c.list(PODS), "GET", "/api/v1/pods", {}, None),
        (
            lambda c: c.list(
                DEPLOYMENTS, "ns", label_selector="a=b", field_selector="c=d", limit=1, cont="t", resource_version="7"
            ),
            "GET", "/apis/apps/v1/namespaces/ns/deployments",
            {"labelSelector": "a=b", "fieldSelector": "c=d", "limit": "1", "continue": "t", "resourceVersion": "7"}, None,
        ),
        (lambda c: c.create(PODS, POD, "ns"), "POST", PODS_PATH, {}, POD),
        (
            lambda c: c.create(PODS, POD, "ns", name="p", subresource="binding", field_manager="m"),
            "POST", f"{POD_PATH}/binding", {"fieldManager": "m"}, POD,
        ),
        (lambda c: c.create(NODES, {"metadata": {"name": "n"}}), "POST", "/api/v1/nodes", {}, {"metadata": {"name": "n"}}),
        (lambda c: c.update(PODS, POD), "PUT", POD_PATH, {}, POD),
        (
            lambda c: c.update(PODS, POD, subresource="status", field_manager="m"),
            "PUT", f"{POD_PATH}/status", {"fieldManager": "m"}, POD,
        ),
        (
            lambda c: c.update(NODES, {"metadata": {"name": "n"}}),
            "PUT", "/api/v1/nodes/n", {}, {"metadata": {"name": "n"}},
        ),
        (lambda c: c.patch(PODS, "p", "ns", {"a": 1}), "PATCH", POD_PATH, {}, {"a": 1}),
        (
            lambda c: c.patch(PODS, "p", "ns", {}, subresource="status", field_manager="m", force=True),
            "PATCH", f"{POD_PATH}/status", {"fieldManager": "m", "force": "true"}, {},
        ),
        (lambda c: c.delete(PODS, "p", "ns"), "DELETE", POD_PATH, {}, OPTIONS),
        (lambda c: c.delete(NODES, "n"), "DELETE", "/api/v1/nodes/n", {}, OPTIONS),
        (
            lambda c: c.delete(PODS, "p", "ns", uid="u", resource_version="7", grace_period=0, propagation="Orphan"),
            "DELETE", POD_PATH, {},
            {
                **OPTIONS, "preconditions": {"uid": "u", "resourceVersion": "7"}, "gracePeriodSeconds": 0,
                "propagationPolicy": "Orphan",
            },
        ),
        (
            lambda c: c.delete(PODS, "p", "ns", uid="u", grace_period=30),
            "DELETE", POD_PATH, {}, {**OPTIONS, "preconditions": {"uid": "u"}, "gracePeriodSeconds": 30},
        ),
        (
            lambda c: c.delete(PODS, "p", "ns", resource_version="7"),
            "DELETE", POD_PATH, {}, {**OPTIONS, "preconditions": {"resourceVersion": "7"}},
        ),
        (lambda c: c.delete_collection(NODES), "DELETE", "/api/v1/nodes", {}, None),
        (
            lambda c: c.delete_collection(PODS, "ns", label_selector="a=b", field_selector="c=d"),
            "DELETE", PODS_PATH, {"labelSelector": "a=b", "fieldSelector": "c=d"}, None,
        ),
    ],
)  # fmt: skip
def test_what_a_verb_sends(call: Call, method: str, path: str, query: dict[str, str], body: Any) -> None:
    sink = Sink()
    assert asyncio.run(_await(call(Client(sink, "test/v1", headers={"x-more": "1"})))) == {"kind": "Status"}
    (sent,) = sink.sent
    assert (sent.method, sent.path, sent.obj, sent.body) == (method, path, body, b"")
    assert sent.query == {key: [value] for key, value in query.items()}
    assert sent.accepts_object
    content = {"PATCH": MERGE_PATCH}.get(method, "application/json")
    typed = {} if body is None else {"content-type": content}
    assert sent.headers == {"user-agent": "test/v1", "x-more": "1", **typed}


async def _await(waiting: Awaitable[Any]) -> Any:
    return await waiting


@pytest.mark.parametrize(
    ("patch_type", "spelled"),
    [
        (JSON_PATCH, "application/json-patch+json"), (MERGE_PATCH, "application/merge-patch+json"),
        (STRATEGIC_MERGE_PATCH, "application/strategic-merge-patch+json"), (APPLY_PATCH, "application/apply-patch+yaml"),
    ],
)  # fmt: skip
def test_a_patch_says_of_which_type_it_is(patch_type: str, spelled: str) -> None:
    sink = Sink()
    asyncio.run(_await(Client(sink, "t").patch(PODS, "p", "ns", [], patch_type=patch_type)))
    assert sink.sent[0].headers["content-type"] == spelled


async def _frames() -> AsyncIterator[WatchFrame]:
    yield WatchFrame("ADDED", POD)


@pytest.mark.parametrize(
    ("options", "query"),
    [
        ({}, {"allowWatchBookmarks": "true"}),
        ({"bookmarks": False, "resource_version": "7", "timeout_seconds": 1}, {"resourceVersion": "7", "timeoutSeconds": "1"}),
        (
            {"label_selector": "a=b", "field_selector": "c=d", "send_initial_events": True},
            {
                "labelSelector": "a=b", "fieldSelector": "c=d", "allowWatchBookmarks": "true", "sendInitialEvents": "true",
                "resourceVersionMatch": "NotOlderThan",
            },
        ),
    ],
)  # fmt: skip
def test_what_a_watch_asks_for(options: dict[str, Any], query: dict[str, str]) -> None:
    async def main() -> list[WatchFrame]:
        return [frame async for frame in await Client(sink, "t").watch(PODS, "ns", **options)]

    sink = Sink(Response(stream=_frames()))
    assert [frame.type for frame in asyncio.run(main())] == ["ADDED"]
    (sent,) = sink.sent
    assert (sent.method, sent.path, sent.obj) == ("GET", PODS_PATH, None)
    assert sent.query == {key: [value] for key, value in ({"watch": "true"} | query).items()}


@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        (Response(399), 0, ""), (Response(200, obj=None), 0, ""),
        (Response(400, obj={"code": 400, "message": "no"}), 400, "no"),
        (Response(404, body=b"404 page not found"), 404, "404 page not found"), (Response(500), 500, ""),
    ],
)  # fmt: skip
def test_an_answer_of_four_hundred_or_more_is_an_error(answer: Response, code: int, message: str) -> None:
    client = Client(Sink(answer), "t")
    if not code:
        assert asyncio.run(_await(client.get(PODS, "p", "ns"))) == {}
        return
    with pytest.raises(StatusError) as caught:
        asyncio.run(_await(client.get(PODS, "p", "ns")))
    assert (caught.value.code, caught.value.message) == (code, message)


def test_a_request_is_made_of_the_clients_headers_and_what_is_said() -> None:
    client = Client(Sink(), "t", headers={"a": "b"})
    plain = client.new_request("GET", "/version")
    assert (plain.headers, plain.query, plain.body, plain.obj, plain.accepts_object) == (
        {"user-agent": "t", "a": "b"}, {}, b"", None, True,
    )  # fmt: skip
    told = client.new_request(
        "POST", "/x", query={"a": ["1", "2"], "b": "", "c": []}, body=b"x: y", content_type="application/yaml",
        accept="application/json", accepts_object=False,
    )  # fmt: skip
    assert told.headers == {
        "user-agent": "t", "a": "b", "accept": "application/json", "content-type": "application/yaml",
    }  # fmt: skip
    assert (told.query, told.body, told.accepts_object) == ({"a": ["1", "2"]}, b"x: y", False)
    assert client.headers == {"user-agent": "t", "a": "b"}
    assert client.new_request("PUT", "/x", obj={}).headers["content-type"] == "application/json"
