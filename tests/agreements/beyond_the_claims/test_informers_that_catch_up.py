"""Informers that have missed something, or are told much at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from lifecycle.agreements.own_server import own_server
from lifecycle.api.http.wire import Object, Request, Response, WatchFrame
from lifecycle.api.resources import resource
from lifecycle.client.indexer import Indexer
from lifecycle.client.real_fifo import ADDED, DELETED, RealFIFO
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer, SharedInformerFactory
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.etcd.memory import MemoryStore

MAPS = resource("configmaps")


def _all_arrive(count: int) -> bool:
    """That many objects at once, and one handler: all of them, in order, and before
    anybody is told that all have been seen.
    """

    async def main() -> bool:
        async with own_server() as server:
            client = Client(server, "reader")
            names = [f"m{number:05}" for number in range(count)]
            for name in names:
                meta = {"name": name}
                body = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": meta}
                await client.create(MAPS, body, "default")
            informers, heard = SharedInformerFactory(client), list[str]()
            informer = informers.informer(MAPS)
            informer.add_event_handler(lambda obj: heard.append(obj["metadata"]["name"]))
            informers.start()
            await informer.wait_for_sync()
            await informers.stop()
        return heard == names

    return on_virtual_time(main())


def _too_old() -> str:
    """What is said to somebody who wants to go on from the first revision, by a server
    that has begun when there were three more.
    """

    async def main() -> str:
        store = MemoryStore()
        for number in range(3):
            await store.put(f"/registry/other/{number}", b"")
        async with own_server(store) as server:
            client = Client(server, "reader")
            frames = await client.watch(MAPS, "default", resource_version="1")
            try:
                async with asyncio.timeout(60):
                    told = await anext(frames)
            except TimeoutError:
                return "nothing"
        assert (told.type, told.object["code"]) == ("ERROR", 410)
        assert told.object["reason"] == "Expired"
        return str(told.object["message"])

    return on_virtual_time(main())


class _ADeletionOutOfTheBlue:
    """A server that lists nothing, and then tells its watchers that something is gone."""

    async def round_trip(self, request: Request) -> Response:
        if request.param("watch"):
            return Response(stream=self._frames())
        return Response(obj={"kind": "ConfigMapList", "metadata": {"resourceVersion": "5"}, "items": []})

    async def _frames(self) -> AsyncIterator[WatchFrame]:
        meta = {"name": "unheard-of", "namespace": "default", "resourceVersion": "6"}
        yield WatchFrame("DELETED", {"kind": "ConfigMap", "metadata": meta})
        await asyncio.sleep(9999)

    async def close(self) -> None:
        """Nothing is open."""


def test_a_deletion_is_told_also_of_what_was_never_there() -> None:
    """Upstream's `processDeltas` takes it out of the store, whether it is in there or not, and calls `OnDelete`."""

    async def main() -> list[tuple[str, str]]:
        heard = list[tuple[str, str]]()

        def note(what: str, obj: Object) -> None:
            heard.append((what, obj["metadata"]["name"]))

        informer = SharedInformer(Client(_ADeletionOutOfTheBlue(), "reader"), MAPS)
        informer.add_event_handler(add=lambda obj: note("add", obj), delete=lambda obj: note("delete", obj))
        await informer.wait_for_sync()
        await asyncio.sleep(1)
        await informer.stop()
        return heard

    assert on_virtual_time(main()) == [("delete", "unheard-of")]


def test_what_came_and_went_while_nobody_looked_is_deleted_as_well() -> None:
    queue = RealFIFO(Indexer(), lambda: None)
    queue.add({"metadata": {"name": "brief"}})
    queue.replace([])
    deltas = [(delta.type, delta.key) for delta in (queue.pop(), queue.pop())]
    assert deltas == [(ADDED, "brief"), (DELETED, "brief")]


def test_all_have_been_seen_when_what_was_queued_before_the_list_has_been_seen_as_well() -> None:
    queue = RealFIFO(Indexer(), lambda: None)
    queue.add({"metadata": {"name": "early"}})
    queue.replace([{"metadata": {"name": "early"}}, {"metadata": {"name": "late"}}])
    seen = []
    while len(queue):
        seen.append(queue.has_synced)
        queue.pop()
    assert seen == [False, False, False]
    assert queue.has_synced


def test_all_arrive_before_anybody_is_told_that_all_have_been_seen() -> None:
    assert _all_arrive(1200)


def test_how_far_back_the_api_remembers_is_not_how_far_back_the_store_does() -> None:
    assert _too_old() == "too old resource version: 1 (4)"


def test_who_asks_for_another_selection_gets_an_informer_of_its_own() -> None:
    factory = SharedInformerFactory(Client(_ADeletionOutOfTheBlue(), "reader"))
    selections: list[dict[str, str]] = [{}, {"namespace": "a"}, {"label_selector": "a=b"}, {"field_selector": "a=b"}]
    rows = (MAPS, resource("secrets"))
    informers = [factory.informer(row, **selection) for row in rows for selection in selections]
    assert len({id(informer) for informer in informers}) == len(informers)
    assert [factory.informer(row, **selection) for row in rows for selection in selections] == informers


def test_whose_deletion_is_queued_already_is_not_deleted_again() -> None:
    queue = RealFIFO(Indexer(), lambda: None)
    queue.add({"metadata": {"name": "brief"}})
    queue.delete({"metadata": {"name": "brief"}})
    queue.replace([])
    deltas = [(delta.type, delta.key) for delta in (queue.pop() for _ in range(len(queue)))]
    assert deltas == [(ADDED, "brief"), (DELETED, "brief")]


def test_under_what_nobody_is_filed_any_more_there_is_nothing() -> None:
    indexer = Indexer({"colour": lambda obj: [obj["colour"]]})
    for name, colour in (("a", "red"), ("b", "red"), ("a", "blue")):
        indexer.set(name, {"metadata": {"name": name}, "colour": colour})
    assert sorted(indexer.index_values("colour")) == ["blue", "red"]
    assert [obj["metadata"]["name"] for obj in indexer.by_index("colour", "red")] == ["b"]
    indexer.set("b", {"metadata": {"name": "b"}, "colour": "blue"})
    assert indexer.index_values("colour") == ["blue"]
    indexer.remove("a")
    indexer.remove("b")
    assert indexer.index_values("colour") == []


def test_what_is_filed_in_several_places_is_taken_out_where_it_is_no_longer() -> None:
    indexer = Indexer({"colour": lambda obj: obj["colours"]})

    def filed() -> dict[str, list[str]]:
        return {
            colour: sorted(obj["metadata"]["name"] for obj in indexer.by_index("colour", colour))
            for colour in sorted(indexer.index_values("colour"))
        }

    for name, colours in (("a", ["red", "blue"]), ("b", ["blue"])):
        indexer.set(name, {"metadata": {"name": name}, "colours": colours})
    assert filed() == {"blue": ["a", "b"], "red": ["a"]}
    indexer.set("a", {"metadata": {"name": "a"}, "colours": ["red", "green"]})
    assert filed() == {"blue": ["b"], "green": ["a"], "red": ["a"]}
    indexer.set("a", {"metadata": {"name": "a"}, "colours": []})
    assert filed() == {"blue": ["b"]}
    indexer.remove("b")
    assert filed() == {}
