"""An informer's first list comes in pages where the server reads them from its store."""

from __future__ import annotations

import asyncio

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory

GONE = {"kind": "Status", "code": 410, "reason": "Expired", "message": "the pages are forgotten"}


class Pages:
    """A server that has three nodes, one on each page, and may forget a page."""

    def __init__(self, forgets: str = "") -> None:
        self.forgets = forgets
        self.asked: list[tuple[str, str, str]] = []

    async def round_trip(self, request: Request) -> Response:
        if request.query.get("watch"):
            await asyncio.sleep(3600)
        limit, page, revision = (request.query.get(key, [""])[0] for key in ("limit", "continue", "resourceVersion"))
        self.asked.append((limit, page, revision))
        if page and page == self.forgets:
            return Response(410, obj=GONE)
        names = [page or "1"] if limit else ["1", "2", "3"]
        following = str(int(names[-1]) + 1) if names[-1] != "3" else ""
        meta = {"resourceVersion": "7", **({"continue": following} if following else {})}
        items = [{"metadata": {"name": name, "resourceVersion": "7"}} for name in names]
        return Response(obj={"kind": "NodeList", "metadata": meta, "items": items})

    async def close(self) -> None:
        """Nothing to close."""


def names_from(server: Pages) -> list[str]:
    async def main() -> list[str]:
        informer = SharedInformerFactory(Client(server, "test")).informer(resource("nodes"))
        await informer.wait_for_sync()
        names = [obj["metadata"]["name"] for obj in informer.indexer]
        await informer.stop()
        return names

    return run_virtual(main())


def test_page_after_page_is_asked_for() -> None:
    server = Pages()
    assert names_from(server) == ["1", "2", "3"]
    assert server.asked == [("500", "", "0"), ("500", "2", ""), ("500", "3", "")]


def test_what_is_forgotten_in_between_is_asked_for_at_once() -> None:
    server = Pages(forgets="2")
    assert names_from(server) == ["1", "2", "3"]
    assert server.asked == [("500", "", "0"), ("500", "2", ""), ("", "", "0")]
