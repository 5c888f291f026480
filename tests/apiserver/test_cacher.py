"""The watch cache: fresh reads, shared encodings, and watches whose events add up to the list."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle.api import fast_json
from lifecycle.api.fields import parse_field_selector
from lifecycle.api.http.wire import Object, WatchFrame
from lifecycle.api.labels import parse_selector
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.loop.worker import LARGE
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.http.frames import json_frame
from lifecycle.apiserver.registry.strategies import strategy_for
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.rest_storage import new_cachers
from lifecycle.apiserver.storage.cache_reader import CacheReader
from lifecycle.apiserver.storage.cacher import cache_watcher, event_window
from lifecycle.apiserver.storage.cacher import cacher as cacher_module
from lifecycle.apiserver.storage.cacher.cache_watcher import AT_A_TIME, CacheWatcher, Criteria
from lifecycle.apiserver.storage.cacher.cached_object import Cached, Writing, with_resource_version
from lifecycle.apiserver.storage.cacher.cacher import Cacher
from lifecycle.apiserver.storage.stats import SAMPLE, Stats, StorageStats
from lifecycle.etcd.codec import encode_value
from lifecycle.etcd.keys import registry_key, resource_prefix
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.store import RangeResult, StoreError

SELECTABLE_FIELDS = strategy_for("v1", "Pod").field_labels.selectable_fields
PODS = resource("pods")


def pod(namespace: str, name: str, node: str = "", label: str = "") -> Object:
    metadata: Object = {"name": name, "namespace": namespace, "uid": f"{namespace}-{name}"}
    if label:
        metadata["labels"] = {"app": label}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": {"nodeName": node} if node else {}}


async def started(store: MemoryStore) -> Cacher:
    made = Cacher(store, PODS, SELECTABLE_FIELDS)
    await made.start()
    return made


def test_the_pods_of_a_node_are_looked_up_not_looked_for() -> None:
    async def main() -> None:
        store = MemoryStore()
        keys = {}
        for number in range(40):
            obj = pod("b" if number % 2 else "a", f"p{number:02}", f"n{number % 20}")
            keys[number] = registry_key(PODS, obj["metadata"]["namespace"], obj["metadata"]["name"])
            await store.put(keys[number], encode_value(obj))
        cacher = await started(store)
        criteria = Criteria(node_name="n3")

        def names(criteria: Criteria) -> list[str]:
            return [cached.obj["metadata"]["name"] for cached in cacher.candidates(criteria)]

        assert names(criteria) == ["p03", "p23"]
        assert len(cacher.candidates(criteria, indexed=False)) == 40
        watcher = cacher.watch(criteria, None, initial=True, bookmarks=False)
        assert [frame.object["metadata"]["name"] for frame in watcher.take()] == ["p03", "p23"]
        await store.delete(keys[3])
        late = registry_key(PODS, "a", "a-late-one")
        await store.put(late, encode_value(pod("a", "a-late-one")))
        cacher.catch_up()
        assert names(criteria) == ["p23"]
        await store.put(late, encode_value(pod("a", "a-late-one", "n3")))
        cacher.catch_up()
        assert names(criteria) == ["a-late-one", "p23"]  # in key order: by namespace, then by name
        assert names(Criteria(node_name="nowhere")) == []

        reader = CacheReader({PODS.store_key: cacher})
        await store.delete(late)  # a guard reads what is in the store, told to the cache or not
        assert [obj["metadata"]["name"] for obj in reader.pods_on("n3")] == ["p23"]
        assert [*reader.pods_on("nowhere")] == []
        await cacher.stop()

    run_virtual(main())


def test_flow_control_looks_at_a_few_objects_however_many_there_are() -> None:
    """It looks at each list that somebody asks for: on five thousand nodes that is five thousand times five thousand."""

    async def main() -> None:
        store = MemoryStore()
        for number in range(2 * SAMPLE):
            await store.put(registry_key(PODS, "a", f"p{number:02}"), encode_value(pod("a", f"p{number:02}")))
        cacher = await started(store)
        stats = StorageStats({("", "pods"): cacher})
        first = cacher.ordered()[:SAMPLE]
        assert cacher.first(SAMPLE) == first
        size = sum(len(cached.json) for cached in first) // SAMPLE
        assert stats.stats("", "pods") == Stats(2 * SAMPLE, size)

        looked_at: list[str] = []

        class Counted(dict[str, Cached]):
            def __getitem__(self, key: str) -> Cached:
                looked_at.append(key)
                return super().__getitem__(key)

        await store.delete(registry_key(PODS, "a", "p00"))
        cacher.catch_up()
        cacher._objects._objects = Counted(cacher._objects._objects)
        assert stats.stats("", "pods") is not None
        assert len(looked_at) == SAMPLE
        assert stats.stats("", "nodes") is None
        await cacher.stop()

    run_virtual(main())


def test_who_comes_late_is_told_of_everything_however_much_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes after that has a bound, as always."""
    monkeypatch.setattr(cache_watcher, "MAX_PENDING", 2)

    async def main() -> None:
        store = MemoryStore()

        async def write(number: int) -> None:
            await store.put(registry_key(PODS, "a", f"p{number}"), encode_value(pod("a", f"p{number}")))

        for number in range(5):
            await write(number)
        cacher = await started(store)
        watcher = cacher.watch(Criteria(), None, initial=True, bookmarks=False)
        for late, unread in ((5, 1), (6, 2), (7, 0)):
            assert not watcher.ended
            await write(late)
            cacher.catch_up()
            assert watcher.unread == unread
        assert watcher.ended
        assert len(watcher.take()) == 5
        await cacher.stop()

    run_virtual(main())


