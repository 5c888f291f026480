"""Several authenticators, asked in turn, and the groups that everybody gets.

A union remembers errors but goes on: the request may carry a second, valid credential.
Only when nobody recognised anyone do the errors count. Whoever was recognised joins
`system:authenticated`; whoever sent nothing at all is `system:anonymous`.

Upstream: `apiserver/pkg/authentication/request/union/union.go`, `token/union`,
`group/authenticated_group_adder.go`, `request/anonymous/anonymous.go`, put together in
`pkg/kubeapiserver/authenticator/config.go` (`Config.New`), v1.36.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from lifecycle.api.aggregate import aggregate
from lifecycle.api.http.wire import ANONYMOUS, Request, UserInfo
from lifecycle.apiserver.authn.authenticator import (
    ALL_AUTHENTICATED,
    ALL_UNAUTHENTICATED,
    AuthenticationError,
    Identity,
    RequestAuthenticator,
    TokenAuthenticator,
    settled,
)


class UnionRequestAuthenticator:
    """Asks each authenticator until one knows the user."""

    def __init__(self, *authenticators: RequestAuthenticator) -> None:
        self._authenticators = authenticators

    async def authenticate_request(self, request: Request) -> Identity | None:
        """The first identity; raises all errors together if there is none."""
        errors: list[str] = []
        for authenticator in self._authenticators:
            try:
                identity = await settled(authenticator.authenticate_request(request))
            except AuthenticationError as error:
                errors.append(str(error))
                continue
            if identity is not None:
                user = add_authenticated_group(identity.user)
                return (
                    identity
                    if user is identity.user
                    else Identity(user, identity.audiences)
                )
        if errors:
            raise AuthenticationError(aggregate(errors))
        return None


class UnionTokenAuthenticator:
    """The same for tokens."""

    def __init__(self, *authenticators: TokenAuthenticator) -> None:
        self._authenticators = authenticators

    async def authenticate_token(
        self, token: str, audiences: tuple[str, ...] = ()
    ) -> Identity | None:
        """The first identity; raises all errors together if there is none."""
        errors: list[str] = []
        for authenticator in self._authenticators:
            try:
                identity = await settled(
                    authenticator.authenticate_token(token, audiences)
                )
            except AuthenticationError as error:
                errors.append(str(error))
                continue
            if identity is not None:
                return identity
        if errors:
            raise AuthenticationError(aggregate(errors))
        return None


def add_authenticated_group(user: UserInfo) -> UserInfo:
    """The user as a member of `system:authenticated`, unless anonymous or already
    one.
    """
    if (
        user.name == ANONYMOUS.name
        or ALL_AUTHENTICATED in user.groups
        or ALL_UNAUTHENTICATED in user.groups
    ):
        return user
    return replace(user, groups=(*user.groups, ALL_AUTHENTICATED))


class Authenticator:
    """What the handler chain asks: some user, always, or an error.

    `allow_anonymous=False` turns requests without credentials into errors as well.
    `anonymous_paths`, if any, are the only ones on which a request may be anonymous
    (`/healthz`, say): the exact path, nothing below it.
    """

    def __init__(
        self,
        delegate: RequestAuthenticator,
        *,
        allow_anonymous: bool = True,
        anonymous_paths: Collection[str] = (),
    ) -> None:
        self._delegate = delegate
        self._allow_anonymous = allow_anonymous
        self._anonymous_paths = frozenset(anonymous_paths)

    async def authenticate_request(self, request: Request) -> Identity:
        """Who sent the request. Raises AuthenticationError."""
        identity = await settled(self._delegate.authenticate_request(request))
        if identity is not None:
            return identity
        if self._allow_anonymous and (
            not self._anonymous_paths or request.path in self._anonymous_paths
        ):
            return Identity(ANONYMOUS)
        raise AuthenticationError("no credentials provided")

    def limit_anonymous(self, allow: bool, paths: Collection[str] = ()) -> None:
        """Change who may be anonymous, from the next request on."""
        self._allow_anonymous, self._anonymous_paths = allow, frozenset(paths)
