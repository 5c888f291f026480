"""What a request has left of its headers when it is known who sent it; and what is added to its answer."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from lifecycle.api.http.wire import Request, Response, UserInfo
from lifecycle.apiserver.authn.authenticator import AuthenticationError, Identity
from lifecycle.apiserver.filters.audit_init import with_cache_control
from lifecycle.apiserver.filters.authentication import with_authentication

JANE = UserInfo("jane", ("dev",))
SENT = {
    "accept": "application/json",
    "authorization": "Bearer t",
    "x-remote-user": "jane",
    "x-remote-uid": "7",
    "x-remote-group": "dev",
    "x-remote-extra-scopes": "all",
    "x-remote-extra-": "none",
    "x-remote-users": "somebody's own",
    "authorizations": "somebody's own",
    "impersonate-user": "ben",
}
LEFT = {key: SENT[key] for key in ("accept", "x-remote-users", "authorizations", "impersonate-user")}


def through(answer: Identity | None, sent: dict[str, str], user: UserInfo | None = None) -> tuple[int, Any, Any]:
    """The status; who is taken to have asked, with which headers."""
    seen = list[Any]()

    class Says:
        async def authenticate_request(self, request: Request) -> Identity:
            assert request.headers == sent, "it looks at all of them"
            if answer is None:
                raise AuthenticationError("nobody")
            return answer

    async def handler(request: Request) -> Response:
        seen.append((request.user, request.headers))
        return Response(200)

    request = Request("GET", "/", headers=dict(sent), user=user)
    status = asyncio.run(cast(Any, with_authentication(handler, cast(Any, Says()))(request))).status
    return status, *(seen[0] if seen else (None, None))


@pytest.mark.parametrize(("sent", "left"), [(SENT, LEFT), (LEFT, LEFT), ({}, {})])
def test_credentials_are_taken_off_once_they_have_been_looked_at(sent: dict[str, str], left: dict[str, str]) -> None:
    """Whoever sent them, and however the user was found. Upstream: `withAuthentication`, `req.Header.Del`."""
    assert through(Identity(JANE), sent) == (200, JANE, left)


def test_whom_nobody_knows_does_not_come_in() -> None:
    assert through(None, SENT) == (401, None, None)


def test_who_comes_from_inside_is_asked_nothing_and_belongs_to_those_who_are_known() -> None:
    status, user, headers = through(None, SENT, JANE)
    assert (status, user.name, headers) == (200, "jane", SENT)
    assert user.groups == ("dev", "system:authenticated")


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({}, "no-cache, private"),
        ({"Cache-Control": "public, immutable"}, "public, immutable"),
        ({"Cache-Control": ""}, ""),
    ],
)
def test_no_answer_may_be_kept_by_others_unless_it_says_so(own: dict[str, str], told: str) -> None:
    """Upstream: `WithCacheControl`."""

    async def handler(request: Request) -> Response:
        return Response(200, dict(own))

    answer = asyncio.run(cast(Any, with_cache_control(handler)(Request("GET", "/"))))
    assert answer.headers["Cache-Control"] == told
