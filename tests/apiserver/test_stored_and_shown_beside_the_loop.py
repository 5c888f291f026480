"""What is stored and shown of large objects is encoded, read and shown beside the loop, and what a definition says of them is, too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, Request, RequestInfo, WatchFrame
from lifecycle.api.loop.worker import LARGE
from lifecycle.api.resources import resource
from lifecycle.apiserver.admission import certificate_signers
from lifecycle.apiserver.admission.attributes import CREATE, Attributes
from lifecycle.apiserver.admission.certificate_signers import CertificateSubjectRestriction
from lifecycle.apiserver.apiextensions import controllers, served
from lifecycle.apiserver.apiextensions.defaulting import set_schema_defaults
from lifecycle.apiserver.apiextensions.schema_weight import AT_ONCE, RULE, schema_weight
from lifecycle.apiserver.apiextensions.strategy import CustomResourceRules
from lifecycle.apiserver.endpoints.lists import ListEndpoint
from lifecycle.apiserver.http.frames import encoded_frame, json_frame
from lifecycle.apiserver.registry import store
from lifecycle.apiserver.registry.authorization import reviews
from lifecycle.apiserver.registry.scope import scope_of
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.storage.cacher import cacher
from lifecycle.apiserver.storage.cacher.cache_watcher import frame_of
from lifecycle.apiserver.storage.cacher.cached_object import Cached
from lifecycle.etcd import memory
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.store import MAX_REQUEST_BYTES, RequestTooLargeError
from tests.apiserver.admission_server import Asker, config_map
from tests.apiserver.custom_server import CRONTABS, DEFINITIONS, MERGE, crontab, definition
from tests.apiserver.test_beside_the_loop import MAPS, where
from tests.apiserver.test_certificate_signers import CLIENT, request

MANY = {f"k{number}": "v" * 20 for number in range(1_000)}


def on_real_time(scene: Callable[[Asker], Awaitable[Any]]) -> Any:
    """Run a scene on a fresh server that has a worker."""

    async def main() -> Any:
        server = create_server_chain(MemoryStore())
        await server.start()
        try:
            return await scene(Asker(server))
        finally:
            await server.stop()

    return asyncio.run(main())


@pytest.mark.parametrize(("data", "thread"), [({"k": "v"}, "MainThread"), (MANY, "worker")])
@pytest.mark.parametrize("dry_run", [{}, {"dryRun": "All"}])
def test_a_large_object_is_encoded_for_the_store_by_the_worker(
    data: dict[str, str], thread: str, dry_run: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(asker: Asker) -> list[str]:
        await asker.ask("POST", MAPS, config_map())
        called = where(monkeypatch, store, "encode_value")
        assert (await asker.ask("POST", MAPS, config_map("n", **data), **dry_run)).status == 201
        changed = await asker.ask("PATCH", f"{MAPS}/m", {"data": data}, kind=MERGE, **dry_run)
        assert changed.status == 200
        return called

    assert on_real_time(scene) == [thread, thread]


@pytest.mark.parametrize(("data", "thread"), [({"k": "v"}, "MainThread"), (MANY, "worker")])
def test_whether_a_short_patch_changes_anything_of_a_large_object_is_found_out_by_the_worker(
    data: dict[str, str], thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred that change one number held the loop for 450 ms."""

    async def scene(asker: Asker) -> list[str]:
        await asker.ask("POST", MAPS, config_map("n", **data))
        called = where(monkeypatch, store, "is_unchanged")
        for label in ("x", "x"):
            changed = await asker.ask("PATCH", f"{MAPS}/n", {"metadata": {"labels": {"a": label}}}, kind=MERGE)
            assert changed.status == 200
        return called

    assert on_real_time(scene) == [thread, thread]


async def listed(asker: Asker, **query: str) -> list[Object]:
    """The items that stand in the JSON of a list."""
    request = asker.request("GET", MAPS, {key: [value] for key, value in query.items()})
    request.accepts_object, request.headers = False, {"accept": "application/json"}
    answer = await asker.server.handler(request)
    items: list[Object] = fast_json.loads(answer.body or b"{}")["items"]
    return items


