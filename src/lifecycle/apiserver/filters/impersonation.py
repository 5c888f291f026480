"""Impersonation: doing something as somebody else, if one may.

`kubectl --as jane` sends `Impersonate-User: jane`. From this stage on the request is
Jane's: flow control, authorization and admission see only her. Whether the real user
may do so is itself a matter of authorization, asked once for each part of the identity
(`impersonation_mode.py`).

Upstream: `apiserver/pkg/endpoints/filters/impersonation/constrained_impersonation.go`,
v1.36. Left out: remembering which mode worked last (our authorizer remembers its
answers itself).
"""

from __future__ import annotations

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import ANONYMOUS, Handler, Request, Response, UserInfo
from lifecycle.api.status import StatusError, bad_request
from lifecycle.api.tracing import span
from lifecycle.apiserver.audit.context import log_impersonated_user
from lifecycle.apiserver.authz.authorizer import Authorizer
from lifecycle.apiserver.filters.impersonation_mode import impersonated_user
from lifecycle.apiserver.filters.refusal import refuse
from lifecycle.apiserver.http.headers import SEPARATOR, unescaped_extra_key

USER_HEADER = "impersonate-user"
UID_HEADER = "impersonate-uid"
GROUP_HEADER = "impersonate-group"
EXTRA_PREFIX = "impersonate-extra-"
HEADER_PREFIX = "impersonate-"


def process_impersonation_headers(headers: dict[str, str]) -> UserInfo | None:
    """Whom the headers ask to be, exactly as they say it; None if nobody. Raises
    StatusError 400 for a group without a user.
    """
    name, uid = (  # of these the first line counts, as in Go
        headers.get(key, "").partition(SEPARATOR)[0]
        for key in (USER_HEADER, UID_HEADER)
    )
    groups = (
        tuple(headers[GROUP_HEADER].split(SEPARATOR)) if GROUP_HEADER in headers else ()
    )
    extra: dict[str, tuple[str, ...]] = {}
    for key, value in headers.items():
        if key.startswith(EXTRA_PREFIX):
            extra[unescaped_extra_key(key.removeprefix(EXTRA_PREFIX))] = tuple(
                value.split(SEPARATOR)
            )
    if name:
        return UserInfo(name, groups, uid, extra)
    if uid or groups or extra:
        raise bad_request(
            f"requested {_go_value(uid, groups, extra)} without impersonating a user "
            "name"
        )
    return None


def _go_value(
    uid: str, groups: tuple[str, ...], extra: dict[str, tuple[str, ...]]
) -> str:
    """A user the way Go's `%#v` prints it: this message shows it raw."""
    go_groups = (
        "[]string{" + ", ".join(go_quote(g) for g in groups) + "}"
        if groups
        else "[]string(nil)"
    )
    pairs = (
        f"{go_quote(key)}:[]string{{{', '.join(go_quote(v) for v in values)}}}"
        for key, values in sorted(extra.items())
    )
    go_extra = (
        "map[string][]string{" + ", ".join(pairs) + "}"
        if extra
        else "map[string][]string(nil)"
    )
    return (
        f'&user.DefaultInfo{{Name:"", UID:{go_quote(uid)}, Groups:{go_groups}, '
        f"Extra:{go_extra}}}"
    )


def with_impersonation(handler: Handler, authorizer: Authorizer) -> Handler:
    """Replace `request.user` by the one asked for, if allowed; 403 if not."""

    async def impersonation(request: Request) -> Response:
        if not any(key.startswith(HEADER_PREFIX) for key in request.headers):
            return await handler(request)
        info, requestor = request.info, request.user or ANONYMOUS
        assert info is not None, "request info comes first"
        with span("apiserver", "impersonation", user=requestor.name):
            try:
                wanted_user = process_impersonation_headers(request.headers)
                if wanted_user is not None:
                    request.user, constraint = await impersonated_user(
                        authorizer, requestor, wanted_user, info
                    )
                    log_impersonated_user(request.user, constraint)
            except StatusError as error:
                return refuse(error)
        if wanted_user is not None:
            request.headers = {
                k: v
                for k, v in request.headers.items()
                if not k.startswith(HEADER_PREFIX)
            }
        return await handler(request)

    return impersonation
