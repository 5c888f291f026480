"""Audit id: a name for the request that client, server and log share.

A client may choose it with the `Audit-ID` header (kubectl proxies and aggregated
servers pass theirs on); otherwise it is a new UUID. Either way the answer carries it
back.

Upstream: `apiserver/pkg/endpoints/filters/audit_init.go` (`WithAuditInit`) and
`cachecontrol.go` (`WithCacheControl`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Handler, Request, Response
from lifecycle.api.names import NameSource

AUDIT_ID = "audit-id"
MAX_AUDIT_ID = 64


def with_audit_init(handler: Handler, names: NameSource) -> Handler:
    """Fill in `request.audit_id` and return it."""

    async def audit_init(request: Request) -> Response:
        request.audit_id = (
            request.headers.get(AUDIT_ID, "")[:MAX_AUDIT_ID] or names.uid()
        )
        response = await handler(request)
        response.headers["Audit-Id"] = request.audit_id
        return response

    return audit_init


def with_cache_control(handler: Handler) -> Handler:
    """No shared cache may keep an answer that depended on who asked, unless the handler
    says that it may.
    """

    async def cache_control(request: Request) -> Response:
        response = await handler(request)
        response.headers.setdefault("Cache-Control", "no-cache, private")
        return response

    return cache_control
