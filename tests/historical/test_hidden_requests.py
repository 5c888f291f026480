"""What is asked behind the back of who asks: the reads, the watch and the deletion that initializers need."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from lifecycle.api.http.wire import Object, Request, RequestInfo, Response, WatchFrame
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.status import StatusError
from lifecycle.historical.apiserver.initializer_visibility import InitializerVisibility
from lifecycle.historical.apiserver.initializers import STATE
from lifecycle.historical.controllers.initializer_controller import IncludeUninitialized
from lifecycle.historical.controllers.initializer_examples import initializer_configuration

PENDING = {"pending": [{"name": "x"}]}
FAILED = {"pending": [], "result": {"status": "Failure", "code": 418, "message": "no"}}


def stored(state: Object | None, **more: Any) -> Object:
    meta: Object = {"name": "m", "resourceVersion": "7"}
    if state is not None:
        meta["annotations"] = {STATE: json.dumps(state)}
    return {"metadata": meta, **more}


def shown(state: Object | None, **more: Any) -> Object:
    return {"metadata": {"name": "m", "resourceVersion": "7", "initializers": state}, **more}


class Inner:
    """Answers in turn, and remembers what it was asked."""

    def __init__(self, *answers: Response) -> None:
        self.answers = list(answers)
        self.asked: list[Request] = []

    async def __call__(self, request: Request) -> Response:
        self.asked.append(request)
        return self.answers.pop(0)


def request(verb: str, method: str = "GET", body: Any = None, query: Any = None, **info: Any) -> Request:
    told = {"group": "", "version": "v1", "resource": "configmaps", "namespace": "ns", "name": "m"} | info
    return Request(
        method, "/p", dict(query or {}), {"content-type": "application/merge-patch+json; charset=utf-8", "x": "y"},
        json.dumps(body).encode() if body is not None else b"",
        info=RequestInfo(is_resource_request=True, path="/p", verb=verb, **told),
    )  # fmt: skip


def ask(inner: Inner, sent: Request) -> Response:
    return asyncio.run(InitializerVisibility(inner, {}, Clock(), NameSource())(sent))


def frames(*frames: WatchFrame) -> tuple[Response, list[str]]:
    closed: list[str] = []

    async def stream() -> AsyncIterator[WatchFrame]:
        try:
            for frame in frames:
                yield frame
        finally:
            closed.append("closed")

    return Response(200, stream=stream()), closed


@pytest.mark.parametrize(
    "sent",
    [
        Request("GET", "/healthz"),
        Request("GET", "/healthz", info=RequestInfo(is_resource_request=False, path="/healthz", verb="get")),
        request("create", "POST", subresource="binding"), request("get", subresource="status"),
        request("delete", "DELETE"), request("deletecollection", "DELETE"),
    ],
)  # fmt: skip
def test_what_initializers_have_no_say_in_goes_straight_through(sent: Request) -> None:
    answer = Response(200, obj=stored(PENDING))
    inner = Inner(answer)
    assert ask(inner, sent) is answer
    assert (inner.asked, answer.obj, sent.accepts_object) == ([sent], stored(PENDING), False)


@pytest.mark.parametrize(("status", "hidden"), [(200, True), (399, True), (400, False)])
def test_only_good_answers_are_looked_through(status: int, hidden: bool) -> None:
    sent = request("get", group="apps", resource="deployments")
    inner = Inner(Response(status, obj=stored(PENDING)))
    if hidden:
        with pytest.raises(StatusError) as refused:
            ask(inner, sent)
        assert refused.value.message == 'deployments.apps "m" not found'
    else:
        assert ask(inner, sent).obj == stored(PENDING)
    assert sent.accepts_object


def test_a_list_is_what_is_initialized_or_all_of_it_with_the_field() -> None:
    items = [stored(PENDING), stored(None)]
    whole = {"kind": "List", "items": items}
    assert ask(Inner(Response(200, obj=whole)), request("list")).obj == {"kind": "List", "items": [stored(None)]}
    seen = ask(Inner(Response(200, obj=whole)), request("list", query={"includeUninitialized": ["true"]})).obj
    assert seen == {"kind": "List", "items": [shown(PENDING), stored(None)]}
    assert whole["items"] is items
    alone = ask(Inner(Response(200, obj=stored(None, items=[stored(PENDING)]))), request("get")).obj
    assert alone == stored(None, items=[stored(PENDING)]), "an object with a field of that name"


def test_who_creates_waits_for_it_with_a_watch_of_the_one_object() -> None:
    watched, closed = frames(WatchFrame("MODIFIED", stored(PENDING)), WatchFrame("MODIFIED", stored(None, data="x")))
    inner = Inner(Response(201, {"h": "v"}, obj=stored(PENDING)), watched)
    sent = request("create", "POST", shown(PENDING), {"fieldManager": ["f"]}, name="")
    answer = ask(inner, sent)
    assert (answer.status, answer.headers, answer.obj) == (201, {"h": "v"}, stored(None, data="x"))
    assert closed == ["closed"]
    create, watch = inner.asked
    assert (create.obj, create.body, create.accepts_object) == (stored(PENDING), b"", True)
    assert (watch.method, watch.obj, watch.body, watch.headers, watch.accepts_object) == ("GET", None, b"", {}, True)
    assert watch.query == {"fieldSelector": ["metadata.name=m"], "resourceVersion": ["7"]}
    assert watch.info == RequestInfo(
        is_resource_request=True, path="/p", verb="watch", group="", version="v1", resource="configmaps", namespace="ns",
        name="", field_selector="metadata.name=m",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("frame", "code", "said", "kind"),
    [
        (WatchFrame("MODIFIED", stored(FAILED)), 418, "no", "Status"),
        (WatchFrame("DELETED", stored(PENDING)), 500, "Internal error occurred: object deleted while waiting for initialization", "Status"),
        (WatchFrame("DELETED", stored(None)), 500, "Internal error occurred: object deleted while waiting for initialization", "Status"),
        (None, 504, "Timeout: server has timed out waiting for the initialization of deployments.apps m", "Status"),
    ],
)  # fmt: skip
def test_who_waits_is_told_how_it_ended(frame: WatchFrame | None, code: int, said: str, kind: str) -> None:
    watched, closed = frames(*([frame] if frame else []))
    inner = Inner(Response(201, obj=stored(PENDING)), watched)
    with pytest.raises(StatusError) as refused:
        ask(inner, request("create", "POST", stored(None), group="apps", resource="deployments"))
    assert (refused.value.code, refused.value.message, refused.value.status["kind"]) == (code, said, kind)
    assert refused.value.status["apiVersion"] == "v1"
    assert closed == ["closed"]


def test_of_the_core_group_no_group_is_told() -> None:
    watched, _ = frames()
    with pytest.raises(StatusError) as refused:
        ask(Inner(Response(201, obj=stored(PENDING)), watched), request("create", "POST", stored(None)))
    assert refused.value.message == "Timeout: server has timed out waiting for the initialization of configmaps m"
    assert refused.value.status["reason"] == "Timeout"


@pytest.mark.parametrize(
    ("answer", "query", "seen"),
    [
        (Response(201, obj=stored(PENDING)), {"dryRun": ["All"]}, shown(PENDING)),
        (Response(201, obj=stored(PENDING)), {"includeUninitialized": ["true"]}, shown(PENDING)),
        (Response(201, obj=stored(None)), {}, stored(None)),
        (Response(400, obj=stored(PENDING)), {}, stored(PENDING)),
        (Response(201), {}, None),
    ],
)
def test_who_need_not_wait(answer: Response, query: Any, seen: Object | None) -> None:
    inner = Inner(answer)
    assert ask(inner, request("create", "POST", stored(None), query)).obj == seen
    assert len(inner.asked) == 1


def test_a_failure_that_was_written_ends_the_object_at_once() -> None:
    inner = Inner(Response(200, {"h": "v"}, obj=stored(FAILED)), Response(200))
    answer = ask(inner, request("update", "PUT", shown(FAILED), {"fieldManager": ["f"]}))
    assert (answer.status, answer.headers, answer.obj) == (200, {"h": "v"}, shown(FAILED))
    update, doomed = inner.asked
    assert (update.obj, update.accepts_object, update.body) == (stored(FAILED), True, b"")
    assert (doomed.method, doomed.obj, doomed.body, doomed.headers) == ("DELETE", None, b"", {})
    assert doomed.query == {"gracePeriodSeconds": ["0"]}
    assert doomed.info is not None
    assert (doomed.info.verb, doomed.info.name) == ("delete", "m")


@pytest.mark.parametrize(
    ("answer", "seen"),
    [
        (Response(200, obj=stored(PENDING)), shown(PENDING)), (Response(200, obj=stored(None)), stored(None)),
        (Response(400, obj=stored(FAILED)), stored(FAILED)), (Response(399, obj=stored(PENDING)), shown(PENDING)),
        (Response(200), None),
    ],
)  # fmt: skip
def test_other_updates_end_nothing(answer: Response, seen: Object | None) -> None:
    inner = Inner(answer)
    assert ask(inner, request("update", "PUT", stored(None))).obj == seen
    assert len(inner.asked) == 1


def test_a_patch_of_what_is_hidden_is_worked_out_and_written_as_a_whole() -> None:
    patch = {"metadata": {"initializers": None}, "data": {"a": "b"}}
    inner = Inner(Response(200, obj=stored(PENDING)), Response(200, obj=stored(None, data={"a": "b"})))
    sent = request("patch", "PATCH", patch, {"fieldManager": ["f"]})
    assert ask(inner, sent).obj == stored(None, data={"a": "b"})
    read, written = inner.asked
    assert (read.method, read.obj, read.body, read.headers, read.query) == ("GET", None, b"", {}, {})
    assert read.accepts_object
    assert read.info is not None
    assert (read.info.verb, read.info.name) == ("get", "m")
    assert (written.method, written.headers, written.query) == (
        "PUT", {"content-type": "application/json"}, {"fieldManager": ["f"]}
    )  # fmt: skip
    assert written.info is not None
    assert (written.info.verb, written.body) == ("update", b"")
    assert written.obj == {"metadata": {"name": "m", "resourceVersion": "7"}, "data": {"a": "b"}}


@pytest.mark.parametrize(
    ("live", "kind"),
    [
        (Response(404), "application/merge-patch+json"), (Response(200, obj=stored(None)), "application/merge-patch+json"),
        (Response(200, obj=stored(PENDING)), "application/apply-patch+yaml"),
        (Response(200, obj=stored(PENDING)), "application/apply-patch+cbor; x=y"),
    ],
)  # fmt: skip
def test_other_patches_are_the_registrys(live: Response, kind: str) -> None:
    answer = Response(200, obj={"any": "thing"})
    inner = Inner(live, answer)
    sent = request("patch", "PATCH", {"data": {}})
    sent.headers = {"content-type": kind}
    assert ask(inner, sent) is answer
    assert inner.asked[1] is sent
    assert (sent.method, sent.body) == ("PATCH", b'{"data": {}}')


def configurations(*requests: tuple[str, str, Any]) -> list[Any]:
    """What is answered to (verb, name, body)."""

    async def main() -> list[Any]:
        server = InitializerVisibility(Inner(), {}, Clock(), NameSource())
        answers: list[Any] = []
        for verb, name, body in requests:
            sent = request(
                verb, body=body, group="admissionregistration.k8s.io", version="v1alpha1",
                resource="initializerconfigurations", name=name, namespace="",
            )  # fmt: skip
            try:
                answer = await server(sent)
            except StatusError as error:
                answers.append((error.code, error.status))
            else:
                answers.append((answer.status, answer.obj))
        return answers

    return asyncio.run(main())


def test_configurations_are_served_like_any_other_resource() -> None:
    def obj(name: str) -> Object:
        return {"metadata": {"name": name, "uid": "u", "creationTimestamp": "t"}, "initializers": [{"name": "i"}]}

    def kept(name: str, version: int) -> Object:
        meta = obj(name)["metadata"] | {"resourceVersion": str(version)}
        head = {"kind": "InitializerConfiguration", "apiVersion": "admissionregistration.k8s.io/v1alpha1"}
        return head | {"metadata": meta, "initializers": [{"name": "i"}]}

    answers = configurations(
        ("list", "", None), ("create", "", obj("b")), ("create", "", obj("a")), ("create", "", obj("a")), ("list", "", None),
        ("get", "a", None), ("get", "c", None), ("update", "a", obj("a")), ("patch", "a", {}), ("delete", "a", None),
        ("list", "", None), ("create", "", {"metadata": {"name": "c"}}),
    )  # fmt: skip
    head = {"kind": "InitializerConfigurationList", "apiVersion": "admissionregistration.k8s.io/v1alpha1"}
    full = "initializerconfigurations.admissionregistration.k8s.io"
    assert answers[0] == (200, {**head, "metadata": {"resourceVersion": "0"}, "items": []})
    assert answers[1:3] == [(201, kept("b", 1)), (201, kept("a", 2))]
    assert (answers[3][0], answers[3][1]["message"]) == (409, f'{full} "a" already exists')
    assert answers[4] == (200, {**head, "metadata": {"resourceVersion": "2"}, "items": [kept("a", 2), kept("b", 1)]})
    assert answers[5] == (200, kept("a", 2))
    assert (answers[6][0], answers[6][1]["message"]) == (404, f'{full} "c" not found')
    assert answers[7] == (200, kept("a", 3))
    assert (answers[8][0], answers[8][1]["reason"], answers[8][1]["message"]) == (
        405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
    )  # fmt: skip
    details = {"name": "a", "group": "admissionregistration.k8s.io", "kind": "initializerconfigurations"}
    assert (answers[9][0], answers[9][1]["status"], answers[9][1]["details"]) == (200, "Success", details)
    assert answers[10][1]["items"] == [kept("b", 1)]
    meta = answers[11][1]["metadata"]
    assert (sorted(meta), meta["resourceVersion"]) == (["creationTimestamp", "name", "resourceVersion", "uid"], "4")
    assert meta["uid"] != meta["creationTimestamp"]


def test_the_transport_of_an_initializer_asks_for_what_is_hidden_and_closes_the_one_inside() -> None:
    class Transport(Inner):
        closed = 0

        async def round_trip(self, request: Request) -> Response:
            return await self(request)

        async def close(self) -> None:
            self.closed += 1

    async def main() -> Transport:
        inner = Transport(Response(200))
        transport = IncludeUninitialized(inner)
        sent = Request("GET", "/p", {"a": ["b"]})
        await transport.round_trip(sent)
        await transport.close()
        assert sent.query == {"a": ["b"], "includeUninitialized": ["true"]}
        return inner

    assert asyncio.run(main()).closed == 1


def test_the_configuration_of_an_initializer_whole() -> None:
    def configuration(group: str, resource: str) -> Object:
        rule = {"apiGroups": [group], "apiVersions": ["v1"], "resources": [resource]}
        return {
            "apiVersion": "admissionregistration.k8s.io/v1alpha1", "kind": "InitializerConfiguration",
            "metadata": {"name": "n"}, "initializers": [{"name": "i.example.com", "rules": [rule]}],
        }  # fmt: skip

    assert initializer_configuration("n", "i.example.com", "secrets") == configuration("", "secrets")
    assert initializer_configuration("n", "i.example.com", "deployments.apps") == configuration("apps", "deployments")
