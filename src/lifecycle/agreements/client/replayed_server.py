"""A recorded watch, served once more: an API server that knows one journey and nothing
else.

It lists and watches what the recording's watches saw, as of a revision that its owner
moves on: in one go, event by event, or in the recorded time (virtual, where the loop
is). And it can fail the way real servers do: end every watch without a word, forget all
revisions before the present one, and refuse to stream lists. So an informer can be led
through a real cluster's history on a bad day.

Upstream: none; `client-go/tools/cache/testing/fake_controller_source.go` does it with
made-up objects.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from typing import NamedTuple

from lifecycle.api.http.wire import Object, Request, Response, WatchFrame
from lifecycle.api.status import StatusError, bad_request, gone
from lifecycle.client.reflector import INITIAL_EVENTS_END
from lifecycle.client.store import meta_namespace_key
from lifecycle.inspector import Recording


class Recorded(NamedTuple):
    """One event: the revision it was, seconds since the scenario began, and the
    frame.
    """

    revision: int
    at: float
    type: str
    object: Object


def recorded_events(
    recording: Recording, scenario: str = "journey"
) -> dict[str, list[Recorded]]:
    """The events of each watched path, in order of revision; bookmarks and refused
    watches left out.
    """
    events_by_path: dict[str, list[Recorded]] = {}
    for line in recording.watch(scenario):
        event = line["event"]
        if event.get("type") in ("ADDED", "MODIFIED", "DELETED"):
            revision = int(event["object"]["metadata"]["resourceVersion"])
            events_by_path.setdefault(line["path"], []).append(
                Recorded(revision, line["t"], event["type"], event["object"])
            )
    for events in events_by_path.values():
        events.sort(key=lambda event: event.revision)
    return events_by_path


class ReplayedServer:
    """A `Transport` over `recorded_events`. `asked` counts lists, watches, and watches
    that are to stream the list, by path.

    While it is not `reachable` every request fails with an OSError.
    """

    def __init__(
        self, events: Mapping[str, list[Recorded]], *, streams_lists: bool = True
    ) -> None:
        self.events = events
        self.revision = 0
        self.reachable = True
        self.asked: Counter[tuple[str, str]] = Counter()
        self._streams_lists = streams_lists
        self._forgotten = 0
        self._connection = 0
        self._moved = asyncio.Event()

    # -- the owner's levers ------------------------------------------------------------

    def advance(self, revision: int) -> None:
        """Everything up to this revision has happened."""
        self.revision = max(self.revision, revision)
        self._wake()

    def cut(self) -> None:
        """All watches end, with nothing said."""
        self._connection += 1
        self._wake()

    def forget(self) -> None:
        """Revisions before the present one are compacted away: who wants to watch from
        one of them gets a 410.
        """
        self._forgotten = self.revision

    async def play(self, path: str, until: float = float("inf")) -> None:
        """Let the events of a path happen at the seconds they were recorded at, counted
        from now.
        """
        loop = asyncio.get_running_loop()
        begin = loop.time()
        for event in self.events[path]:
            if event.at > until:
                break
            await asyncio.sleep(begin + event.at - loop.time())
            self.advance(event.revision)

    def truth(self, path: str) -> dict[str, Object]:
        """What there is now, by key."""
        state: dict[str, Object] = {}
        for event in self.events.get(path, ()):
            if event.revision > self.revision:
                break
            key = meta_namespace_key(event.object)
            if event.type == "DELETED":
                state.pop(key, None)
            else:
                state[key] = event.object
        return state

    # -- the Transport -----------------------------------------------------------------

    async def round_trip(self, request: Request) -> Response:
        """Lists and watches; anything else is a mistake of the caller."""
        if not self.reachable:
            raise ConnectionRefusedError("connection refused")
        path, version = request.path, request.param("resourceVersion") or ""
        try:
            if not request.param("watch"):
                self.asked["list", path] += 1
                meta = {"resourceVersion": str(self.revision)}
                return Response(
                    obj={
                        "kind": "List",
                        "metadata": meta,
                        "items": list(self.truth(path).values()),
                    }
                )
            if request.param("sendInitialEvents"):
                if not self._streams_lists:
                    raise bad_request(
                        "sendInitialEvents is forbidden for watch unless the WatchList"
                        " feature gate is enabled"
                    )
                self.asked["stream", path] += 1
                return Response(stream=self._initial(path))
            self.asked["watch", path] += 1
            return Response(stream=self._watch(path, version))
        except StatusError as error:
            return Response(error.code, obj=error.status)

    async def close(self) -> None:
        """Nothing is open but watches, and those end with their readers."""

    async def _initial(self, path: str) -> AsyncIterator[WatchFrame]:
        now = str(self.revision)
        for obj in self.truth(path).values():
            yield WatchFrame("ADDED", obj)
        marked = {"resourceVersion": now, "annotations": {INITIAL_EVENTS_END: "true"}}
        yield WatchFrame("BOOKMARK", {"metadata": marked})
        async for frame in self._watch(path, now):  # from there it goes on as any watch
            yield frame

    async def _watch(self, path: str, version: str) -> AsyncIterator[WatchFrame]:
        connection = self._connection
        if version in (
            "",
            "0",
        ):  # "from wherever you are": what exists comes first, as if it were new
            reached = self.revision
            for obj in self.truth(path).values():
                yield WatchFrame("ADDED", obj)
        elif int(version) < self._forgotten:
            message = f"too old resource version: {version} ({self._forgotten})"
            yield WatchFrame("ERROR", gone(message).status)
            return
        else:
            reached = int(version)
        while connection == self._connection:
            moved = self._moved
            for event in self.events.get(path, ()):
                if (
                    reached < event.revision <= self.revision
                    and connection == self._connection
                ):
                    reached = event.revision
                    yield WatchFrame(event.type, event.object)
            if moved is self._moved:
                await moved.wait()

    def _wake(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()
