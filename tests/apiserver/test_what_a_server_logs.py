"""What whoever runs the server finds in its log, because the client is not told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import pytest

from lifecycle.api.http.wire import Handler, Request, Response
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.status import not_found
from lifecycle.apiserver.authn.authenticator import AuthenticationError, Identity
from lifecycle.apiserver.filters.authentication import with_authentication
from lifecycle.apiserver.filters.panic_recovery import with_panic_recovery, with_status_errors


def answered(handler: Handler, request: Request) -> Response:
    async def main() -> Response:
        return await handler(request)

    return run_virtual(main())


async def never(request: Request) -> Response:
    raise AssertionError("not let in")


class Refusing:
    """An authenticator whom nobody convinces."""

    async def authenticate_request(self, request: Request) -> Identity:
        raise AuthenticationError("token is expired")


def test_why_somebody_is_a_stranger_stands_in_the_log_only(caplog: pytest.LogCaptureFixture) -> None:
    chain = with_authentication(never, Refusing())  # type: ignore[arg-type]
    with caplog.at_level(logging.INFO, "lifecycle.apiserver"):
        answer = answered(chain, Request("GET", "/api"))
    assert (answer.status, (answer.obj or {}).get("message")) == (401, "Unauthorized")
    assert caplog.messages == ["Unable to authenticate the request: token is expired"]


def test_a_defect_of_the_server_is_a_500_to_the_client_and_a_trace_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def defect(request: Request) -> Response:
        raise ZeroDivisionError

    answer = answered(with_panic_recovery(defect), Request("PUT", "/api/v1/x"))
    assert answer.status == 500
    assert answer.body == b"This request caused apiserver to panic. Look in the logs for details.\n"
    (record,) = caplog.records
    assert (record.getMessage(), record.levelname) == ("apiserver panic'd on PUT /api/v1/x", "ERROR")
    assert record.exc_info is not None
    assert record.exc_info[0] is ZeroDivisionError


@pytest.mark.parametrize("wrap", [with_panic_recovery, with_status_errors])
def test_a_refusal_is_no_defect(wrap: Callable[[Handler], Handler], caplog: pytest.LogCaptureFixture) -> None:
    async def refuses(request: Request) -> Response:
        raise not_found("pods", "p")

    assert answered(wrap(refuses), Request("GET", "/p")).status == 404
    assert caplog.messages == []


def test_whose_client_has_gone_is_no_defect_either(caplog: pytest.LogCaptureFixture) -> None:
    async def gone(request: Request) -> Response:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        answered(with_panic_recovery(gone), Request("GET", "/p"))
    assert caplog.messages == []
