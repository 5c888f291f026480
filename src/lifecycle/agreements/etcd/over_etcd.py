"""Two API servers over one real etcd, held against a real API server over one.

What a bare one was asked in the scenario *resize* is asked of ours while its objects
lie in Debian's etcd, in another process, and every other question goes to the other of
two servers. So each read has to see what the other server wrote just before, though the
caches hear of it only from a watch; and each write has to be about the newest version.
Where there is no etcd, one server with a memory has to do, and the table says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from lifecycle.agreements.asked_again import MASTER
from lifecycle.agreements.bare_server import on_bare_server, refusals
from lifecycle.agreements.etcd.own_etcd import with_servers_over_etcd
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.cluster.target import HandlerTarget
from lifecycle.compare import AgreementTable, compare_cluster
from lifecycle.inspector import Recording
from lifecycle.inspector.runner import Responder

SCENARIO = "resize"
OVER_ETCD = "lifecycle, two servers over one etcd"
PACE = 20.0
"""The recorder gave a real server's informer ten seconds to hear of a LimitRange. The
etcd here is real, and so are its seconds; our caches hear within milliseconds.
"""
IN_MEMORY = "lifecycle, in memory: no etcd here"


class Alternating:
    """Puts each question to the next of several servers."""

    def __init__(self, targets: Sequence[Responder]) -> None:
        self._targets = cycle(targets)

    async def request(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """See `Responder`."""
        return await next(self._targets).request(method, path, headers, body)


def over_etcd_agreement(recording: Recording) -> AgreementTable:
    """A row for each request of the scenario."""

    async def asked(target: Responder, name: str) -> AgreementTable:
        return await compare_cluster(
            target, recording, SCENARIO, name=name, like_recorded=False, pace=PACE
        )

    async def scene(servers: Sequence[GenericAPIServer]) -> AgreementTable:
        targets = [HandlerTarget(server, MASTER) for server in servers]
        return await asked(Alternating(targets), OVER_ETCD)

    table = with_servers_over_etcd(scene, 2)
    if not isinstance(table, AgreementTable):
        table = on_bare_server(lambda target: asked(target, IN_MEMORY))
    table.title, table.opening = "Over a real etcd", _opening
    for row in table.rows:
        row.stage = row.stage.partition(": ")[2] or row.stage.rstrip(":")
    return table


def _opening(table: AgreementTable) -> str:
    return (
        f"{len(table.computed)} requests about resizing pods, one right after the"
        " other, to a real API server over etcd, which refused"
        f" {refusals(table)} of them; and the same to ours: {table.outcome('answers')}."
    )