def test_a_version_that_is_not_stored_shares_what_the_stored_one_has_decoded() -> None:
    """Events have two faces: a pod's five would else be kept twice, in full."""
    core, newer = resource("events"), resource("events.events.k8s.io")

    def event(note: str) -> Object:
        metadata = {"name": "e", "namespace": "a", "uid": "u"}
        about = {"kind": "Pod", "name": "p"}
        return {"kind": "Event", "apiVersion": "v1", "metadata": metadata, "involvedObject": about, "message": note}

    async def main() -> None:
        store = MemoryStore()
        cachers = new_cachers(store)
        stored, shown = cachers[core.store_key], cachers[newer.store_key]
        await stored.start()
        await shown.start()
        key = registry_key(core, "a", "e")

        async def write(note: str) -> None:
            obj = event(note)
            revision = await store.put(key, encode_value(obj))
            assert revision is not None
            metadata = {**obj["metadata"], "resourceVersion": str(revision)}
            handed = Cached(key, {**obj, "metadata": metadata}, revision)
            writing = Writing(key, encode_value(obj), lambda _: handed)
            stored.begin_write(writing)
            stored.end_write(writing, revision)

        def seen(cacher: Cacher) -> Object:
            cacher.catch_up()
            cached = cacher.get(key)
            assert cached is not None
            return cached.obj

        for order in ((shown, stored), (stored, shown)):  # whoever hears of it first
            await write("once")
            for cacher in order:
                seen(cacher)
            assert seen(shown)["regarding"] is seen(stored)["involvedObject"]
        watcher = shown.watch(Criteria(), None, initial=False, bookmarks=False)
        await write("twice")
        await write("thrice")
        assert seen(stored)["message"] == "thrice"
        seen(shown)  # what is no longer the newest is decoded: each version is told as it was
        assert [frame.object["note"] for frame in watcher.take()] == ["twice", "thrice"]
        for cacher in (stored, shown):
            await cacher.stop()

    run_virtual(main())


def test_the_face_of_an_event_that_nobody_looks_at_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    core, newer = resource("events"), resource("events.events.k8s.io")
    made: list[str] = []

    async def main() -> None:
        store = MemoryStore()
        cachers = new_cachers(store)
        stored, shown = cachers[core.store_key], cachers[newer.store_key]
        show = shown._from_storage
        assert show is not None
        monkeypatch.setattr(shown, "_from_storage", lambda obj: made.append(obj["metadata"]["name"]) or show(obj))
        await stored.start()
        await shown.start()
        for name in ("a", "b", "c"):
            metadata: Object = {"name": name, "namespace": "n", "uid": name}
            obj = {"kind": "Event", "apiVersion": "v1", "metadata": metadata, "involvedObject": {}, "message": name}
            await store.put(registry_key(core, "n", name), encode_value(obj))
            for cacher in (stored, shown):
                cacher.catch_up()
        assert made == []
        one = shown.get(registry_key(core, "n", "b"))
        assert one is not None
        assert [one.obj["note"], one.obj["apiVersion"], one.namespace] == ["b", "events.k8s.io/v1", "n"]
        assert made == ["b"]
        assert json_frame(WatchFrame("ADDED", one.obj, one)).count(b'"note":"b"') == 1
        assert [cached.obj["note"] for cached in shown.ordered("n")] == ["a", "b", "c"]
        assert made == ["b", "a", "c"]
        for cacher in (stored, shown):
            await cacher.stop()

    run_virtual(main())


