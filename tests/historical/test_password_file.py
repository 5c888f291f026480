"""User and password: compared with a file, and a wrong one is an answer of its own."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

import pytest

from lifecycle.api.http.wire import Request, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.authn.authenticator import AuthenticationError, Identity
from lifecycle.apiserver.authn.options import AuthenticationOptions, build_authentication
from lifecycle.apiserver.authn.union import Authenticator, UnionRequestAuthenticator
from lifecycle.historical.apiserver.password_file import BasicAuthAuthenticator, basic_credentials, read_password_file


def sent(header: str) -> Request:
    return Request("GET", "/api", headers={"authorization": header})


def basic(name: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def test_a_password_of_old_is_compared_and_a_wrong_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "passwords.csv"
    path.write_text('secret,jane,7,"devs,ops"\nother,joe,8\n')
    old = BasicAuthAuthenticator(read_password_file(path))

    def ask(name: str, password: str) -> Identity | None:
        return old.authenticate_request(sent(basic(name, password)))

    assert ask("jane", "secret") == Identity(UserInfo("jane", ("devs", "ops"), "7"))
    for name, password in (("jane", "wrong"), ("nobody", "secret")):
        with pytest.raises(AuthenticationError, match=r"invalid username/password combination$"):
            ask(name, password)
    assert old.authenticate_request(sent("Bearer x")) is None
    path.write_text("secret,jane\n")
    with pytest.raises(ValueError, match=r"must have at least 3 columns \(password, user name, user uid\), found 2$"):
        read_password_file(path)


def test_then_a_wrong_password_was_refused_where_today_its_sender_is_anonymous(tmp_path: Path) -> None:
    path = tmp_path / "passwords.csv"
    path.write_text("secret,jane,7\n")
    today = build_authentication(AuthenticationOptions(), Clock(), ())
    then = Authenticator(UnionRequestAuthenticator(BasicAuthAuthenticator(read_password_file(path)), *today.requests))

    async def scenario() -> None:
        for password in ("secret", "wrong"):
            now = await today.authenticator.authenticate_request(sent(basic("jane", password)))
            assert now.user.name == "system:anonymous"
        right = await then.authenticate_request(sent(basic("jane", "secret")))
        assert (right.user.name, right.user.uid) == ("jane", "7")
        with pytest.raises(AuthenticationError, match=r"invalid username/password combination$"):
            await then.authenticate_request(sent(basic("jane", "wrong")))

    asyncio.run(scenario())


@pytest.mark.parametrize("header", ["", "Basic", "Basic !!", "Basic amFuZQ==", "Digest amFuZTp4", "Basic /w=="])
def test_what_is_no_pair_of_user_and_password_is_no_credential(header: str) -> None:
    assert basic_credentials(header) is None
