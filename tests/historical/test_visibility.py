"""Who sees what while an object is not initialized: watches, patches, answers, and what may become of the list."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from lifecycle.api.http.wire import Object, Request, Response, WatchFrame
from lifecycle.api.status import StatusError, failure
from lifecycle.client.rest import JSON_PATCH, MERGE_PATCH, Client
from lifecycle.historical.apiserver.initializer_visibility import _body, _inward, _watched, shown
from lifecycle.historical.apiserver.initializers import STATE, _transition
from lifecycle.historical.controllers.initializer_controller import InitializerController
from tests.apiserver.admission_server import Asker, config_map
from tests.fake_api import FakeAPI
from tests.historical.test_initializers import MAPS, play

PENDING = {"pending": [{"name": "x.example.com"}]}
FAILED = {"pending": [{"name": "x.example.com"}], "result": {"status": "Failure"}}


def stored(uid: str, state: Object | None, **annotations: str) -> Object:
    kept = annotations | ({STATE: json.dumps(state)} if state is not None else {})
    return {"metadata": {"uid": uid, **({"annotations": kept} if kept else {})}}


def visible(uid: str, state: Object | None) -> Object:
    return {"metadata": {"uid": uid, **({"initializers": state} if state is not None else {})}}


@pytest.mark.parametrize("include", [False, True])
def test_to_a_watch_an_object_begins_to_exist_when_it_was_initialized(include: bool) -> None:
    closed: list[bool] = []
    frames = [
        WatchFrame("ADDED", stored("a", PENDING)), WatchFrame("MODIFIED", stored("a", PENDING)), WatchFrame("ADDED", stored("b", None)),
        WatchFrame("MODIFIED", stored("b", None)), WatchFrame("MODIFIED", stored("a", None)), WatchFrame("MODIFIED", stored("a", None)),
        WatchFrame("ADDED", stored("c", PENDING)), WatchFrame("DELETED", stored("c", PENDING)), WatchFrame("DELETED", stored("a", None)),
        WatchFrame("BOOKMARK", {"metadata": {}}), WatchFrame("ERROR", {"code": 410}),
    ]  # fmt: skip

    async def stream() -> AsyncIterator[WatchFrame]:
        try:
            for frame in frames:
                yield frame
        finally:
            closed.append(True)

    async def main() -> list[tuple[str, Object]]:
        return [(frame.type, frame.object) async for frame in _watched(stream(), include)]

    seen = asyncio.run(main())
    everything = [
        ("ADDED", visible("a", PENDING)), ("MODIFIED", visible("a", PENDING)), ("ADDED", visible("b", None)),
        ("MODIFIED", visible("b", None)), ("MODIFIED", visible("a", None)), ("MODIFIED", visible("a", None)),
        ("ADDED", visible("c", PENDING)), ("DELETED", visible("c", PENDING)), ("DELETED", visible("a", None)),
        ("BOOKMARK", {"metadata": {}}), ("ERROR", {"code": 410}),
    ]  # fmt: skip
    if not include:
        everything = [each for each in everything if "initializers" not in each[1].get("metadata", {})]
        everything[2] = ("ADDED", visible("a", None))
    assert seen == everything
    assert closed == [True]


def test_outside_the_list_is_a_field_and_inside_an_annotation() -> None:
    inside = stored("a", PENDING, other="x")
    assert shown(inside) == {"metadata": {"uid": "a", "annotations": {"other": "x"}, "initializers": PENDING}}
    plain = stored("a", None, other="x")
    assert shown(plain) is plain
    assert _inward(shown(inside)) == inside
    assert _inward({"metadata": {"name": "n", "initializers": None}}) == {"metadata": {"name": "n"}}
    for nothing in ({}, {"metadata": None}, {"metadata": {}}):
        assert _inward(nothing) is nothing


@pytest.mark.parametrize("body", [b"{", b"", b"[]", b"1", b'"x"', b"null"])
def test_what_is_posted_is_an_object(body: bytes) -> None:
    with pytest.raises(StatusError) as refused:
        _body(Request("POST", "/x", body=body))
    assert (refused.value.code, refused.value.message) == (
        400,
        "the object provided is unrecognized (must be of type JSON)",
    )
    request = Request("POST", "/x", body=b'{"a": 1}')
    assert (_body(request), request.body) == ({"a": 1}, b"")


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        (None, PENDING, "metadata.initializers: Invalid value: {}: field is immutable once initialization has completed"),
        (FAILED, PENDING, "metadata.initializers: Invalid value: {}: field is immutable once initialization has failed"),
        (FAILED, None, "metadata.initializers: Invalid value: {}: field is immutable once initialization has failed"),
        (PENDING, None, ""), (PENDING, PENDING, ""), (PENDING, FAILED, ""),
        (PENDING, {"result": {"status": "Success"}}, 'metadata.initializers.result.status: Invalid value: "Success": must be \'Failure\''),
        (PENDING, {"result": {"code": 1}}, 'metadata.initializers.result.status: Invalid value: "": must be \'Failure\''),
    ],
)  # fmt: skip
def test_what_may_become_of_the_list(before: Object | None, now: Object | None, words: str) -> None:
    errors = _transition(before, now)
    assert len(errors) == bool(words)
    if words:
        start, _, end = words.partition("{}")
        assert str(errors[0]).startswith(start)
        assert str(errors[0]).endswith(end)


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        (MERGE_PATCH, {"data": {"a": "b"}, "metadata": {"initializers": {"pending": [{"name": "y.example.com"}]}}}),
        (
            JSON_PATCH,
            [
                {"op": "add", "path": "/data", "value": {"a": "b"}},
                {"op": "replace", "path": "/metadata/initializers/pending", "value": [{"name": "y.example.com"}]},
            ],
        ),
    ],
)
def test_a_patch_may_speak_of_the_list(kind: str, patch: Any) -> None:
    async def scene(asker: Asker, client: Client, all_seeing: Client) -> tuple[Object, Object, Object]:
        bare = {key: value for key, value in config_map().items() if key != "data"}
        await all_seeing.create(MAPS, bare, "default")
        patched = await all_seeing.patch(MAPS, "m", "default", patch, patch_type=kind)
        await all_seeing.patch(MAPS, "m", "default", {"metadata": {"initializers": None}})
        done = await client.get(MAPS, "m", "default")
        later = await client.patch(MAPS, "m", "default", {"data": {"a": "c"}})
        return patched, done, later

    patched, done, later = play(scene, ("x.example.com", "configmaps"))
    assert (patched["data"], patched["metadata"]["initializers"]) == (
        {"a": "b"},
        {"pending": [{"name": "y.example.com"}]},
    )
    assert (done["data"], done["metadata"].get("initializers"), done["metadata"].get("annotations")) == (
        {"a": "b"},
        None,
        None,
    )
    assert later["data"] == {"a": "c"}


def test_who_writes_a_result_ends_the_object_and_its_creator_is_told() -> None:
    async def scene(asker: Asker, client: Client, all_seeing: Client) -> tuple[StatusError, list[Any]]:
        waiting = asyncio.create_task(client.create(MAPS, config_map(), "default"))
        await asyncio.sleep(0.1)
        made = await all_seeing.get(MAPS, "m", "default")
        state = {
            **made["metadata"]["initializers"],
            "result": {"status": "Failure", "code": 418, "message": "no", "reason": "Odd"},
        }
        answer = await all_seeing.update(MAPS, {**made, "metadata": {**made["metadata"], "initializers": state}})
        assert answer["metadata"]["initializers"] == state
        with pytest.raises(StatusError) as refused:
            await waiting
        return refused.value, (await all_seeing.list(MAPS, "default"))["items"]

    refused, left = play(scene, ("x.example.com", "configmaps"))
    assert (refused.code, refused.message, refused.status["reason"], refused.status["kind"]) == (
        418,
        "no",
        "Odd",
        "Status",
    )
    assert left == []


def test_who_waits_for_an_object_that_is_deleted_is_told() -> None:
    async def scene(asker: Asker, client: Client, all_seeing: Client) -> StatusError:
        waiting = asyncio.create_task(client.create(MAPS, config_map(), "default"))
        await asyncio.sleep(0.1)
        await all_seeing.delete(MAPS, "m", "default")
        with pytest.raises(StatusError) as refused:
            await waiting
        return refused.value

    refused = play(scene, ("x.example.com", "configmaps"))
    assert refused.code == 500
    assert "object deleted while waiting for initialization" in refused.message


def test_a_dry_run_and_whoever_sees_everything_do_not_wait() -> None:
    async def scene(asker: Asker, client: Client, all_seeing: Client) -> None:
        path = "/api/v1/namespaces/default/configmaps"
        dry = await asker.ask("POST", path, config_map(), dryRun="All")
        assert (dry.status, (dry.obj or {})["metadata"]["initializers"]) == (201, PENDING)
        made = await asker.ask("POST", path, config_map(), includeUninitialized="true")
        assert (made.status, (made.obj or {})["metadata"]["initializers"]) == (201, PENDING)
        assert (await asker.ask("GET", f"{path}/m")).status == 404
        for spelled in ("true", "1", ""):
            assert (await asker.ask("GET", f"{path}/m", includeUninitialized=spelled)).status == 200
        assert (await asker.ask("GET", f"{path}/m", includeUninitialized="false")).status == 404
        missing = await asker.ask("GET", f"{path}/m")
        assert (missing.obj or {})["message"] == 'configmaps "m" not found'
        set_result = config_map("r")
        set_result["metadata"]["initializers"] = FAILED
        refused = await asker.ask("POST", path, set_result)
        assert refused.status == 403
        assert (refused.obj or {})["message"].endswith("initializers may not set a result on creation")

    play(scene, ("x.example.com", "configmaps"))


@pytest.mark.parametrize(("code", "raised"), [(404, False), (409, True), (403, True), (500, True)])
def test_an_initializer_tries_again_unless_the_object_is_gone(code: int, raised: bool) -> None:
    class Refusing(FakeAPI):
        async def round_trip(self, request: Request) -> Response:
            if request.method == "PUT":
                return Response(code, obj=failure(code, "Any", "no").status)
            return await super().round_trip(request)

    async def main() -> None:
        controller = InitializerController(Client(Refusing(), "x"), "x.example.com", MAPS, lambda obj: None)
        obj = {"metadata": {"name": "m", "namespace": "ns", "initializers": PENDING}}
        controller._informer.indexer.set("ns/m", obj)
        if raised:
            with pytest.raises(StatusError):
                await controller._sync("ns/m")
        else:
            await controller._sync("ns/m")
        await controller._sync("ns/gone")

    asyncio.run(main())