class Unreadable(MemoryStore):
    """A store whose pods cannot be read."""

    async def range(self, *asked: Any, **options: Any) -> RangeResult:
        if asked[0].startswith(resource_prefix(PODS)):
            raise StoreError("etcdserver: request timed out")
        return await super().range(*asked, **options)


def test_a_cache_that_could_not_be_filled_can_be_stopped() -> None:
    async def main() -> None:
        cacher = Cacher(Unreadable(), PODS, SELECTABLE_FIELDS)
        with pytest.raises(StoreError, match=r"etcdserver: request timed out$"):
            await cacher.start()
        cacher.catch_up()
        await cacher.stop()

    run_virtual(main())


def test_a_server_whose_start_failed_says_why_and_stops() -> None:
    async def main() -> None:
        server = create_server_chain(Unreadable())
        try:
            with pytest.raises(StoreError, match=r"etcdserver: request timed out$"):
                await server.start()
        finally:
            await server.stop()

    run_virtual(main())


async def put(store: MemoryStore, obj: Object) -> int:
    metadata = obj["metadata"]
    revision = await store.put(registry_key(PODS, metadata["namespace"], metadata["name"]), encode_value(obj))
    assert revision is not None
    return revision


CRITERIA = [
    Criteria(),
    Criteria(namespace="a"),
    Criteria(name="x"),
    Criteria(namespace="a", name="x"),
    Criteria(node_name="n1"),
    Criteria(namespace="b", node_name="n1"),
    Criteria(labels=parse_selector("app=web")),
    Criteria(namespace="a", labels=parse_selector("app!=web")),
    Criteria(fields=parse_field_selector("spec.nodeName!=n1")),
    Criteria(name="x", fields=parse_field_selector("metadata.namespace=b")),
]

names, nodes, labels = (
    st.sampled_from(["x", "y"]),
    st.sampled_from(["", "n1", "n2"]),
    st.sampled_from(["", "web", "db"]),
)
writes = st.lists(st.tuples(st.sampled_from(["a", "b"]), names, nodes, labels, st.booleans()), max_size=25)


def replayed(view: dict[str, Object], frames: list[WatchFrame]) -> dict[str, Object]:
    """A client's view after these events, checking that each makes sense."""
    for frame in frames:
        metadata = frame.object["metadata"]
        key = f"{metadata['namespace']}/{metadata['name']}"
        assert (frame.type == "ADDED") == (key not in view)
        if frame.type == "DELETED":
            del view[key]
        else:
            view[key] = frame.object
    return view


@settings(max_examples=150, deadline=None)
@given(writes, writes, st.sampled_from(CRITERIA), st.booleans())
def test_list_and_watch_add_up_to_the_list_at_the_end(
    before: list, after: list, criteria: Criteria, late: bool
) -> None:
    async def write(store: MemoryStore, steps: list) -> None:
        for namespace, name, node, label, delete in steps:
            if delete:
                await store.delete(registry_key(PODS, namespace, name))
            else:
                await put(store, pod(namespace, name, node, label))

    async def main() -> None:
        store = MemoryStore()
        cacher = await started(store)
        await write(store, before)
        cacher.catch_up()
        rows = [row.obj for row in cacher.candidates(criteria) if criteria.matches(row.obj, SELECTABLE_FIELDS)]
        view = {f"{obj['metadata']['namespace']}/{obj['metadata']['name']}": obj for obj in rows}
        revision = store.revision
        if late:  # the watch starts when everything has happened already
            await write(store, after)
            watcher = cacher.watch(criteria, revision, initial=False, bookmarks=False)
        else:
            watcher = cacher.watch(criteria, revision, initial=False, bookmarks=False)
            await write(store, after)
        cacher.catch_up()
        view = replayed(view, watcher.take())
        page = await store.range(cacher.prefix, cacher.prefix[:-1] + "0")
        everything = [fast_json.loads(kv.value) | {"revision": kv.mod_revision} for kv in page.kvs]
        wanted = {
            f"{obj['metadata']['namespace']}/{obj['metadata']['name']}": str(obj["revision"])
            for obj in everything
            if criteria.matches(obj, SELECTABLE_FIELDS)
        }
        assert {key: obj["metadata"]["resourceVersion"] for key, obj in view.items()} == wanted
        await cacher.stop()

    run_virtual(main())


