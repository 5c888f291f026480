"""How long a request may take is what its sender says, who may say it at length."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.worker import LARGE
from lifecycle.apiserver.filters import timeout


@pytest.mark.parametrize(
    ("text", "status", "where"),
    [
        ("1h", 200, "MainThread"),
        ("1h" * LARGE, 200, "worker"),
        ("x", 400, "MainThread"),
        ("1h" * LARGE + "x", 400, "worker"),
    ],
)
def test_a_long_timeout_is_read_beside_the_loop(
    text: str, status: int, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, parse = [], timeout.parse_duration

    def noted(text: str) -> float:
        read.append(threading.current_thread().name.partition("_")[0])
        return parse(text)

    async def answer(request: Request) -> Response:
        return Response(200)

    monkeypatch.setattr(timeout, "parse_duration", noted)
    request = Request("GET", "/version", query={"timeout": [text]})
    assert asyncio.run(timeout.with_timeout(answer, 60)(request)).status == status  # type: ignore[arg-type]
    assert read == [where]


class NotesAlarms(asyncio.SelectorEventLoop):
    """A loop that notes each clock that is set."""

    def __init__(self, alarms: list[float]) -> None:
        super().__init__()
        self._alarms = alarms

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        self._alarms.append(when)
        return super().call_at(when, callback, *args, context=context)


def test_no_clock_is_set_for_what_never_waits() -> None:
    async def scene(alarms: list[float]) -> None:
        async def answer(request: Request) -> Response:
            if request.path == "/waits":
                await asyncio.sleep(0)
            return Response(obj={"path": request.path})

        handler = timeout.with_timeout(answer, 60)
        for path, clocks in (("/version", 0), ("/waits", 1)):
            answered = await handler(Request("GET", path))
            assert (answered.obj, len(alarms)) == ({"path": path}, clocks)

    def new_loop() -> asyncio.AbstractEventLoop:
        return NotesAlarms(alarms)

    alarms: list[float] = []
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(scene(alarms))


def test_what_is_out_of_time_may_put_things_in_order_and_what_it_raises_is_passed_on() -> None:
    async def scene() -> None:
        done = []

        async def answer(request: Request) -> Response:
            await asyncio.sleep(0)
            if request.path == "/raises":
                raise LookupError("what is asked for")
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                done.append(request.path)
            return Response()

        handler = timeout.with_timeout(answer, 0.01)
        assert (await handler(Request("GET", "/waits"))).status == 504
        with pytest.raises(LookupError, match=r"what is asked for$"):
            await timeout.with_timeout(answer, 60)(Request("GET", "/raises"))
        patient = asyncio.ensure_future(timeout.with_timeout(answer, 60)(Request("GET", "/given/up")))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        patient.cancel()
        with pytest.raises(asyncio.CancelledError):
            await patient
        assert done == ["/waits", "/given/up"]

    asyncio.run(scene())
