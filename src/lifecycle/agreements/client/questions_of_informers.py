"""What an informer asks for when it begins, held against a real one.

A real controller manager had an informer of nodes, and the API server's audit log says
what that asked for: a list that may come from a cache, and a watch from there on; or
one watch that streams the list first. Each watch is to end by itself after five to ten
minutes, by chance, so that not all end at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from lifecycle.agreements.asked_programs import asked
from lifecycle.agreements.client.replayed_server import ReplayedServer
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers

ASKED_FOR = (
    "watch",
    "allowWatchBookmarks",
    "sendInitialEvents",
    "resourceVersionMatch",
    "resourceVersion",
    "timeoutSeconds",
    "limit",
)
NODES = "/api/v1/nodes"
STREAMED = "streamed"


def as_asked(query: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """What is asked for, without a revision's number, and a chance that lies in its
    bounds.
    """
    words = {key: query[key][0] for key in ASKED_FOR if query.get(key)}
    if int(words.get("resourceVersion", "0")):
        words["resourceVersion"] = "a revision"
    if 300 <= int(words.get("timeoutSeconds", "0")) < 600:
        words["timeoutSeconds"] = "five to ten minutes"
    return words


class _Listening:
    """A transport that notes what passes through it."""

    def __init__(self, inner: ReplayedServer) -> None:
        self._inner = inner
        self.heard: list[Object] = []

    async def round_trip(self, request: Request) -> Response:
        """Pass it on."""
        self.heard.append(as_asked(request.query))
        return await self._inner.round_trip(request)

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()


async def _questions(streamed: bool) -> list[Object]:
    server = ReplayedServer({NODES: []})
    server.advance(1)
    transport = _Listening(server)
    factory = SharedInformerFactory(
        Client(transport, "informer"), use_watch_list=streamed
    )
    informer = factory.informer(resource("nodes"))
    await informer.wait_for_sync()
    await asyncio.sleep(1)
    await informer.stop()
    return transport.heard


def informed_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row with streamed lists, and one without. `programs`: what the real one asked;
    None: as recorded.
    """
    cases = asked(programs, "informed")
    table = AgreementTable(
        "What an informer asks for",
        "lifecycle",
        f"{cases[0].program}, from the API server's audit log",
        lambda table: (
            "A real informer begins, with streamed lists and without, and so does ours."
            f" What they ask the API server for: {table.outcome('beginnings')}."
        ),
    )
    for each in cases:
        what = each.question.partition("/")[2]
        ours = on_virtual_time(_questions(what == STREAMED))
        theirs = each.answer["questions"]
        here, there = (f"{len(side)} requests" for side in (ours, theirs))
        table.add("informer", what, here, there, compare(ours, theirs))
    return table