def test_a_thousand_watchers_of_nodes_are_not_asked_about_other_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        store = MemoryStore()
        cacher = await started(store)
        watchers = [
            cacher.watch(Criteria(node_name=f"n{i}"), None, initial=False, bookmarks=False) for i in range(1000)
        ]
        asked: list[object] = []
        feed = CacheWatcher.feed
        monkeypatch.setattr(CacheWatcher, "feed", lambda self, *rest: (asked.append(self), feed(self, *rest)))
        await put(store, pod("a", "x", "n7"))
        await put(store, pod("a", "x", "n8"))
        cacher.catch_up()
        assert set(asked) == {watchers[7], watchers[8]}
        assert [frame.type for frame in watchers[7].take()] == ["ADDED", "DELETED"]
        await cacher.stop()

    run_virtual(main())


def test_a_change_is_encoded_once_for_all_its_watchers() -> None:
    async def main() -> None:
        store = MemoryStore()
        cacher = await started(store)
        watchers = [cacher.watch(criteria, None, initial=False, bookmarks=False) for criteria in CRITERIA[:3]]
        await put(store, pod("a", "x"))
        cacher.catch_up()
        frames = [watcher.take()[0] for watcher in watchers]
        assert frames[0] is frames[1] is frames[2]
        assert json_frame(frames[0]) is json_frame(frames[1])
        await cacher.stop()

    run_virtual(main())


def test_a_version_that_the_window_has_forgotten_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_window, "MIN_CHANGES", 5)
    monkeypatch.setattr(event_window, "MAX_CHANGES", 5)

    async def main() -> None:
        store = MemoryStore()
        cacher = await started(store)
        for i in range(20):
            await put(store, pod("a", f"p{i}"))
        cacher.catch_up()
        with pytest.raises(StatusError) as caught:
            cacher.watch(Criteria(), 3, initial=False, bookmarks=False)
        assert (caught.value.code, caught.value.reason) == (410, "Expired")
        watcher = cacher.watch(Criteria(), store.revision - 5, initial=False, bookmarks=False)
        assert len(watcher.take()) == 5
        await cacher.stop()

    run_virtual(main())


def test_the_stored_value_becomes_the_answer_without_being_encoded_again() -> None:
    obj = {**pod("a", "x"), "metadata": {"name": "x", "namespace": "a", "uid": "1", "generation": 1}}
    stamped = {**obj, "metadata": {"name": "x", "namespace": "a", "uid": "1", "resourceVersion": "7", "generation": 1}}
    assert with_resource_version(encode_value(obj), stamped) == fast_json.dumps(stamped)


def test_the_json_of_a_version_that_was_superseded_is_made_again_for_who_is_late() -> None:
    """A list and a watch hold versions longer than they are the newest."""

    async def main() -> None:
        store = MemoryStore()
        cacher = await started(store)
        watcher = cacher.watch(Criteria(), None, initial=False, bookmarks=False)
        key = registry_key(PODS, "a", "p")
        for node in ("n1", "n2", ""):
            if node:
                await store.put(key, encode_value(pod("a", "p", node)))
            else:
                await store.delete(key)
            cacher.catch_up()
        first, second, last = [await anext(watcher) for _ in range(3)]
        assert first.source is not None
        assert second.source is not None
        for frame, node in ((first, "n1"), (second, "n2")):
            assert frame.source._json is frame.source._value is None  # nothing is kept of it but the object
            assert frame.source.size > 0
            assert fast_json.loads(frame.source.json)["spec"] == {"nodeName": node}
            assert fast_json.loads(json_frame(frame))["object"] == frame.object
        assert last.type == "DELETED"
        await cacher.stop()

    run_virtual(main())


