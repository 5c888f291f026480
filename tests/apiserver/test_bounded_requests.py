"""Who changes one object waits 34 seconds at most.

The real 1.36.2 was asked with two webhooks of thirty seconds each, which may fail and whose server takes the request and never answers:
POST, PUT, PATCH and DELETE of a ConfigMap are answered after 34.0 seconds, in these words; DELETE of all of them is not.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.status import StatusError
from lifecycle.apiserver.endpoints.handlers.bounded import OUT_OF_TIME, bounded
from lifecycle.apiserver.endpoints.resource_handler import KIND_VERBS, VERBS
from lifecycle.apiserver.registry.scope import RequestScope

ANYBODY: Any = None


async def waited(endpoint: Any) -> tuple[float, Response]:
    begun = asyncio.get_running_loop().time()
    try:
        answer = await bounded(endpoint)(ANYBODY, Request("POST", "/"), ANYBODY)
    except StatusError as error:
        answer = Response(error.code, obj=error.status)
    return asyncio.get_running_loop().time() - begun, answer


@pytest.mark.parametrize(("seconds", "answered_after", "status"), [(33, 33, 201), (35, 34, 504), (60, 34, 504)])
def test_a_change_is_answered_after_34_seconds_at_the_latest(
    seconds: float, answered_after: float, status: int
) -> None:
    async def endpoint(rest: Any, request: Request, scope: RequestScope) -> Response:
        await asyncio.sleep(seconds)
        return Response(201, obj={})

    after, answer = run_virtual(waited(endpoint))
    assert (after, answer.status) == (pytest.approx(answered_after), status)
    if status == 504:
        assert answer.obj is not None
        assert answer.obj["reason"] == "Timeout"
        assert answer.obj["message"] == OUT_OF_TIME
        assert answer.obj["details"] == {}


def test_somebody_elses_timeout_is_his() -> None:
    async def endpoint(rest: Any, request: Request, scope: RequestScope) -> Response:
        await asyncio.sleep(1)
        raise TimeoutError("a webhook's")

    with pytest.raises(TimeoutError, match=r"a webhook's$"):
        run_virtual(waited(endpoint))


def test_what_changes_one_object_is_bounded_and_nothing_else() -> None:
    by_verb = [VERBS, *KIND_VERBS.values()]
    is_bounded = {
        (verb, endpoint.__qualname__.startswith("bounded.")) for verbs in by_verb for verb, endpoint in verbs.items()
    }
    assert is_bounded == {
        *((verb, True) for verb in ("create", "update", "patch", "delete")),
        *((verb, False) for verb in ("get", "list", "watch", "deletecollection")),
    }
