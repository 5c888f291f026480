"""`python -m tests.fuzz_http.broken FOLDER`: `served` with a mistake in it, for a test that the mistake is found.

A PATCH of JSON fails with something that nobody expected, and each connection leaves a task behind.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from lifecycle.apiserver.endpoints import resource_handler
from lifecycle.apiserver.server import https
from tests.fuzz_http.served import serve

LEFT: list[asyncio.Task[bool]] = []


def sabotage() -> None:
    """Put the mistakes in."""
    handle, connect = resource_handler.ResourceHandler.__call__, https.HTTPSServer._connection

    async def fail(self: resource_handler.ResourceHandler, *arguments: object) -> object:
        if getattr(arguments[0], "method", "") == "PATCH":
            raise KeyError("sabotage")
        return await handle(self, *arguments)  # type: ignore[arg-type]

    def leave(self: https.HTTPSServer) -> object:
        LEFT.append(asyncio.get_running_loop().create_task(asyncio.Event().wait()))
        return connect(self)

    resource_handler.ResourceHandler.__call__ = fail  # type: ignore[method-assign, assignment]
    https.HTTPSServer._connection = leave  # type: ignore[method-assign, assignment]


if __name__ == "__main__":
    sabotage()
    asyncio.run(serve(Path(sys.argv[1])))
