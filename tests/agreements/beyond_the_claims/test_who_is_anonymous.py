"""Whoever shows nothing, or what is nothing."""

from __future__ import annotations

import pytest

from lifecycle.agreements.claim_checks.authenticating import identity, through
from lifecycle.api.wire import Request, UserInfo
from lifecycle.apiserver.authn.authenticator import AuthenticationError, Identity
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


class _Says:
    """Recognises everybody, or fails, and notes that it was asked."""

    def __init__(self, name: str, answer: Identity | AuthenticationError | None) -> None:
        self.name, self.answer = name, answer

    def authenticate_request(self, request: Request) -> Identity | None:
        request.headers.setdefault("asked", "")
        request.headers["asked"] += self.name
        if isinstance(self.answer, AuthenticationError):
            raise self.answer
        return self.answer


JANE = Identity(UserInfo("jane", ("devs",)), ("api", "vault"))


def test_who_is_recognised_is_authenticated_and_stays_meant_for_the_same_audiences() -> None:
    found = on_virtual_time(UnionRequestAuthenticator(_Says("a", JANE)).authenticate_request(Request("GET", "/")))
    assert found == Identity(UserInfo("jane", ("devs", "system:authenticated")), ("api", "vault"))
    nobody = Identity(UserInfo("system:anonymous", ("system:unauthenticated",)), ("api",))
    found = on_virtual_time(UnionRequestAuthenticator(_Says("a", nobody)).authenticate_request(Request("GET", "/")))
    assert found == nobody


def test_who_fails_does_not_keep_the_others_from_being_asked() -> None:
    failed, silent = _Says("f", AuthenticationError("expired")), _Says("s", None)
    request = Request("GET", "/")
    found = on_virtual_time(
        UnionRequestAuthenticator(failed, silent, _Says("j", JANE), failed).authenticate_request(request)
    )
    assert found is not None
    assert found.user.name == "jane"
    assert request.headers["asked"] == "fsj"
    for all_of_them, error in (
        ([failed, silent, _Says("g", AuthenticationError("revoked"))], "expired.*revoked"),
        ([failed], "expired"),
    ):
        with pytest.raises(AuthenticationError, match=error):
            on_virtual_time(UnionRequestAuthenticator(*all_of_them).authenticate_request(Request("GET", "/")))
    assert on_virtual_time(UnionRequestAuthenticator(silent).authenticate_request(Request("GET", "/"))) is None


def test_who_shows_nothing_and_may_not_is_told_so() -> None:
    with pytest.raises(AuthenticationError, match=r"^no credentials provided$"):
        on_virtual_time(Authenticator(NOBODY, allow_anonymous=False).authenticate_request(Request("GET", "/api")))
