"""CORS: which web pages may talk to the API from a browser.

A pattern is searched for, not matched whole: `example.com` would let in
`https://example.com.hacker.org`. So a server refuses patterns that are not tied to both
ends of the host's name.

Upstream: `apiserver/pkg/server/filters/cors.go` (`WithCORS`),
`pkg/server/options/server_run_options.go` (`validateCorsAllowedOriginList`), v1.36.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lifecycle.api.aggregate import aggregate
from lifecycle.api.http.wire import Handler, Request, Response

METHODS = "POST, GET, OPTIONS, PUT, DELETE, PATCH"
HEADERS = (
    "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization,"
    " X-Requested-With, If-Modified-Since"
)
HELP = (
    "List of allowed origins for CORS, comma separated. An allowed origin can be a"
    " regular expression to support subdomain matching. If this list is empty CORS will"
    " not be enabled. Please ensure each expression matches the entire hostname by"
    " anchoring to the start with '^' or including the '//' prefix, and by anchoring to"
    " the end with '$' or including the ':' port separator suffix. Examples of valid"
    " expressions are '//example\\.com(:|$)' and '^https://example\\.com(:|$)'"
)


def check_allowed_origins(patterns: Sequence[str]) -> None:
    """Raises ValueError for patterns that no server starts with."""
    wrong = []
    for pattern in patterns:
        if not pattern:
            wrong.append(f"empty value in --cors-allowed-origins, help: {HELP}")
            continue
        try:
            re.compile(pattern)
            ends = ("^" in pattern or "//" in pattern) and (
                "$" in pattern or ":" in pattern
            )
            why = (
                ""
                if ends
                else (
                    "regular expression does not pin to start/end of host in the origin"
                    " header"
                )
            )
        except re.error as error:
            why = f"error parsing regexp: {error.msg}: `{pattern}`"
        if why:
            wrong.append(
                f"--cors-allowed-origins has an invalid regular expression: {why},"
                f" help: {HELP}"
            )
    if wrong:
        raise ValueError(aggregate(wrong))


def with_cors(handler: Handler, allowed_origins: Sequence[str]) -> Handler:
    """Answer browsers whose page's origin matches one of the patterns. Without patterns
    the handler stays as it is.

    Raises ValueError for a pattern that is no regular expression.
    """
    if not allowed_origins:
        return handler
    try:
        patterns = [re.compile(pattern) for pattern in allowed_origins]
    except re.error as error:
        raise ValueError(
            f"--cors-allowed-origins: {error.pattern!r} is no regular expression:"
            f" {error.msg}"
        ) from None

    async def cors(request: Request) -> Response:
        origin = request.headers.get("origin", "")
        if not origin or not any(pattern.search(origin) for pattern in patterns):
            return await handler(request)
        # A preflight asks with OPTIONS before the real request; it carries no
        # credentials and is answered here.
        response = (
            Response(status=204, body=b"")
            if request.method == "OPTIONS"
            else await handler(request)
        )
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
