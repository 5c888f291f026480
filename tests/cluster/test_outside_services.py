"""What an identity provider and a webhook answer."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from lifecycle.api.http.wire import Request
from lifecycle.cluster.outside_services import IdentityProvider, LoopbackService, Webhook


@pytest.fixture
def provider() -> IdentityProvider:
    made = IdentityProvider()
    made.url = "https://127.0.0.1:1"
    return made


def claims(token: str) -> dict[str, Any]:
    body = token.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    return found


def refreshed(provider: IdentityProvider, form: str, method: str = "POST") -> tuple[int, Any]:
    return provider.answer(Request(method, "/token", body=form.encode()))


def test_a_provider_says_where_its_keys_are(provider: IdentityProvider) -> None:
    assert provider.answer(Request("GET", "/.well-known/openid-configuration")) == (
        200,
        {
            "issuer": "https://127.0.0.1:1",
            "jwks_uri": "https://127.0.0.1:1/keys",
            "token_endpoint": "https://127.0.0.1:1/token",
            "id_token_signing_alg_values_supported": ["ES256"],
        },
    )


def test_only_the_newest_key_is_published(provider: IdentityProvider) -> None:
    first = provider.answer(Request("GET", "/keys"))
    assert first == (200, {"keys": [provider.key.jwk()]})
    provider.change_key()
    second = provider.answer(Request("GET", "/keys"))
    assert second == (200, {"keys": [provider.key.jwk()]})
    assert second != first


def test_a_token_is_good_for_an_hour_and_says_what_it_is_told(provider: IdentityProvider) -> None:
    assert claims(provider.token(1000.7, sub="jane")) == {
        "iss": "https://127.0.0.1:1",
        "aud": "kubernetes",
        "iat": 1000,
        "exp": 4600,
        "sub": "jane",
    }
    assert claims(provider.token(1000, aud="other", exp=1001)) == {
        "iss": "https://127.0.0.1:1",
        "aud": "other",
        "iat": 1000,
        "exp": 1001,
    }


def test_a_refresh_token_is_good_once_and_brings_the_next(provider: IdentityProvider) -> None:
    provider.refreshable["r"] = {"sub": "jane"}
    status, answer = refreshed(provider, "grant_type=refresh_token&refresh_token=r")
    assert (status, answer["refresh_token"], answer["token_type"]) == (200, "r+", "Bearer")
    assert claims(answer["id_token"]) == {"iss": "https://127.0.0.1:1", "sub": "jane"}
    assert refreshed(provider, "grant_type=refresh_token&refresh_token=r") == (400, {"error": "invalid_grant"})
    status, answer = refreshed(provider, "grant_type=refresh_token&refresh_token=r%2B")
    assert (status, answer["refresh_token"]) == (200, "r++")


@pytest.mark.parametrize(
    "form", ["grant_type=password&refresh_token=r", "refresh_token=r", "grant_type=refresh_token", ""]
)
def test_any_other_grant_is_invalid(provider: IdentityProvider, form: str) -> None:
    provider.refreshable["r"] = {"sub": "jane"}
    assert refreshed(provider, form) == (400, {"error": "invalid_grant"})


@pytest.mark.parametrize(("method", "path"), [("GET", "/token"), ("GET", "/"), ("POST", "/keys/1")])
def test_nothing_else_is_found(provider: IdentityProvider, method: str, path: str) -> None:
    assert provider.answer(Request(method, path)) == (404, {"error": "not found"})


def review(**spec: Any) -> Request:
    return Request("POST", "/review", body=json.dumps({"kind": "SubjectAccessReview", "spec": spec}).encode())


def test_a_webhook_returns_the_review_with_its_status() -> None:
    webhook = Webhook(lambda spec: {"allowed": spec["user"] == "jane"})
    for user, allowed in (("jane", True), ("joe", False)):
        assert webhook.answer(review(user=user)) == (
            201,
            {"kind": "SubjectAccessReview", "spec": {"user": user}, "status": {"allowed": allowed}},
        )


def test_a_webhook_fails_as_often_as_it_is_told() -> None:
    webhook = Webhook(lambda spec: {})
    webhook.failures = 2
    failure = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "out to lunch", "code": 500}
    assert [webhook.answer(review()) for _ in range(2)] == [(500, failure)] * 2
    assert webhook.answer(review())[0] == 201


def test_a_webhooks_kubeconfig_leads_to_its_review(tmp_path: Path) -> None:
    webhook = Webhook(lambda spec: {})
    webhook.url = "https://127.0.0.1:2"
    path = webhook.write_kubeconfig(tmp_path / "config")
    assert path == tmp_path / "config"
    assert yaml.safe_load(path.read_text()) == {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "webhook",
                "cluster": {
                    "server": "https://127.0.0.1:2/review",
                    "certificate-authority-data": base64.b64encode(webhook.ca.encode()).decode(),
                },
            }
        ],
        "users": [{"name": "kube-apiserver", "user": {}}],
        "contexts": [{"name": "webhook", "context": {"cluster": "webhook", "user": "kube-apiserver"}}],
        "current-context": "webhook",
    }


def test_what_was_asked_is_kept_and_answered_as_json_over_tls() -> None:
    async def main() -> None:
        async with Webhook(lambda spec: {"allowed": True}) as webhook:
            trusted = ssl.create_default_context(cadata=webhook.ca)
            async with (
                aiohttp.ClientSession() as session,
                session.post(f"{webhook.url}/review", json={"spec": {"user": "jane"}}, ssl=trusted) as answer,
            ):
                assert (answer.status, answer.headers["Content-Type"]) == (201, "application/json")
                assert await answer.json() == {"spec": {"user": "jane"}, "status": {"allowed": True}}
            assert webhook.specs == [{"user": "jane"}]
            url = webhook.url
            await webhook.stop()
            async with aiohttp.ClientSession() as session:
                with pytest.raises(aiohttp.ClientConnectorError):
                    await session.get(url, ssl=trusted)

    asyncio.run(main())


def test_what_a_service_answers_is_up_to_its_kind() -> None:
    with pytest.raises(NotImplementedError):
        LoopbackService().answer(Request("GET", "/"))
