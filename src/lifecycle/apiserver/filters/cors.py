"""CORS: which web pages may talk to the API from a browser.

Upstream: `apiserver/pkg/server/filters/cors.go` (`WithCORS`), v1.36.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lifecycle.api.wire import Handler, Request, Response

METHODS = "POST, GET, OPTIONS, PUT, DELETE, PATCH"
HEADERS = (
    "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since"
)


def with_cors(handler: Handler, allowed_origins: Sequence[str]) -> Handler:
    """Answer browsers whose page's origin matches one of the patterns. Without patterns the handler stays as it is.

    Raises ValueError for a pattern that is no regular expression.
    """
    if not allowed_origins:
        return handler
    try:
        patterns = [re.compile(pattern) for pattern in allowed_origins]
    except re.error as error:
        raise ValueError(f"--cors-allowed-origins: {error.pattern!r} is no regular expression: {error.msg}") from None

    async def cors(request: Request) -> Response:
        origin = request.headers.get("origin", "")
        if not origin or not any(pattern.search(origin) for pattern in patterns):
            return await handler(request)
        # A preflight asks with OPTIONS before the real request; it carries no credentials and is answered here.
        response = Response(status=204, body=b"") if request.method == "OPTIONS" else await handler(request)
        response.headers.update(
            {
                "Access-Control-Allow-Origin": origin,
                "Access-Control-Allow-Methods": METHODS,
                "Access-Control-Allow-Headers": HEADERS,
                "Access-Control-Expose-Headers": "Date",
                "Access-Control-Allow-Credentials": "true",
            }
        )
        return response

    return cors
