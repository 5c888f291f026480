"""A server that says what it was told to say: what an informer makes of each word, and what it asks next."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from lifecycle.api.http.wire import Object, Request, Response, WatchFrame
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.cluster.rehearsal import on_virtual_time

MAPS = resource("configmaps")
LONG = 9999.0
Said = tuple[str, Object]


def _map(name: str, version: int, namespace: str = "shop") -> Object:
    metadata = {"name": name, "namespace": namespace, "resourceVersion": str(version)}
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}


def _refusal(code: int, reason: str = "") -> Object:
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": "no"}


def _mark(version: int, *, end_of_list: bool = False) -> Object:
    metadata: Object = {"resourceVersion": str(version)}
    if end_of_list:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}


class _Script:
    """Lists in their order, the last one again and again; watches in theirs, each with what it says, one word a second,
    before it ends. When they are over, nothing more is said.
    """

    def __init__(self, lists: list[tuple[int, list[Object]]], *watches: list[Said] | StatusError) -> None:
        self.lists, self.watches = lists, list(watches)
        self.asked: list[str] = []

    async def round_trip(self, request: Request) -> Response:
        version = request.param("resourceVersion")
        if not request.param("watch"):
            self.asked.append(f"list {version}".rstrip())
            revision, items = self.lists.pop(0) if len(self.lists) > 1 else self.lists[0]
            metadata = {"resourceVersion": str(revision)}
            return Response(obj={"kind": "ConfigMapList", "apiVersion": "v1", "metadata": metadata, "items": items})
        streamed = "stream" if request.param("sendInitialEvents") else "watch"
        self.asked.append(f"{streamed} {version}".rstrip())
        said = self.watches.pop(0) if self.watches else [("", {})]
        if isinstance(said, StatusError):
            raise said
        return Response(stream=self._frames(said))

    async def _frames(self, said: list[Said]) -> AsyncIterator[WatchFrame]:
        for kind, obj in said:
            await asyncio.sleep(1 if kind else LONG)
            yield WatchFrame(kind, obj)
        await asyncio.sleep(2)

    async def close(self) -> None:
        """Nothing is open."""


def _followed(script: _Script, *, seconds: float = 60, **how: Any) -> tuple[list[str], dict[str, str], list[str]]:
    """What was asked, what the cache holds then, and what two handlers of one informer have heard."""

    async def main() -> tuple[list[str], dict[str, str], list[str]]:
        heard = list[str]()

        def noting(what: str) -> Callable[[Object], None]:
            return lambda obj: heard.append(f"{what} {obj['metadata']['name']}@{obj['metadata']['resourceVersion']}")

        def changed(old: Object, new: Object) -> None:
            versions = (each["metadata"]["resourceVersion"] for each in (old, new))
            heard.append(f"update {new['metadata']['name']}@{'>'.join(versions)}")

        informer = SharedInformer(Client(script, "reader"), MAPS, **how)

        def as_held(told: Callable[[Object], None], *, held: bool) -> Callable[[Object], None]:
            def handler(obj: Object) -> None:
                assert (obj in informer.indexer.list()) is held, "the cache is as far as what is told"
                told(obj)

            return handler

        informer.add_event_handler()  # who wants to hear nothing is in nobody's way
        informer.add_event_handler(as_held(noting("add"), held=True), changed, as_held(noting("delete"), held=False))
        informer.start()
        await asyncio.sleep(seconds)
        await informer.stop()
        held = {obj["metadata"]["name"]: obj["metadata"]["resourceVersion"] for obj in informer.indexer.list()}
        return script.asked, held, heard

    return on_virtual_time(main())


def test_each_word_changes_the_cache_and_is_told_with_what_was_there_before() -> None:
    script = _Script(
        [(5, [_map("a", 3), _map("b", 4)])],
        [
            ("ADDED", _map("c", 6)),
            ("MODIFIED", _map("a", 7)),
            ("DELETED", _map("b", 8)),
            ("MODIFIED", _map("d", 9)),  # never heard of: it is new here
            ("ADDED", _map("c", 10)),  # heard of already: it has changed
        ],
    )
    _, held, heard = _followed(script)
    assert held == {"a": "7", "c": "10", "d": "9"}
    assert heard == [
        "add a@3",
        "add b@4",
        "add c@6",
        "update a@3>7",
        "delete b@8",
        "add d@9",
        "update c@6>10",
    ]


@pytest.mark.parametrize(
    ("said", "next_asked"),
    [
        ([("ADDED", _map("c", 6))], "watch 6"),
        ([("ADDED", _map("c", 6)), ("BOOKMARK", _mark(40))], "watch 40"),
        ([("DELETED", _map("a", 8))], "watch 8"),
        ([("BOOKMARK", _mark(40)), ("ERROR", _refusal(410, "Expired"))], "list 40"),
        ([("BOOKMARK", _mark(40)), ("ERROR", _refusal(500, "InternalError"))], "list 40"),
        ([("BOOKMARK", _mark(40)), ("ERROR", _refusal(429, "TooManyRequests"))], "watch 40"),
        ([], "watch 5"),
    ],
)
def test_where_it_goes_on_is_what_was_said_last(said: list[Said], next_asked: str) -> None:
    """An end is no news; an error is, and what was seen is looked at again; who is too busy is left alone for a while."""
    asked, held, _ = _followed(_Script([(5, [_map("a", 3)])], said))
    assert asked[:3] == ["list 0", "watch 5", next_asked]
    assert ("a" in held) is (("DELETED", _map("a", 8)) not in said or next_asked.startswith("list"))


def test_what_a_second_list_does_not_name_is_gone_and_what_it_names_again_is_told_as_changed() -> None:
    lists = [(5, [_map("a", 3), _map("b", 4)]), (50, [_map("b", 4), _map("c", 44)])]
    asked, held, heard = _followed(_Script(lists, [("ERROR", _refusal(410, "Expired"))]))
    assert asked == ["list 0", "watch 5", "list 5", "watch 50"]
    assert held == {"b": "4", "c": "44"}
    assert heard == ["add a@3", "add b@4", "delete a@3", "update b@4>4", "add c@44"]


def test_a_list_that_is_streamed_is_the_watch_as_well() -> None:
    said: list[Said] = [
        ("ADDED", _map("a", 3)),
        ("ADDED", _map("b", 4)),
        ("BOOKMARK", _mark(9, end_of_list=True)),
        ("MODIFIED", _map("b", 11)),
    ]
    asked, held, heard = _followed(_Script([(5, [])], said), use_watch_list=True)
    assert asked == ["stream", "watch 11"]
    assert held == {"a": "3", "b": "11"}
    assert heard == ["add a@3", "add b@4", "update b@4>11"]


@pytest.mark.parametrize(
    "refused",
    [
        StatusError(_refusal(422, "Invalid")),
        [("ADDED", _map("a", 3)), ("ERROR", _refusal(500, "InternalError"))],
    ],
    ids=["not known there", "broken"],
)
def test_where_no_list_is_streamed_it_is_asked_for(refused: list[Said] | StatusError) -> None:
    """Upstream: "The watchlist request ended with an error, falling back to the standard LIST/WATCH semantics"."""
    script = _Script([(5, [_map("b", 4)])], refused, [("ADDED", _map("c", 6))])
    asked, held, heard = _followed(script, use_watch_list=True)
    assert asked == ["stream", "list 0", "watch 5", "watch 6"]
    assert held == {"b": "4", "c": "6"}
    assert heard == ["add b@4", "add c@6"]


def test_a_streamed_list_that_is_too_old_is_streamed_anew() -> None:
    """And what had come of the first is forgotten."""
    first: list[Said] = [("ADDED", _map("a", 3)), ("ERROR", _refusal(410, "Expired"))]
    second: list[Said] = [("ADDED", _map("b", 4)), ("BOOKMARK", _mark(9, end_of_list=True))]
    asked, held, heard = _followed(_Script([(5, [])], first, second), use_watch_list=True)
    assert asked == ["stream", "stream", "watch 9"]
    assert held == {"b": "4"}
    assert heard == ["add b@4"]
