"""Who changes one object waits no longer than 34 seconds for it.

Any request has a minute, and a client that gets no answer learns nothing from it. So a
chain of webhooks that do not answer is given up long before, and the answer is the
resource's own: a `Status` in the form that was asked for. (Everybody's time is thirty
seconds; 34 is so odd that one knows at once whose it was.)

To delete a whole collection may take as long as any request.

Upstream: `apiserver/pkg/endpoints/handlers/rest.go` (`requestTimeoutUpperBound`) and
`handlers/finisher/finisher.go` (`finishRequest`), v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.until import until
from lifecycle.api.status import failure
from lifecycle.apiserver.endpoints.handlers.rest import RestHandler
from lifecycle.apiserver.registry.scope import RequestScope

REQUEST_TIMEOUT_UPPER_BOUND = 34.0
OUT_OF_TIME = (
    "Timeout: request did not complete within requested timeout"
    " - context deadline exceeded"
)

Endpoint = Callable[[RestHandler, Request, RequestScope], Awaitable[Response]]


def bounded(endpoint: Endpoint) -> Endpoint:
    """The same, which raises StatusError (504) when it has waited too long."""

    async def in_time(
        rest: RestHandler, request: Request, scope: RequestScope
    ) -> Response:
        now = asyncio.get_running_loop().time
        deadline = now() + REQUEST_TIMEOUT_UPPER_BOUND
        try:
            return await until(deadline, endpoint(rest, request, scope))
        except TimeoutError:
            if now() < deadline:  # somebody else's
                raise
            raise failure(504, "Timeout", OUT_OF_TIME, {}) from None

    return in_time
