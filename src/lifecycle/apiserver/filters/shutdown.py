"""Beginning and end: what a server says before it is whole, and when it is about to go.

While it starts, paths are still being added. "Not found" would then be a lie that
controllers act on, so a 404 becomes a 503 until everything is there. When it shuts
down, new requests are told to come again in a few seconds, to another server, on
another connection; health checks and the server's own requests are still answered.

Upstream: `apiserver/pkg/endpoints/filters/mux_discovery_complete.go`,
`pkg/util/notfoundhandler/not_found_handler.go`,
`pkg/server/filters/with_retry_after.go` (`WithRetryAfter`), v1.36. Left out: ending
watches one by one at shutdown.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from lifecycle.api.http.wire import Handler, Request, Response
from lifecycle.api.status import failure
from lifecycle.apiserver.endpoints.document import text
from lifecycle.apiserver.filters.refusal import refuse

RETRY_AFTER = 5
INCOMPLETE = (
    "the request has been made before all known HTTP paths have been installed, please"
    " try again"
)
GOING = "The apiserver is shutting down, please try again later."
EXEMPT_PATHS = ("/readyz", "/livez", "/healthz", "/metrics")
OWN_AGENT = "kube-apiserver/"


def with_mux_and_discovery_complete(
    handler: Handler, complete: Callable[[], bool] | None
) -> Handler:
    """No 404 before the server is complete. Without a signal the handler stays as it
    is.
    """
    if complete is None:
        return handler

    async def early(request: Request) -> Response:
        response = await handler(request)
        named = (
            request.info is not None
            and request.info.is_resource_request
            and request.info.name
        )
        if response.status == 404 and not named:
            return refuse(
                failure(
                    503,
                    "ServiceUnavailable",
                    INCOMPLETE,
                    {"retryAfterSeconds": RETRY_AFTER},
                )
            )
        return response

    def mux_and_discovery_complete(request: Request) -> Awaitable[Response]:
        return handler(request) if complete() else early(request)

    return mux_and_discovery_complete


def with_retry_after(
    handler: Handler, shutting_down: Callable[[], bool] | None
) -> Handler:
    """429 for whoever comes while the server goes. Without a signal the handler stays
    as it is.
    """
    if shutting_down is None:
        return handler

    async def going(request: Request) -> Response:
        if request.path.startswith(EXEMPT_PATHS):
            return await handler(request)
        if request.headers.get("user-agent", "").startswith(OWN_AGENT):
            return await handler(request)
        after = str(RETRY_AFTER)
        return text(f"{GOING}\n", 429, Connection="close", Retry_After=after)

    def retry_after(request: Request) -> Awaitable[Response]:
        return going(request) if shutting_down() else handler(request)

    return retry_after
