"""The question every authenticator answers: whose request is this?

Three answers are possible. The user; or None, "this is not my kind of credential", and
the next one is asked; or an error, "it is my kind, and it is wrong". The last must not
fall through to anonymous: a mistyped token would otherwise silently become a stranger.

Upstream: `apiserver/pkg/authentication/authenticator/interfaces.go` (`Request`,
`Token`, `Response`), v1.36.

Those that know their credentials themselves are plain functions; those that may have to
wait for somebody else (a webhook, an identity provider), or ask such a one, are
coroutines. `settled` takes either.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import NamedTuple, Protocol

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Request, UserInfo

ALL_AUTHENTICATED = "system:authenticated"
ALL_UNAUTHENTICATED = "system:unauthenticated"
CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"


class AuthenticationError(Exception):
    """The credentials are of a known kind, and wrong. The message is for the log, never
    for the client.
    """


def wrong_audiences(
    meant: Iterable[str], requested: Iterable[str]
) -> AuthenticationError:
    """The token is good, and for others than those who ask."""
    have, want = (
        f"[{' '.join(go_quote(audience) for audience in audiences)}]"
        for audiences in (meant, requested)
    )
    return AuthenticationError(
        f"token audiences {have} is invalid for the target audiences {want}"
    )


class Identity(NamedTuple):
    """Who it is, and for which audiences the credentials were made (empty: any)."""

    user: UserInfo
    audiences: tuple[str, ...] = ()


Answer = Identity | None | Awaitable[Identity | None]
"""An identity or None, or what to await for it. Awaiting raises what calling does."""


class RequestAuthenticator(Protocol):
    """Looks at a whole request."""

    def authenticate_request(self, request: Request) -> Answer:
        """Who sent the request. Raises AuthenticationError."""
        ...


class TokenAuthenticator(Protocol):
    """Looks at a bearer token. `audiences` are those that the asker answers to; empty
    means the API server's own.
    """

    def authenticate_token(self, token: str, audiences: tuple[str, ...] = ()) -> Answer:
        """Whose token it is. Raises AuthenticationError."""
        ...


async def settled(answer: Answer) -> Identity | None:
    """The identity, waited for if need be. Raises AuthenticationError."""
    if answer is None or isinstance(answer, Identity):
        return answer
    return await answer
