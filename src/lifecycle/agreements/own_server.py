"""An API server of a scene's own: in memory, on the loop's clock, with the same names
each time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from lifecycle.agreements.apiserver.resource_handling import ADMIN
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.client.rest import Transport
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.store import Store


@asynccontextmanager
async def own_server(store: Store | None = None) -> AsyncIterator[Transport]:
    """The way to it for an administrator, as long as the scene lasts.

    `store`: what it serves; none: nothing is there yet.
    """
    server = create_server_chain(
        store or MemoryStore(), clock=Clock(), names=NameSource(1)
    )
    await server.start()
    try:
        yield server.in_process_transport(ADMIN)
    finally:
        await server.stop()
