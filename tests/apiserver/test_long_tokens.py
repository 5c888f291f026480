"""A token may have megabytes, whoever signed it, and everybody may show one: it is decoded beside the loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.loop.worker import LARGE
from lifecycle.api.names import NameSource
from lifecycle.apiserver.authn import jwt_authenticator
from lifecycle.apiserver.authn.authenticator import AuthenticationError
from lifecycle.apiserver.authn.jwt import ES256, SigningKey
from lifecycle.apiserver.authn.jwt_authenticator import JWTAuthenticator
from lifecycle.apiserver.authn.legacy_service_account import LegacyServiceAccountTokens
from lifecycle.apiserver.authn.service_account import ISSUER, ServiceAccountTokens
from lifecycle.apiserver.storage.object_reader import StaticReader

ACCOUNT: Object = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "sa", "namespace": "n", "uid": "u1"},
}
KEY = SigningKey(ES256)
LOOP = threading.current_thread().name


def issuer() -> ServiceAccountTokens:
    return ServiceAccountTokens(StaticReader([ACCOUNT]), Clock(), NameSource(1), key=KEY)


def long_and_short(issuer: str) -> list[str]:
    return [KEY.sign({"iss": issuer, "padding": "x" * padding}) for padding in (10, LARGE)]


def where(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[str]:
    """In which threads a function will have been called."""
    threads: list[str] = []
    function: Callable[..., Any] = getattr(owner, name)

    def watched(*args: Any) -> Any:
        threads.append(threading.current_thread().name)
        return function(*args)

    monkeypatch.setattr(owner, name, watched)
    return threads


def test_a_token_that_may_be_a_service_accounts(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = where(monkeypatch, SigningKey, "unverified_issuer")

    async def main() -> None:
        tokens = issuer()
        legacy = LegacyServiceAccountTokens(tokens)
        for token in long_and_short("another"):
            assert await tokens.authenticate_token(token) is None
            assert await legacy.authenticate_token(token) is None

    asyncio.run(main())
    assert threads[:2] == [LOOP, LOOP]
    assert [name.startswith("worker") for name in threads[2:]] == [True, True]


def test_a_token_that_may_be_an_identity_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = where(monkeypatch, jwt_authenticator, "untrusted_issuer")
    mappings = {"username": {"claim": "sub", "prefix": ""}}
    entry = {"issuer": {"url": "https://me.example", "audiences": ["a"]}, "claimMappings": mappings}

    async def main() -> None:
        tokens = JWTAuthenticator(entry, Clock())
        for token in long_and_short("https://another.example"):
            assert await tokens.authenticate_token(token) is None

    asyncio.run(main())
    assert threads[0] == LOOP
    assert threads[1].startswith("worker")


class Counted(str):
    """An audience that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_audiences_are_not_each_compared_with_all_others() -> None:
    async def main() -> None:
        tokens = issuer()
        token = tokens.issue(ACCOUNT, tuple(f"a{number}" for number in range(3_000)), 600)
        asked = tuple(Counted(f"b{number}") for number in range(3_000))
        with pytest.raises(AuthenticationError):
            await tokens.authenticate_token(token, asked)
        identity = await tokens.authenticate_token(token, (*asked, "a7", ISSUER))
        assert identity is not None
        assert identity.audiences == ("a7",)

    asyncio.run(main())
    assert Counted.compared < 3_000 * 10
