"""HSTS: tell browsers never to try plain HTTP here. Off unless directives are given
(`--strict-transport-security-directives`).

Upstream: `apiserver/pkg/server/filters/hsts.go` (`WithHSTS`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.http.wire import Handler, Request, Response


def with_hsts(handler: Handler, directives: Sequence[str]) -> Handler:
    """Add the header to every answer. Without directives the handler stays as it is."""
    if not directives:
        return handler
    value = "; ".join(directives)

    async def hsts(request: Request) -> Response:
        response = await handler(request)
        response.headers.setdefault("Strict-Transport-Security", value)
        return response

    return hsts
