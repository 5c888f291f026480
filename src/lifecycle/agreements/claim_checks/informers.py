"""The claims about informers: put to our informer beside a server, and to recorded
watches where those show it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from lifecycle.agreements.own_server import own_server
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.labels import selector_from_labels
from lifecycle.api.resources import resource
from lifecycle.client.listers import Lister
from lifecycle.client.rest import Client, Transport
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare.claims import Partly, check, every, rebuilt
from lifecycle.inspector import InspectorError, Recording

MAPS = resource("configmaps")


@dataclass(slots=True)
class Seen:
    """What one scene showed."""

    first: list[tuple[str, str, int]] = field(default_factory=list)
    second: list[tuple[str, str, int]] = field(default_factory=list)
    objects: tuple[list[Object], list[Object]] = field(default_factory=lambda: ([], []))
    stored: list[int] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    requests_for_reads: int = 0
    read: list[str] = field(default_factory=list)
    shared: bool = False
    mutation_spreads: bool = False
    changed_without: bool = False


class _Counting:
    """A transport that writes down what passes."""

    def __init__(self, inner: Transport) -> None:
        self.inner = inner
        self.requests: list[str] = []

    async def round_trip(self, request: Request) -> Response:
        """Note and pass on."""
        self.requests.append(
            f"{request.method}"
            f" {request.path}{' watch' if 'watch' in request.query else ''}"
        )
        return await self.inner.round_trip(request)

    async def close(self) -> None:
        """See `Transport`."""
        await self.inner.close()


@cache
def _scene() -> Seen:
    return on_virtual_time(_play())


async def _play() -> Seen:
    seen = Seen()
    async with own_server() as server:
        await _watch_two_of_them(server, seen)
    return seen


async def _watch_two_of_them(server: Transport, seen: Seen) -> None:
    writer = Client(server, "writer")

    def body(name: str, value: str) -> Object:
        return {
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "metadata": {"name": name, "labels": {"n": name}},
            "data": {"v": value},
        }

    stored = await writer.create(MAPS, body("early", "0"), "default")
    seen.changed_without = (await writer.get(MAPS, "early", "default"))["data"] == {
        "v": "0"
    }
    transport = _Counting(server)
    informers = SharedInformerFactory(Client(transport, "reader"))
    one, two = informers.informer(MAPS), informers.informer(MAPS)
    seen.shared = one is two

    def note(where: list[Any], received: list[Object], kind: str) -> Any:
        def handler(*objects: Object) -> None:
            obj = objects[-1]
            received.append(obj)
            where.append(
                (kind, obj["metadata"]["name"], int(obj["metadata"]["resourceVersion"]))
            )

        return handler

    for where, received in (
        (seen.first, seen.objects[0]),
        (seen.second, seen.objects[1]),
    ):
        one.add_event_handler(
            note(where, received, "add"),
            note(where, received, "update"),
            note(where, received, "delete"),
        )
    informers.start()
    await one.wait_for_sync()
    await asyncio.sleep(1)
    stored = await writer.create(MAPS, body("late", "1"), "default")
    seen.stored.append(int(stored["metadata"]["resourceVersion"]))
    stored = await writer.update(MAPS, {**stored, "data": {"v": "2"}})
    seen.stored.append(int(stored["metadata"]["resourceVersion"]))
    await writer.delete(MAPS, "early", "default")
    await asyncio.sleep(1)
    before = len(transport.requests)
    lister = Lister(one.indexer)
    for _ in range(100):
        lister.get("late", "default")
    from_cache = [
        lister.get("late", "default"),
        *lister.list("default", selector_from_labels({"n": "late"})),
    ]
    seen.read = [obj["data"]["v"] for obj in from_cache if obj is not None]
    seen.requests_for_reads = len(transport.requests) - before
    cached = one.indexer.get_by_key("default/late")
    assert cached is not None
    seen.mutation_spreads = two.indexer.get_by_key("default/late") is cached
    seen.requests = list(transport.requests)
    await informers.stop()


def _frames(recording: Recording) -> list[dict[str, Any]]:
    return [
        line["event"]
        for line in recording.watch("journey")
        if "type" in line.get("event", {})
    ]


@check("informers-deliver-create-update-delete")
def recorded_kinds(recording: Recording) -> bool | None:
    """What recorded watches brought."""
    kinds = {frame["type"] for frame in _frames(recording)}
    return {"ADDED", "MODIFIED", "DELETED"} <= kinds if kinds else None


@rebuilt("informers-deliver-create-update-delete")
def three_kinds() -> bool:
    """An object that was there, a new one, its change, a deletion: in that order."""
    versions = [version for _, _, version in _scene().first]
    assert versions == sorted(set(versions)), "a deletion is news, too"
    return [(kind, name) for kind, name, _ in _scene().first] == [
        ("add", "early"),
        ("add", "late"),
        ("update", "late"),
        ("delete", "early"),
    ]


@check("informers-source-is-storage-events")
def bookmarks(recording: Recording) -> Partly | None:
    """Frames carry revisions of the store; but among them are bookmarks, which nobody
    stored.
    """
    frames = _frames(recording)
    if not any(f["type"] == "BOOKMARK" for f in frames):
        return None  # the watches of that recording did not ask for any
    stored = [f for f in frames if f["type"] in ("ADDED", "MODIFIED")]
    return Partly(
        all(f["object"]["metadata"]["resourceVersion"].isdigit() for f in stored),
        any(f["type"] == "BOOKMARK" for f in frames),
    )


@rebuilt("informers-source-is-storage-events")
def through_the_server() -> Partly:
    """The stored revisions arrive; but by list and watch of the API, the informer's
    only requests.
    """
    seen = _scene()
    arrived = [version for _, name, version in seen.first if name == "late"]
    return Partly(
        arrived == seen.stored,
        bool(seen.requests) and all("/api/v1/" in r for r in seen.requests),
    )


@rebuilt("informers-reads-hit-a-local-cache")
def local() -> bool:
    """A hundred reads, no request, the newest value."""
    return _scene().requests_for_reads == 0 and _scene().read == ["2", "2"]


@rebuilt("informers-are-threadsafe")
def shared_objects() -> Partly:
    """Two consumers hear the same; but the object that each may read is one and the
    same object.
    """
    return Partly(_scene().first == _scene().second, _scene().mutation_spreads)


@check("informers-share-one-connection-and-cache")
def one_watch_for_all(recording: Recording) -> bool | None:
    """Pods, ReplicaSets and Deployments are several controllers' business; all of them
    together began one watch of each. (Watches that go on from a revision are the same
    one, renewed.)
    """
    try:
        summary = recording.text("audit/requests-by-component.tsv")
    except InspectorError:
        return None
    begun = Counter[str]()
    for line in summary.splitlines():
        count, agent, user, verb, _, _, resource_name, *_, query, _ = line.split("\t")
        if (
            agent.startswith("kube-controller-manager/")
            and user == "system:kube-controller-manager"
            and (verb, "sendInitialEvents" in query) == ("watch", True)
        ):
            begun[resource_name] += int(count)
    return every(
        begun[name] == 1 for name in ("pods", "replicasets", "deployments") if begun
    )


@rebuilt("informers-share-one-connection-and-cache")
def one_connection() -> bool:
    """Two asked for, one made, one watch."""
    watches = [request for request in _scene().requests if request.endswith("watch")]
    return _scene().shared and len(watches) == 1


@rebuilt("informers-save-duplicate-serialization")
def decoded_once() -> bool:
    """Both consumers are handed the very object that was decoded, not one each."""
    first, second = _scene().objects
    return (
        bool(first)
        and len(first) == len(second)
        and all(a is b for a, b in zip(first, second, strict=True))
    )


@rebuilt("informers-offer-list-and-get-helpers")
def helpers() -> bool:
    """By key, by namespace, by selector."""
    return _scene().read == ["2", "2"] and len(_scene().first) > 2


@rebuilt("informers-apiserver-mutates-state-with-informers")
def no_informer_needed() -> bool:
    """If state changed by informers, it could not change while there is none."""
    return not _scene().changed_without
