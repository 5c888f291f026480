"""A transport that asks somebody about each request before it goes on its way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from lifecycle.api.http.wire import Request, Response
from lifecycle.client.rest import Transport

First = Callable[[Request], Awaitable[None]]
"""Is shown a request; may hold it up, and refuses it by raising."""


async def lets_pass(request: Request) -> None:
    """What nothing is the matter with."""


class Silence:
    """Lets everything pass until it has `fallen`, and then nothing."""

    fallen = False

    async def first(self, request: Request) -> None:
        if self.fallen:
            await asyncio.Event().wait()


class AskedFirst:
    """`inner`, as far as `first` lets it be asked."""

    def __init__(self, inner: Transport, first: First) -> None:
        self._inner, self._first = inner, first

    async def round_trip(self, request: Request) -> Response:
        await self._first(request)
        return await self._inner.round_trip(request)

    async def close(self) -> None:
        await self._inner.close()
