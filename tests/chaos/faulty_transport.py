"""A component's way to the API server, with what can go wrong on it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from typing import Protocol

from lifecycle.api.http.wire import Object, Request, Response, WatchFrame
from lifecycle.api.status import failure
from lifecycle.client.rest import Transport
from tests.chaos.scenario import Fault

REASONS = {
    409: ("Conflict", "Operation cannot be fulfilled: please apply your changes to the latest version and try again"),
    429: ("TooManyRequests", "the server has received too many requests and has asked us to try again later"),
    500: ("InternalError", "Internal error occurred: chaos"),
    503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
    504: ("Timeout", "Timeout: request did not complete within the requested timeout"),
}

REFUSED, NOTICED = 0.002, 0.05
"""Seconds until a refusal is there, and until somebody notices that no answer comes. In a world without them, whoever tries again
at once would do so for ever within one moment.
"""


class Way(Protocol):
    """What a transport asks of those who made it."""

    rng: random.Random

    def weather(self, kind: str, component: str = "") -> list[Fault]:
        """The faults of a kind that there are now for a component."""
        ...

    def step(self, component: str) -> bool:
        """It sends a request: whether that is its last."""
        ...

    def die(self, component: str) -> None:
        """It ends here and now."""
        ...

    def tell(self, component: str, path: str, obj: Object) -> None:
        """It is shown this."""
        ...

    def doubt(self, request: Request) -> None:
        """Whoever sent this does not know whether it was done."""
        ...

    def watching(self, component: str, end: Callable[[], None]) -> Callable[[], None]:
        """It watches now; `end` breaks the watch. Returns what to call when it is over."""
        ...


class FaultyTransport:
    """Implements `Transport`."""

    def __init__(self, inner: Transport, component: str, way: Way) -> None:
        self._inner, self._component, self._way = inner, component, way

    async def round_trip(self, request: Request) -> Response:
        """Pass on, or not."""
        way, component = self._way, self._component
        if way.step(component):
            if way.rng.random() < 0.5:
                way.doubt(request)
                await self._inner.round_trip(request)
            way.die(component)
            await asyncio.get_running_loop().create_future()  # whoever asked is no more
        for fault in way.weather("refuse", component):
            if way.rng.random() < fault.amount and (fault.answer != 409 or request.method in ("PUT", "PATCH")):
                await asyncio.sleep(REFUSED)
                return _refusal(fault.answer)
        response = await self._inner.round_trip(request)
        if response.stream is not None:
            response.stream = self._watched(request.path, response.stream)
            return response
        for fault in way.weather("lose", component):
            if way.rng.random() < fault.amount:
                way.doubt(request)
                await asyncio.sleep(NOTICED)
                raise ConnectionResetError("connection reset by peer")
        if request.method == "GET" and response.status == 200 and response.obj is not None:
            way.tell(component, request.path, response.obj)
        if response.status >= 500:  # the store may have done it
            way.doubt(request)
        return response

    async def _watched(self, path: str, frames: AsyncIterator[WatchFrame]) -> AsyncIterator[WatchFrame]:
        way, component, loop = self._way, self._component, asyncio.get_running_loop()
        come: asyncio.Queue[tuple[float, WatchFrame | None]] = asyncio.Queue()

        async def read() -> None:
            due = 0.0
            async for frame in frames:
                due = max([due, loop.time() + max([0.0, *(f.amount for f in way.weather("delay", component))])])
                for _ in range(1 + any(way.rng.random() < f.amount for f in way.weather("repeat", component))):
                    come.put_nowait((due, frame))
            come.put_nowait((due, None))

        def end() -> None:
            reading.cancel()
            come.put_nowait((0.0, None))

        reading = asyncio.create_task(read(), name=f"watch of {component}")
        over = way.watching(component, end)
        try:
            while True:
                due, frame = await come.get()
                if due > loop.time():
                    await asyncio.sleep(due - loop.time())
                if frame is None:
                    return
                if frame.type != "ERROR":
                    way.tell(component, path, frame.object)
                yield frame
        finally:
            over()
            reading.cancel()
            close = getattr(frames, "aclose", None)
            if close is not None:
                await close()

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()


def _refusal(code: int) -> Response:
    reason, message = REASONS[code]
    status: Object = failure(code, reason, message).status
    return Response(code, {"retry-after": "1"} if code == 429 else {}, obj=status)
