"""Tracing: one span around everything that happens to a request.

It is outermost, so the spans of all other stages lie inside it, and a request can be
told from its neighbours.

Upstream: `apiserver/pkg/endpoints/filters/traces.go` (`WithTracing`), v1.36. Left out:
taking the trace's id from the client's `traceparent` header; a span tells what it saw
to `lifecycle.trace`, in this process.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Handler, Request, Response
from lifecycle.api.tracing import span


def with_tracing(handler: Handler) -> Handler:
    """Put a span around the handler; it learns the status code. A watch's span ends
    when its answer begins.
    """

    async def traced(request: Request) -> Response:
        with span(
            "apiserver", "request", method=request.method, path=request.path
        ) as recorded:
            response = await handler(request)
            if recorded is not None:
                recorded.attributes["code"] = response.status
            return response

    return traced
