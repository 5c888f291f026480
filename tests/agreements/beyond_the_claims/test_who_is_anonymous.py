"""Whoever shows nothing, or what is nothing."""

from __future__ import annotations

import pytest

from lifecycle.agreements.claim_checks.authenticating import identity, through
from lifecycle.apiserver.authn.authenticator import Identity
from lifecycle.apiserver.authn.bearer_token import EXTRA_SPACE
from lifecycle.apiserver.authn.union import Authenticator, UnionRequestAuthenticator

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
