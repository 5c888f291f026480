"""Max in flight: the older, simpler protection against overload.

Two counters, one for requests that change something and one for the rest; a request
over its limit is turned away at once. It cannot tell an important request from an
unimportant one, which is why priority and fairness replaced it.

Upstream: `apiserver/pkg/server/filters/maxinflight.go` (`WithMaxInFlightLimit`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import MASTERS, Handler, Request, Response
from lifecycle.apiserver.endpoints.document import text
from lifecycle.apiserver.filters.request_info import is_long_running

READ_ONLY = frozenset({"get", "list", "watch"})
MAX_REQUESTS = 400
MAX_MUTATING_REQUESTS = 200


def too_many_requests(retry_after: int = 1) -> Response:
    """429, as plain text: it must be cheap to say."""
    sorry = "Too many requests, please try again later.\n"
    return text(sorry, 429, Retry_After=str(retry_after))


def with_max_in_flight_limit(
    handler: Handler,
    max_requests: int = MAX_REQUESTS,
    max_mutating: int = MAX_MUTATING_REQUESTS,
) -> Handler:
    """Let so many requests through at a time; 0 is no limit. Streams are not counted,
    and masters are never turned away.
    """
    if not max_requests and not max_mutating:
        return handler
    running = {True: 0, False: 0}
    limits = {True: max_requests, False: max_mutating}

    async def max_in_flight(request: Request) -> Response:
        info = request.info
        if info is None or is_long_running(info):
            return await handler(request)
        read_only = info.verb in READ_ONLY
        if not limits[read_only]:
            return await handler(request)
        if running[read_only] >= limits[read_only]:
            if request.user is None or MASTERS not in request.user.groups:
                return too_many_requests()
            return await handler(request)  # beyond the limit, and so not counted
        running[read_only] += 1
        try:
            return await handler(request)
        finally:
            running[read_only] -= 1

    return max_in_flight