def test_a_list_of_the_past_is_unpacked_read_and_encoded_by_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(asker: Asker) -> Any:
        made = await asker.ask("POST", MAPS, config_map(**MANY))
        assert made.obj is not None
        version = made.obj["metadata"]["resourceVersion"]
        await asker.ask("PATCH", f"{MAPS}/m", {"data": {"k0": "other"}}, kind=MERGE)
        reads, writes = where(monkeypatch, cacher, "decode_value"), where(monkeypatch, ListEndpoint, "_join")
        unpacked = where(monkeypatch, memory, "_whole_each")
        items = await listed(asker, resourceVersion=version, resourceVersionMatch="Exact")
        return [item["data"] for item in items if item["metadata"]["name"] == "m"], {*unpacked}, {*reads}, {*writes}

    assert on_real_time(scene) == ([MANY], {"worker"}, {"worker"}, {"worker"})


def test_of_a_page_of_the_past_only_its_rows_are_read_and_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(asker: Asker) -> Any:
        version = ""
        for number in range(20):
            made = await asker.ask("POST", MAPS, config_map(f"m{number:02}"))
            assert made.obj is not None
            version = made.obj["metadata"]["resourceVersion"]
        await asker.ask("POST", MAPS, config_map("later"))
        encoded, read = where(monkeypatch, fast_json, "dumps"), where(monkeypatch, cacher, "decode_value")
        items = await listed(asker, resourceVersion=version, limit="3")
        return len(items), 3 <= len(encoded) < 10, len(read)

    assert on_real_time(scene) == (3, True, 3)


def test_pages_of_the_past_follow_each_other_whatever_is_written_meanwhile() -> None:
    async def scene(asker: Asker) -> Any:
        for number in range(7):
            await asker.ask("POST", MAPS, config_map(f"m{number}"))
        pages, query = [], {"limit": ["3"]}
        while query:
            page = (await asker.server.handler(asker.request("GET", MAPS, query))).obj
            assert isinstance(page, dict)
            metadata = page["metadata"]
            names = [item["metadata"]["name"] for item in page["items"]]
            pages.append((*names, metadata.get("remainingItemCount")))
            await asker.ask("DELETE", f"{MAPS}/m{2 * len(pages)}")
            await asker.ask("POST", MAPS, config_map(f"m3{len(pages)}"))
            query = {"limit": ["3"], "continue": [metadata["continue"]]} if "continue" in metadata else {}
        return pages

    assert on_real_time(scene) == [("m0", "m1", "m2", 4), ("m3", "m4", "m5", 1), ("m6", None)]


