"""The authentication table: full agreement with 1.36.2, twice; and it notices an authenticator that is too kind or too strict."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.agreements.apiserver.authentication import authentication_agreement, authentication_then_and_now
from lifecycle.api.http.wire import ANONYMOUS, Request, UserInfo
from lifecycle.apiserver.authn.authenticator import AuthenticationError, Identity
from lifecycle.apiserver.authn.union import Authenticator
from lifecycle.inspector import open_recording


@pytest.mark.parametrize("name", ["kind-1.36.2", "kind-1.36.2-again"])
def test_every_credential_is_answered_as_recorded(name: str) -> None:
    recording = open_recording(name)
    table = authentication_agreement(recording)
    assert table.equal, table.unexplained[:3]
    assert len(table.rows) == len(recording.exchanges("authn")) == 21
    assert set(table.freedoms) == {"times", "tokens", "uids", "certificates", "server address"}


def test_of_the_older_version_only_what_changed_since_differs() -> None:
    table = authentication_then_and_now(open_recording("bare-1.20.2"))
    assert table.unexplained == []
    assert {(known.id, count) for known, count in table.known.items()} == {
        ("constrained-impersonation", 1), ("who-am-i", 6), ("what-is-acceptable", 1),
    }  # fmt: skip


class Credulous:
    """A bad token is no token."""

    def __init__(self, ours: Authenticator) -> None:
        self.ours = ours

    async def authenticate_request(self, request: Request) -> Identity:
        try:
            return await self.ours.authenticate_request(request)
        except AuthenticationError:
            return Identity(ANONYMOUS)


class Suspicious(Credulous):
    """No credentials, no entry."""

    async def authenticate_request(self, request: Request) -> Identity:
        identity = await self.ours.authenticate_request(request)
        if identity.user == ANONYMOUS:
            raise AuthenticationError("no credentials provided")
        return identity


class Forgetful(Credulous):
    """Knows names, forgets groups."""

    async def authenticate_request(self, request: Request) -> Identity:
        identity = await self.ours.authenticate_request(request)
        return Identity(UserInfo(identity.user.name), identity.audiences)


@pytest.mark.parametrize(
    ("wrong", "moments"),
    [
        (Credulous, {"unknown bearer token", "bad token", "tampered signature"}),
        (Suspicious, {"no credentials", "anonymous list", "basic auth", "empty bearer", ""}),
    ],
)
def test_a_wrong_authenticator_turns_its_rows_red(wrong: Any, moments: set[str]) -> None:
    table = authentication_agreement(open_recording(), wrong)
    assert {row.stage.partition(":")[2].strip() for row in table.rows if not row.equal} == moments


def test_an_authenticator_that_forgets_groups_is_found_out() -> None:
    assert len(authentication_agreement(open_recording(), Forgetful).unexplained) > 20