def test_an_owner_with_the_same_uid_does_not_mislead() -> None:
    metadata = {"ownerReferences": [{"uid": "1"}], "name": "x", "uid": "1", "resourceVersion": "7"}
    obj = {**pod("a", "x"), "metadata": metadata}
    assert with_resource_version(encode_value(obj), obj) is None


def test_namespaces_that_are_gone_or_never_were_are_not_kept() -> None:
    async def main() -> None:
        store = MemoryStore()
        cacher = await started(store)
        for number in range(20):
            await put(store, pod(f"n{number}", "p"))
            cacher.catch_up()
            assert len(cacher.ordered(f"n{number}")) == 1
            await store.delete(registry_key(PODS, f"n{number}", "p"))
            cacher.catch_up()
            assert cacher.ordered(f"never{number}") == []
        assert cacher._objects.namespaces() == []
        await cacher.stop()

    run_virtual(main())


def test_a_reader_who_walks_away_ends_its_watch() -> None:
    async def main() -> None:
        server = create_server_chain(MemoryStore())
        await server.start()
        nodes, client = server.cachers["", "nodes"], server.loopback.client()
        before = len(nodes.watchers())

        async def first(what: str) -> str:
            stream = await client.watch(resource("nodes"), bookmarks=False)
            async for frame in stream:
                if frame.object["metadata"]["name"] == what:
                    return frame.type
            return ""

        stays = await client.watch(resource("nodes"), bookmarks=False)
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
        await client.create(resource("nodes"), node)
        assert await first("n1") == "ADDED"
        await asyncio.sleep(1)
        assert len(nodes.watchers()) == before + 1
        assert (await anext(stays)).object["metadata"]["name"] == "n1"
        await server.stop()

    run_virtual(main())