@pytest.mark.parametrize(
    ("frame", "thread"),
    [
        (WatchFrame("ADDED", {}, size=LARGE), "MainThread"),
        (WatchFrame("ADDED", {}, size=LARGE + 1), "worker"),
        # somebody else has had it as JSON
        (WatchFrame("ADDED", {}, encoded=b"{}", size=LARGE + 1), "worker"),
    ],
)
def test_a_large_object_of_a_watch_is_shown_by_the_worker(
    frame: WatchFrame, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = where(monkeypatch, fast_json, "dumps")

    async def main() -> bytes:
        return await encoded_frame(lambda one: fast_json.dumps(one.object), frame)

    assert asyncio.run(main()) == b"{}"
    assert called == [thread]


def test_a_line_of_json_and_what_is_bytes_already_wait_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    called = where(monkeypatch, fast_json, "dumps")

    async def main() -> list[bytes]:
        frame = WatchFrame("ADDED", {}, size=LARGE + 1)
        return [await encoded_frame(json_frame, frame), await encoded_frame(bytes, b"a line")]

    assert asyncio.run(main()) == [b'{"type":"ADDED","object":{}}\n', b"a line"]
    assert called == ["MainThread"]


def test_a_frame_says_how_large_its_object_is_whether_its_json_is_there_or_not() -> None:
    obj: Object = {"metadata": {"uid": "u", "resourceVersion": "1"}}
    assert frame_of("ADDED", Cached("k", obj, 1, size=70_000)).size == 70_000
    assert frame_of("ADDED", Cached("k", obj, 1, b"x" * 50)).size == 50
    cached = Cached("k", obj, 1, size=70_000)
    assert frame_of("ADDED", cached).size != len(cached.json)
    assert frame_of("ADDED", cached).size == len(cached.json)
    cached.superseded()
    assert cached.size == len(cached.json)


def test_each_frame_of_a_watch_says_how_large_its_object_is_also_when_it_is_gone() -> None:
    async def frames(asker: Asker, count: int) -> list[tuple[str, bool]]:
        answer = await asker.ask("GET", MAPS, watch="1", fieldSelector="metadata.name=m")
        assert answer.stream is not None
        await asker.ask("DELETE", f"{MAPS}/m") if count > 1 else None
        return [(frame.type, frame.size > LARGE) async for frame in islice_of(answer.stream, count)]

    async def scene() -> list[tuple[str, bool]]:
        store = MemoryStore()
        writer, reader = (Asker(create_server_chain(store)) for _ in range(2))
        await writer.server.start()
        await writer.ask("POST", MAPS, config_map(**MANY))
        await reader.server.start()
        try:
            return [*await frames(writer, 1), *await frames(reader, 2)]
        finally:
            await reader.server.stop()
            await writer.server.stop()

    assert asyncio.run(scene()) == [("ADDED", True), ("ADDED", True), ("DELETED", True)]


async def islice_of(stream: AsyncIterator[WatchFrame], count: int) -> AsyncIterator[WatchFrame]:
    for _ in range(count):
        yield await anext(stream)


@pytest.mark.parametrize(
    ("schema", "weight"),
    [
        ({"type": "object"}, 1),
        ({"properties": {"a": {"anyOf": [{}, {}]}, "b": {"items": {"oneOf": [{"allOf": [{}]}]}}}}, 5),
        ({"x-kubernetes-validations": [{"rule": "true"}, {"rule": "true"}]}, 1 + 2 * RULE),
        ({"properties": {"a": {"enum": ["x"] * AT_ONCE}}}, 2),
        ({"properties": {f"p{number}": {} for number in range(3 * AT_ONCE)}}, 4),
        ({"properties": {"enum": {"type": "string"}, "anyOf": {"type": "array"}}}, 1),
        ({"properties": {"a": {"default": "x" * 5 * AT_ONCE}}}, 6),
    ],
)
def test_a_schema_weighs_as_much_as_it_looks_at_a_value(schema: Object, weight: int) -> None:
    assert schema_weight(schema) == weight


def test_a_small_object_of_a_heavy_definition_counts_as_a_large_one() -> None:
    heavy = {"type": "object", "properties": {"w": {"anyOf": [{"pattern": f"^a{i}$"} for i in range(1_000)]}}}

    def size(schema: Object) -> int:
        made = definition(schema=schema)
        strategy = CustomResourceRules(made, made["spec"]["versions"][0]).strategy
        row = served.resource_of(made, made["spec"]["versions"][0])
        asked = Request("POST", CRONTABS, {}, {}, b"x" * 100)
        asked.info = RequestInfo(path=CRONTABS, verb="create", is_resource_request=True)
        return scope_of(asked, row, strategy).size

    assert size({"type": "object"}) == 100
    assert size(heavy) == LARGE + 1  # enough for the worker, and not so much that memory is looked after each time


def test_what_is_stored_of_a_heavy_definition_counts_by_its_weight_however_short_the_patch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heavy = {
        "type": "object",
        "properties": {"w": {"type": "string", "anyOf": [{"pattern": f"^a{i}$"} for i in range(200)]}},
    }

    async def scene(asker: Asker) -> list[str]:
        assert (await asker.ask("POST", DEFINITIONS, definition(schema=heavy))).status == 201
        for _ in range(1_000):
            if (await asker.ask("GET", CRONTABS)).status == 200:
                break
            await asyncio.sleep(0.01)
        annotations = {"a": "x" * 1_000}
        made = crontab("c")
        made["metadata"]["annotations"] = annotations
        assert (await asker.ask("POST", CRONTABS, made)).status == 201
        called = where(monkeypatch, store, "encode_value")
        patch = {"metadata": {"labels": {"b": "c"}}}
        assert (await asker.ask("PATCH", f"{CRONTABS}/c", patch, kind=MERGE)).status == 200
        return called

    assert on_real_time(scene) == ["worker"]


def test_a_large_definition_is_checked_and_made_ready_by_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(1_000)}}

    async def scene(asker: Asker) -> Any:
        checked = where(monkeypatch, controllers, "validate_structural")
        ready = where(monkeypatch, served, "CustomResourceRules")
        assert (await asker.ask("POST", DEFINITIONS, definition(schema=schema))).status == 201
        for _ in range(1_000):
            if (await asker.ask("GET", CRONTABS)).status == 200:
                break
            await asyncio.sleep(0.01)
        return {*checked}, {*ready}

    assert on_real_time(scene) == ({"worker"}, {"worker"})


