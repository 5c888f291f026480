"""A store in which a server has been before, for the many tests that are about something else than the first start.

What every server writes into an empty store is the same for all of them, and passes the whole chain, object by object. It is written
once in a test process; after that a server starts over what is there, as it does after its own restart.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.store import KeyValue, Store

_WRITTEN: list[KeyValue] = []


def furnish() -> None:
    """Let a server start over an empty store, once. Called before any test has broken a part of it."""
    if _WRITTEN:
        return

    async def first_start() -> None:
        store = MemoryStore()
        server = create_server_chain(store)
        await server.start()
        _WRITTEN.extend((await store.range("/", "0")).kvs)
        await server.stop()

    run_virtual(first_start())


async def restored(store: Store) -> None:
    """For `GenericAPIServer.start`: put there what the first server has written."""
    for kv in _WRITTEN:
        await store.put(kv.key, kv.value)


@contextmanager
def furnished_starts() -> Iterator[None]:
    """Whoever starts a server in here without knowing of this, in a scene of the package, has it start over a furnished store: if its own
    is in memory and empty, and nobody audits or encrypts what would be written first."""
    furnish()
    start, empty = GenericAPIServer.start, MemoryStore().revision

    async def start_furnished(
        server: GenericAPIServer, restore: Callable[[Store], Awaitable[None]] | None = None
    ) -> None:
        observed = server.audit_backends is not None or server.encryption is not None
        if (
            restore is None
            and not observed
            and isinstance(server.store, MemoryStore)
            and server.store.revision == empty
        ):
            restore = restored
        await start(server, restore)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GenericAPIServer, "start", start_furnished)
        yield
