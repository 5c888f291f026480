"""Scenes that need nothing but an API server: what a bare one was asked, asked again of
a fresh one of ours.

The recording `bare-1.36.2` was made of Kubernetes' own kube-apiserver without
controllers, scheduler or nodes. So nothing happens between two questions but what they
ask for, and whole answers can be compared.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from lifecycle.agreements.asked_again import MASTER, Tamper
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.cluster.target import HandlerTarget
from lifecycle.compare import AgreementTable, compare_cluster
from lifecycle.etcd.memory import MemoryStore
from lifecycle.inspector import Recording

BARE = "bare-1.36.2"
T = TypeVar("T")


def on_bare_server(
    scene: Callable[[HandlerTarget], Awaitable[T]], tamper: Tamper | None = None
) -> T:
    """Play a scene with a fresh server, on virtual time, as the administrator. Works in
    a notebook, too.
    """

    async def main() -> T:
        server = create_server_chain(MemoryStore())
        await server.start()
        try:
            if tamper is not None:
                tamper(server)
            return await scene(HandlerTarget(server, MASTER))
        finally:
            await server.stop()

    return on_virtual_time(main())


def put_to_bare_server(
    recording: Recording,
    scenario: str,
    title: str,
    opening: Callable[[AgreementTable], str],
    tamper: Tamper | None = None,
) -> AgreementTable:
    """A row for each recorded request of a scenario: whole answers."""
    table = on_bare_server(
        lambda target: compare_cluster(
            target, recording, scenario, name="lifecycle", like_recorded=False
        ),
        tamper,
    )
    table.title, table.opening = title, opening
    for row in table.rows:
        row.stage = row.stage.partition(": ")[2] or row.stage.rstrip(":")
    return table


def refusals(table: AgreementTable) -> int:
    """How many of the recorded answers were refusals."""
    return sum(row.cluster[:1] in ("4", "5") for row in table.computed)