def test_no_more_defaults_are_filled_in_than_can_be_stored() -> None:
    item = {"type": "object", "properties": {"d": {"type": "string", "default": "x" * 1_000}}}
    schema = {"type": "object", "properties": {"l": {"type": "array", "items": item}}}
    few: Object = {"l": [{} for _ in range(1_000)]}
    set_schema_defaults(few, schema)
    assert {len(each["d"]) for each in few["l"]} == {1_000}
    many: Object = {"l": [{} for _ in range(10_000)]}
    with pytest.raises(RequestTooLargeError):
        set_schema_defaults(many, schema)
    assert MAX_REQUEST_BYTES - 5_000 < sum(len(each.get("d", "")) for each in many["l"]) <= MAX_REQUEST_BYTES


def test_of_a_stored_object_is_shown_what_the_defaults_make_of_it_as_far_as_that_goes() -> None:
    item = {"type": "object", "properties": {"d": {"type": "string", "default": "x" * 1_000}}}
    schema = {"type": "object", "properties": {"l": {"type": "array", "items": item}}}
    made = definition(schema=schema)
    rules = CustomResourceRules(made, made["spec"]["versions"][0])
    stored = {**crontab(), "spec": {"l": [{} for _ in range(10_000)]}}
    shown = rules.from_storage(stored)
    assert len(shown["spec"]["l"]) == 10_000
    assert shown["spec"]["l"][0] == {"d": "x" * 1_000}
    assert shown["spec"]["l"][-1] == {}


@pytest.mark.parametrize(("count", "thread"), [(1, "MainThread"), (1_000, "worker")])
def test_a_long_question_about_rights_is_checked_and_read_by_the_worker(
    count: int, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    terms = [{"key": f"k{number}", "operator": "In", "values": ["a"]} for number in range(count)]
    what = {"verb": "list", "resource": "pods", "labelSelector": {"requirements": terms}}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "metadata": {},
        "spec": {"user": "bob", "resourceAttributes": what},
    }

    async def scene(asker: Asker) -> list[str]:
        called = [*(where(monkeypatch, reviews, name) for name in ("_spec_errors", "request_info_from"))]
        response = await asker.ask("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
        assert response.status == 201
        assert (response.size > LARGE) is (count > 1)
        return [one for each in called for one in each]

    assert on_real_time(scene) == [thread, thread]


@pytest.mark.parametrize(("count", "thread"), [(1, "MainThread"), (1_000, "worker")])
def test_the_organizations_of_a_long_signing_request_are_read_by_the_worker(
    count: int, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = request("many", CLIENT, *(f"group-{number}" for number in range(count)))
    plugin = CertificateSubjectRestriction()
    asked = Attributes(CREATE, resource("certificatesigningrequests.certificates.k8s.io"), "", "", "many", made)
    called = where(monkeypatch, certificate_signers, "_groups")

    async def main() -> None:
        waiting = plugin.validate(asked)
        assert waiting is not None
        await waiting

    asyncio.run(main())
    assert called == [thread]
