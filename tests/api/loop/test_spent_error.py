"""An error that has become an answer holds nothing, and a request leaves nothing behind that only Python's garbage collector would find."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import weakref
from collections.abc import Callable, Iterator

import pytest

from lifecycle.api.http.wire import Handler, Request, Response
from lifecycle.api.loop import spent_error
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.loop.spent_error import spend
from lifecycle.api.loop.until import until
from lifecycle.api.status import StatusError, bad_request
from lifecycle.apiserver.filters import panic_recovery
from lifecycle.apiserver.filters.panic_recovery import with_panic_recovery, with_status_errors


class Body:
    """Something large that a request brought along."""


@pytest.fixture(autouse=True)
def without_a_garbage_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def in_a_ring(error: Exception, bodies: list[weakref.ref[Body]]) -> None:
    """Raise it where a list holds it, as denials are kept."""
    body = Body()
    bodies.append(weakref.ref(body))
    denials = [error]
    raise denials[0]


def test_who_raises_what_a_list_of_its_own_holds_is_let_go() -> None:
    bodies: list[weakref.ref[Body]] = []
    for cut in (False, True):
        try:
            in_a_ring(bad_request("no"), bodies)
        except StatusError as error:
            if cut:
                spend(error)
    assert [body() is None for body in bodies] == [False, True]


def test_what_came_before_it_is_let_go_too() -> None:
    bodies: list[weakref.ref[Body]] = []
    try:
        try:
            in_a_ring(ValueError("inner"), bodies)
        except ValueError as inner:
            raise bad_request("outer") from inner
    except StatusError as error:
        spend(error)
        said = error.status["message"]
    assert said == "outer"
    assert bodies[0]() is None


def test_what_may_be_much_is_freed_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(spent_error, "let_go", lambda things, size: given.append((len(things), size)))
    spend(ValueError("large"), 3_000_000)
    assert given == [(1, 3_000_000)]


@pytest.mark.parametrize("raised", [bad_request, ValueError])
@pytest.mark.parametrize("stages", [(with_status_errors, with_panic_recovery), (with_panic_recovery,)])
def test_a_refused_request_leaves_nothing_behind(
    raised: Callable[[str], Exception],
    stages: tuple[Callable[[Handler], Handler], ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(panic_recovery.log, "exception", lambda *_: None)  # pytest keeps what is logged
    bodies: list[weakref.ref[Body]] = []

    async def refuse(_request: Request) -> Response:
        in_a_ring(raised("no"), bodies)
        raise AssertionError

    handler: Handler = refuse
    for stage in stages:
        handler = stage(handler)
    answer = asyncio.run(_answer(handler))
    assert answer.status == (400 if raised is bad_request else 500)
    assert bodies[0]() is None


async def _answer(handler: Handler) -> Response:
    return await handler(Request("GET", "/"))


def test_work_that_waited_for_what_failed_is_no_ring() -> None:
    bodies: list[weakref.ref[Body]] = []

    def failing() -> asyncio.Future[None]:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(future.set_exception, ValueError("no"))
        return future

    async def fails() -> None:
        body = Body()
        bodies.append(weakref.ref(body))
        await failing()

    async def main() -> None:
        with contextlib.suppress(ValueError):
            await until(100.0, fails())

    run_virtual(main())
    assert bodies[0]() is None
