"""Bearer tokens: `Authorization: Bearer …`, and those that are known from the start.

Once a header says "bearer" and names a token, somebody has to recognise it, or the
request is refused. An empty token, or another scheme such as `Basic`, is no credential
at all: such a request is anonymous.

Upstream: `apiserver/pkg/authentication/request/bearertoken/bearertoken.go`,
v1.36. Tokens in websocket protocol headers are `websocket_protocol`'s.
"""

from __future__ import annotations

from collections.abc import Mapping

from lifecycle.api.aggregate import aggregate
from lifecycle.api.http.wire import Request, UserInfo
from lifecycle.apiserver.authn.authenticator import (
    AuthenticationError,
    Identity,
    TokenAuthenticator,
    settled,
)
from lifecycle.apiserver.authn.union import add_authenticated_group

INVALID_TOKEN = "invalid bearer token"
EXTRA_SPACE = (
    "the provided Authorization header contains extra space before the bearer token,"
    " and is ignored"
)


class BearerTokenAuthenticator:
    """Takes the token out of the header and asks a `TokenAuthenticator`."""

    def __init__(self, tokens: TokenAuthenticator) -> None:
        self._tokens = tokens

    async def authenticate_request(self, request: Request) -> Identity | None:
        """Whose token it is; None without one. Raises AuthenticationError for one that
        nobody recognises.
        """
        header = request.headers.get("authorization")
        if not header:
            return None
        parts = header.strip().split(" ", 2)
        if len(parts) < 2 or parts[0].lower() != "bearer":
            return None
        if not parts[1]:
            request.warnings.append(EXTRA_SPACE)
            return None
        return await recognise_bearer(self._tokens, parts[1])


async def recognise_bearer(
    tokens: TokenAuthenticator, token: str, audiences: tuple[str, ...] = ()
) -> Identity:
    """The same as `recognise`, for a token from the header.

    The server's own client has a token, too, which is kept apart and compared first; so
    whatever is wrong with any other, it was not that one. Upstream:
    `AuthorizeClientBearerToken` in `apiserver/pkg/server/config.go`.
    """
    try:
        return await recognise(tokens, token, audiences)
    except AuthenticationError as error:
        raise AuthenticationError(aggregate([INVALID_TOKEN, str(error)])) from None


async def recognise(
    tokens: TokenAuthenticator, token: str, audiences: tuple[str, ...] = ()
) -> Identity:
    """Whose token it is. Raises AuthenticationError, also if nobody recognises it."""
    identity = await settled(tokens.authenticate_token(token, audiences))
    if identity is None:
        raise AuthenticationError(INVALID_TOKEN)
    return Identity(add_authenticated_group(identity.user), identity.audiences)


class StaticTokenAuthenticator:
    """Tokens that are known from the start and never expire."""

    def __init__(self, tokens: Mapping[str, UserInfo]) -> None:
        self._tokens = {token: Identity(user) for token, user in tokens.items()}

    def authenticate_token(
        self, token: str, audiences: tuple[str, ...] = ()
    ) -> Identity | None:
        """Whose token it is, if it is one of ours."""
        return self._tokens.get(token)