def test_what_there_is_at_first_is_looked_through_when_it_is_read_and_others_have_turns_between(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Counting:
        asked = 0

        def matches(self, labels: dict[str, str]) -> bool:
            self.asked += 1
            return labels.get("app") == "wanted"

    async def main() -> None:
        store = MemoryStore()
        for number in range(3 * AT_A_TIME):
            label = "wanted" if number == 3 * AT_A_TIME - 1 else ""
            obj = pod("a", f"p{number:03}", label=label)
            await store.put(registry_key(PODS, "a", obj["metadata"]["name"]), encode_value(obj))
        cacher = await started(store)
        selector, looked_at = Counting(), list[int]()

        class Turns:
            async def pause(self) -> None:
                looked_at.append(selector.asked)

        monkeypatch.setattr(cache_watcher, "Pauses", Turns)
        watcher = cacher.watch(Criteria(labels=selector), None, initial=True, bookmarks=True)  # type: ignore[arg-type]
        watcher.push_bookmark(initial_events_end=True)
        assert selector.asked == 0
        wanted = pod("a", "p999", label="wanted")
        await store.put(registry_key(PODS, "a", "p999"), encode_value(wanted))
        cacher.catch_up()
        asked = selector.asked
        frames = [await anext(watcher) for _ in range(3)]
        assert [frame.type for frame in frames] == ["ADDED", "BOOKMARK", "ADDED"]
        assert [looked - asked for looked in looked_at] == [0, AT_A_TIME, 2 * AT_A_TIME, 3 * AT_A_TIME]
        assert await watcher.aclose() is None
        await cacher.stop()

    run_virtual(main())


def test_of_many_caches_each_takes_in_what_it_is_told_in_a_turn_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        may = asyncio.Event()

        class Turns:
            async def pause(self) -> None:
                await may.wait()

        monkeypatch.setattr(cacher_module, "Pauses", Turns)
        store = MemoryStore()
        cacher = await started(store)
        for name in ("a", "b"):
            await store.put(registry_key(PODS, "n", name), encode_value(pod("n", name)))
            await asyncio.sleep(1)
        assert len(cacher) == 0, "it is not its turn"
        cacher.catch_up()
        assert [cached.obj["metadata"]["name"] for cached in cacher.ordered()] == ["a", "b"], "but who reads has all"
        await store.put(registry_key(PODS, "n", "c"), encode_value(pod("n", "c")))
        may.set()
        await asyncio.sleep(1)
        assert [change.revision for change in cacher.window.since(0)] == [2, 3, 4]
        await cacher.stop()

    run_virtual(main())


def test_what_a_cache_held_goes_when_it_is_stopped() -> None:
    async def main() -> None:
        cacher = await started(MemoryStore())
        await asyncio.sleep(1)
        held = weakref.ref(cacher)
        gc.collect()
        gc.disable()
        try:
            await cacher.stop()
            await asyncio.sleep(1)
            del cacher
            assert held() is None
        finally:
            gc.enable()

    run_virtual(main())


def test_what_is_large_of_what_it_is_told_is_read_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version of a custom resource that is not the stored one may take half a second to be read."""

    async def main() -> None:
        given, may = list[int](), asyncio.Event()

        async def beside(size: int, work: Any, *args: Any) -> Any:
            if size > LARGE:
                given.append(size)
                await may.wait()
            return work(*args)

        monkeypatch.setattr(cacher_module, "beside", beside)
        store = MemoryStore()
        cacher = await started(store)

        async def put(name: str, size: int) -> int:
            obj = {**pod("n", name), "data": "x" * size}
            return await store.put(registry_key(PODS, "n", name), encode_value(obj)) or 0

        await put("large", 2 * LARGE)
        await put("small", 10)
        await asyncio.sleep(1)
        assert len(given) == 1
        assert len(cacher) == 0, "what comes behind it waits, too"
        settling = asyncio.create_task(cacher.settle())
        may.set()
        await settling
        await asyncio.sleep(1)
        assert len(given) == 1, "it is read once"
        assert [cached.obj["metadata"]["name"] for cached in cacher.ordered()] == ["large", "small"]

        may.clear()
        revision = await put("large", 3 * LARGE)
        await asyncio.sleep(1)
        cacher.catch_up()
        assert cacher.revision == revision, "but nobody has to wait"
        may.set()
        await asyncio.sleep(1)
        assert not cacher._early
        await cacher.stop()

    run_virtual(main())


def test_a_deletion_is_as_large_as_what_it_deletes() -> None:
    """The window has a bound in bytes, and holds what was deleted."""

    async def main() -> None:
        store = MemoryStore()
        cacher = await started(store)
        key = registry_key(PODS, "n", "a")
        await store.put(key, encode_value({**pod("n", "a"), "data": "x" * 5_000}))
        await store.delete(key)
        cacher.catch_up()
        assert [change.size > 5_000 for change in cacher.window.since(0)] == [True, True]
        await cacher.stop()

    run_virtual(main())


def test_who_was_away_hears_of_large_objects_what_those_heard_who_were_there() -> None:
    """What they were is packed meanwhile."""

    async def main() -> None:
        store = MemoryStore()
        cacher = await started(store)
        for name in ("changed", "deleted"):
            obj = pod("a", name, label="web")
            obj["spec"]["words"] = ["word"] * 10_000
            await store.put(registry_key(PODS, "a", name), encode_value(obj))
        since = store.revision
        criteria = Criteria(labels=parse_selector("app=web"))
        there = cacher.watch(criteria, since, initial=False, bookmarks=False)
        obj = pod("a", "changed", label="db")
        await store.put(registry_key(PODS, "a", "changed"), encode_value(obj))
        await store.delete(registry_key(PODS, "a", "deleted"))
        cacher.catch_up()
        heard = [json_frame(frame) for frame in there.take()]
        assert [fast_json.loads(frame)["type"] for frame in heard] == ["DELETED", "DELETED"]
        await asyncio.sleep(10)
        packed = [change.previous for change in cacher.window.since(since)]
        assert all(version is not None and version.is_packed for version in packed)
        for wait in (False, True):
            if wait:
                await asyncio.sleep(10)
                await cacher.window.unpack_since(since)
            late = cacher.watch(criteria, since, initial=False, bookmarks=False)
            assert [json_frame(frame) for frame in late.take()] == heard
        await cacher.stop()
        await store.close()

    run_virtual(main())
