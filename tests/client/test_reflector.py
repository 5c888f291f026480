"""What a reflector asks for, answer by answer: the cases are upstream's tests of `Reflector`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from lifecycle.api.http.wire import Object, Request, Response, WatchFrame
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError, failure, gone
from lifecycle.client.reflector import INITIAL_EVENTS_END, Reflector
from lifecycle.client.rest import Client
from lifecycle.client.store import Store, meta_namespace_key

PODS = resource("pods")
TOO_LARGE = failure(504, "Timeout", "Too large resource version: 99, current: 5")
BUSY = failure(429, "TooManyRequests", "later")
BROKEN = failure(500, "InternalError", "no")
REFUSED = ConnectionRefusedError("refused")


def pod(name: str, revision: int) -> Object:
    return {"metadata": {"name": name, "namespace": "ns", "resourceVersion": str(revision)}}


def added(name: str, revision: int) -> WatchFrame:
    return WatchFrame("ADDED", pod(name, revision))


def bookmark(revision: int, *, end: bool = False) -> WatchFrame:
    meta: Object = {"resourceVersion": str(revision)}
    if end:
        meta["annotations"] = {INITIAL_EVENTS_END: "true"}
    return WatchFrame("BOOKMARK", {"metadata": meta})


def error(what: StatusError) -> WatchFrame:
    return WatchFrame("ERROR", what.status)


def listed(revision: int, *names: str) -> Object:
    return {
        "kind": "PodList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": str(revision)},
        "items": [pod(name, 1) for name in names],
    }


class Kept(Store):
    """A plain store as the place a reflector writes to."""

    def add(self, obj: Object) -> None:
        self.set(meta_namespace_key(obj), obj)

    update = add

    def delete(self, obj: Object) -> None:
        self.remove(meta_namespace_key(obj))


Answer = Object | list[Any] | Exception
"""A list, the frames of a watch (numbers are seconds of silence, exceptions break the connection), or a refusal."""


class Script:
    """A transport that gives the answers one after the other, and writes down what was asked. At the end it is silent."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def round_trip(self, request: Request) -> Response:
        verb = "list" if not request.param("watch") else "stream" if request.param("sendInitialEvents") else "watch"
        self.asked.append(f"{verb} {request.param('resourceVersion') or ''}".rstrip())
        answer: Answer = self._answers.pop(0) if self._answers else [9999]
        if isinstance(answer, StatusError) and not isinstance(answer, OSError):
            return Response(answer.code, obj=answer.status)
        if isinstance(answer, Exception):
            raise answer
        return Response(stream=self._frames(answer)) if isinstance(answer, list) else Response(obj=answer)

    async def _frames(self, frames: list[Any]) -> AsyncIterator[WatchFrame]:
        for frame in frames:
            if isinstance(frame, Exception):
                raise frame
            if isinstance(frame, int):
                await asyncio.sleep(frame)
            else:
                yield frame

    async def close(self) -> None:
        pass


def reflect(*answers: Answer, streamed: bool = False) -> tuple[list[str], list[str]]:
    """What was asked in ten minutes, and the names of the pods in the store then."""

    async def main() -> tuple[list[str], list[str]]:
        script, store = Script(*answers), Kept()
        reflector = Reflector(Client(script, "test"), PODS, store, use_watch_list=streamed)
        running = asyncio.ensure_future(reflector.run())
        await asyncio.sleep(600)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return script.asked, [obj["metadata"]["name"] for obj in store]

    return run_virtual(main())


