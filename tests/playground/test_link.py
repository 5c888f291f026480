"""A line that can be cut: what gets through, and what becomes of what was under way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from lifecycle.api.http.wire import Request, Response, WatchFrame
from lifecycle.api.loop.clock import run_virtual
from lifecycle.playground.link import Link

GET = Request("GET", "/api/v1/pods")


class Server:
    """The other end; says who was asked for what."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.closed = False

    async def round_trip(self, request: Request) -> Response:
        self.asked.append((request.method, request.path))
        return Response(200, obj={"kind": "PodList"})

    async def reach_pod(self, ip: str, port: int, request: Request, scheme: str = "http") -> Response:
        self.asked.append((scheme, ip, str(port), request.path))
        return Response(204)

    async def close(self) -> None:
        self.closed = True


def test_over_a_whole_line_everything_gets_through() -> None:
    async def main() -> None:
        server, link = Server(), Link()
        over = link.through(server)
        assert (await over.round_trip(GET)).obj == {"kind": "PodList"}
        node = link.to_node(server)
        assert (await node.round_trip(GET)).status == 200
        assert (await node.reach_pod("10.244.0.2", 80, GET)).status == 204
        assert (await node.reach_pod("10.244.0.3", 443, GET, "https")).status == 204
        assert server.asked == [
            ("GET", "/api/v1/pods"),
            ("GET", "/api/v1/pods"),
            ("http", "10.244.0.2", "80", "/api/v1/pods"),
            ("https", "10.244.0.3", "443", "/api/v1/pods"),
        ]
        await over.close()
        assert server.closed

    run_virtual(main())


def test_over_a_cut_line_nothing_is_asked_until_it_is_mended() -> None:
    async def main() -> None:
        server, link = Server(), Link()
        over, node = link.through(server), link.to_node(server)
        assert not link.is_cut
        link.cut()
        assert link.is_cut
        with pytest.raises(ConnectionError, match=r"^GET /api/v1/pods: no route to host$"):
            await over.round_trip(GET)
        for attempt in (node.round_trip(GET), node.reach_pod("10.244.0.2", 80, GET)):
            with pytest.raises(ConnectionError, match=r"^dial tcp: connect: no route to host$"):
                await attempt
        assert server.asked == []
        link.mend()
        assert not link.is_cut
        await over.round_trip(GET)
        assert len(server.asked) == 1

    run_virtual(main())


async def some(*frames: str, then_wait: bool = False) -> AsyncIterator[WatchFrame]:
    for kind in frames:
        yield WatchFrame(kind, {})
    if then_wait:
        await asyncio.Event().wait()


def test_a_watch_ends_as_its_server_ends_it_and_with_an_error_when_the_line_is_cut() -> None:
    async def main() -> None:
        link = Link()
        assert [frame.type async for frame in link.frames(some("ADDED", "DELETED"))] == ["ADDED", "DELETED"]
        seen = []

        async def watch() -> None:
            async for frame in link.frames(some("ADDED", then_wait=True)):
                seen.append(frame.type)

        async with asyncio.timeout(5):
            watching = asyncio.create_task(watch())
            await asyncio.sleep(1)
            assert seen == ["ADDED"]
            link.cut()
            with pytest.raises(ConnectionError, match=r"^the connection is lost$"):
                await watching
        assert asyncio.all_tasks() == {asyncio.current_task()}, "nobody waits for the line any more"

    run_virtual(main())
