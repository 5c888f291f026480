"""What a refusal says: who cannot do what, where.

Upstream: `apiserver/pkg/endpoints/handlers/responsewriters/errors.go`
(`ForbiddenStatusError`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import RequestInfo, UserInfo
from lifecycle.api.status import StatusError, failure, forbidden

_SANITIZE = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def forbidden_status_error(
    user: UserInfo, info: RequestInfo, reason: str = ""
) -> StatusError:
    """The 403 for a request that no authorizer allowed, with the reasons they gave."""
    message = _forbidden_message(user, info).translate(_SANITIZE)
    if reason:
        message = f"{message}: {reason}"
    if not info.resource:
        return failure(
            403,
            "Forbidden",
            f"forbidden: {message}",
            {"name": info.name} if info.name else {},
        )
    return forbidden(info.resource, info.name, message, info.group)


def _forbidden_message(user: UserInfo, info: RequestInfo) -> str:
    if not info.is_resource_request:
        return (
            f"User {go_quote(user.name)} cannot {info.verb} path {go_quote(info.path)}"
        )
    resource = (
        f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    )
    where = (
        f"in the namespace {go_quote(info.namespace)}"
        if info.namespace
        else "at the cluster scope"
    )
    who = f"User {go_quote(user.name)} cannot {info.verb} resource {go_quote(resource)}"
    return f"{who} in API group {go_quote(info.group)} {where}"