@pytest.mark.parametrize(
    ("answers", "asked", "names"),
    [
        # a watch that ends is resumed from the last event or bookmark
        ([listed(5, "a"), [added("b", 7), 5], [bookmark(9), 5]], ["list 0", "watch 5", "watch 7", "watch 9"], "ab"),
        # a connection that breaks is a watch that ends
        ([listed(5, "a"), [added("b", 7), OSError("reset")]], ["list 0", "watch 5", "watch 7"], "ab"),
        # a watch that ends at once, with nothing said, costs a list
        ([listed(5, "a"), [], listed(6, "b")], ["list 0", "watch 5", "list 5", "watch 6"], "b"),
        # a server that is away or busy is asked for the watch again, not for a list
        ([listed(5, "a"), REFUSED, REFUSED], ["list 0", "watch 5", "watch 5", "watch 5"], "a"),
        ([listed(5, "a"), BUSY, BUSY], ["list 0", "watch 5", "watch 5", "watch 5"], "a"),
        ([listed(5, "a"), [added("b", 7), error(BUSY)]], ["list 0", "watch 5", "watch 7"], "ab"),
        # other failures cost a list that is at least as new as what was seen
        ([listed(5, "a"), BROKEN, listed(6, "b")], ["list 0", "watch 5", "list 5", "watch 6"], "b"),
        ([listed(5, "a"), [added("b", 7), error(BROKEN)], listed(8, "c")], ["list 0", "watch 5", "list 7", "watch 8"], "c"),
        ([listed(5, "a"), [added("b", 7), error(gone("too old"))], listed(8, "c")],
         ["list 0", "watch 5", "list 7", "watch 8"], "c"),
        ([listed(5, "a"), gone("too old"), listed(8, "c")], ["list 0", "watch 5", "list 5", "watch 8"], "c"),
        # a list that cannot be had at that revision is asked for at none, at once
        ([listed(5), gone("too old"), gone("too old"), listed(8, "c")], ["list 0", "watch 5", "list 5", "list", "watch 8"], "c"),
        ([listed(5), gone("too old"), TOO_LARGE, listed(8, "c")], ["list 0", "watch 5", "list 5", "list", "watch 8"], "c"),
        # … and so until a list was had
        ([listed(5), gone("x"), gone("x"), BROKEN, listed(8), gone("x"), listed(9)],
         ["list 0", "watch 5", "list 5", "list", "list", "watch 8", "list 8", "watch 9"], ""),
        ([TOO_LARGE, listed(8, "c")], ["list 0", "list", "watch 8"], "c"),
        ([BROKEN, REFUSED, listed(8, "c")], ["list 0", "list 0", "list 0", "watch 8"], "c"),
    ],
)  # fmt: skip
def test_lists_and_watches(answers: list[Answer], asked: list[str], names: str) -> None:
    got, store = reflect(*answers)
    assert got[: len(asked)] == asked
    assert all(question.startswith("watch") for question in got[len(asked) :])
    assert store == [*names]


@pytest.mark.parametrize(
    ("answers", "asked", "names"),
    [
        # the stream that was the list goes on as the watch
        ([[added("a", 3), bookmark(5, end=True), added("b", 7), 5]], ["stream", "watch 7"], "ab"),
        # bookmarks without the mark do not end it
        ([[added("a", 3), bookmark(4), bookmark(5, end=True), 5]], ["stream", "watch 5"], "a"),
        # what was deleted while it was streamed is not there
        ([[added("a", 3), added("b", 3), WatchFrame("DELETED", pod("a", 4)), bookmark(5, end=True), 5]],
         ["stream", "watch 5"], "b"),
        # cut off before the mark: again
        ([[added("a", 3), 5], [added("a", 3), bookmark(5, end=True), 5]], ["stream", "stream", "watch 5"], "a"),
        # cut off at once, or refused: a plain list this time
        ([[], listed(5, "a"), [5]], ["stream", "list 0", "watch 5", "watch 5"], "a"),
        ([failure(422, "Invalid", "no"), listed(5, "a")], ["stream", "list 0", "watch 5"], "a"),
        ([[added("a", 3), error(BROKEN)], listed(5, "b")], ["stream", "list 0", "watch 5"], "b"),
        # later it is streamed again, from what is known, or from nothing where that is forgotten
        ([[bookmark(5, end=True), 5, error(gone("x"))], [added("c", 8), bookmark(8, end=True), 5]],
         ["stream", "stream 5", "watch 8"], "c"),
        ([[bookmark(5, end=True), 5, error(gone("x"))], gone("x"), [added("c", 8), bookmark(8, end=True), 5]],
         ["stream", "stream 5", "stream", "watch 8"], "c"),
    ],
)  # fmt: skip
def test_streamed_lists(answers: list[Answer], asked: list[str], names: str) -> None:
    got, store = reflect(*answers, streamed=True)
    assert got[: len(asked)] == asked
    assert all(question.startswith("watch") for question in got[len(asked) :])
    assert store == [*names]
