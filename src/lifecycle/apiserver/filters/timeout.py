"""Timeout: nobody waits for an answer for ever.

Every request that is not a watch or a stream has a deadline: the server's own (60 s),
or a shorter one that the client names with `?timeout=`, never more than the server's.
When it passes, the work is cancelled and the client gets a 504.

Upstream: `apiserver/pkg/server/filters/timeout.go`
(`WithTimeoutForNonLongRunningRequests`) and `endpoints/filters/request_deadline.go`
(`WithRequestDeadline`), v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lifecycle.api import fast_json
from lifecycle.api.go.duration import parse_duration
from lifecycle.api.http.wire import Handler, Request, Response
from lifecycle.api.loop.until import until
from lifecycle.api.loop.worker import beside
from lifecycle.api.status import bad_request, failure
from lifecycle.apiserver.filters.refusal import refuse
from lifecycle.apiserver.filters.request_info import is_long_running


def deadline_exceeded(request: Request) -> bool:
    """Whether a request that is being cancelled had its time: otherwise its client has
    gone.
    """
    return (
        request.deadline is not None
        and asyncio.get_running_loop().time() >= request.deadline
    )


def with_timeout(
    handler: Handler,
    request_timeout: float,
    audited: Callable[[Handler], Handler] = lambda handler: handler,
) -> Handler:
    """Give every request that should end soon `request_timeout` seconds at most.
    `audited` wraps what refuses a timeout that is none.
    """

    async def timeout(request: Request) -> Response:
        info = request.info
        if info is not None and is_long_running(info):
            return await handler(request)
        seconds = request_timeout
        if timeout_param := request.param("timeout"):
            try:
                requested = await beside(
                    len(timeout_param), parse_duration, timeout_param
                )
            except ValueError as error:
                return await audited(_answer_bad_timeout(str(error)))(request)
            if requested > 0:
                seconds = min(requested, request_timeout)
        request.deadline = asyncio.get_running_loop().time() + seconds
        try:
            return await until(request.deadline, handler(request))
        except TimeoutError:
            return gateway_timeout()

    return timeout


def gateway_timeout() -> Response:
    """504. Written past all negotiation, so the `Status` names no kind and goes as
    text.
    """
    details = "Timeout: request did not complete within the allotted timeout"
    status = {"metadata": {}, **failure(504, "Timeout", details, {}).status}
    body = {
        key: status[key]
        for key in ("metadata", "status", "message", "reason", "details", "code")
    }
    return Response(
        504,
        {"Content-Type": "text/plain; charset=utf-8"},
        body=fast_json.dumps(body) + b"\n",
    )


def _answer_bad_timeout(why: str) -> Handler:
    async def bad_timeout(request: Request) -> Response:
        return refuse(
            bad_request(f"invalid timeout specified in the request URL - {why}")
        )

    return bad_timeout
