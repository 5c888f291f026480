"""Whoever shows nothing, or what is nothing."""

from __future__ import annotations

import pytest

from lifecycle.agreements.claim_checks.authenticating import identity, through
from lifecycle.api.wire import Request, UserInfo
from lifecycle.apiserver.authn.authenticator import Identity
from lifecycle.apiserver.authn.bearer_token import EXTRA_SPACE, BearerTokenAuthenticator
from lifecycle.apiserver.authn.union import Authenticator, UnionRequestAuthenticator
from lifecycle.cluster.rehearsal import on_virtual_time

NOBODY = UnionRequestAuthenticator()


@pytest.mark.parametrize(
    ("ours", "path", "let_in"),
    [
        (Authenticator(NOBODY, allow_anonymous=False), "/healthz", False),
        (Authenticator(NOBODY, allow_anonymous=False), "/healthz/etcd", False),
        (Authenticator(NOBODY, anonymous_paths=("/healthz",)), "/healthz", True),
        (Authenticator(NOBODY, anonymous_paths=("/healthz",)), "/healthz/etcd", False),
    ],
)
def test_where_nobody_may_be_anonymous_some_paths_may_still_be_for_all(
    ours: Authenticator, path: str, let_in: bool
) -> None:
    assert isinstance(identity(ours, path=path), Identity) is let_in


def test_two_spaces_before_a_token_are_no_token() -> None:
    _, [seen] = through("Bearer  s3cret")
    assert seen.user is not None
    assert seen.user.name == "system:anonymous"
    assert seen.warnings == [EXTRA_SPACE]


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer abc", "abc"),
        ("bearer abc", "abc"),  # a scheme may be written as one likes
        ("BEARER abc", "abc"),
        ("  Bearer abc  ", "abc"),
        ("Bearer abc def", "abc"),
        ("Basic abc", None),
        ("Bearerabc", None),
        ("Bearer", None),
        ("", None),
    ],
)
def test_which_token_a_header_holds(header: str, token: str | None) -> None:
    """Upstream: `bearertoken.AuthenticateRequest`."""

    class Tokens:
        def authenticate_token(self, token: str, audiences: tuple[str, ...] = ()) -> Identity:
            asked.append(token)
            return Identity(UserInfo("somebody"))

    asked = list[str]()
    request = Request("GET", "/", headers={"authorization": header} if header else {})
    found = on_virtual_time(BearerTokenAuthenticator(Tokens()).authenticate_request(request))
    assert asked == ([] if token is None else [token])
    assert (found is None) is (token is None)
