"""Who vouches for users from outside: identity providers, a token webhook, a front proxy, and the passwords of old."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from lifecycle.api.http.wire import Request, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.authn.authenticator import AuthenticationError, Identity
from lifecycle.apiserver.authn.client_ca import ClientCAVerifier
from lifecycle.apiserver.authn.configuration import validate_authentication_configuration
from lifecycle.apiserver.authn.jwt import ES256, SigningKey
from lifecycle.apiserver.authn.options import Authentication, AuthenticationOptions, build_authentication, oidc_issuer
from lifecycle.apiserver.authn.request_header import RequestHeaderConfig
from lifecycle.apiserver.authn.websocket_protocol import PREFIX
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.cluster.outside_services import IdentityProvider, Webhook


def on_a_loop(scenario: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(scenario(), 20))  # type: ignore[arg-type]


def guards(options: AuthenticationOptions, **more: Any) -> Authentication:
    return build_authentication(options, Clock(), (), **more)


async def whose(authentication: Authentication, header: str = "", **more: Any) -> Identity:
    request = more.pop("request", None) or Request("GET", more.pop("path", "/api"), **more)
    if header:
        request.headers["authorization"] = header

    return await authentication.authenticator.authenticate_request(request)


def der(authority: CertificateAuthority, name: str, *groups: str) -> bytes:
    pem, _ = authority.client_certificate(name, groups)
    return x509.load_pem_x509_certificate(pem).public_bytes(Encoding.DER)


# -- identity providers ---------------------------------------------------------------------------------------------------


def configured(provider: IdentityProvider, **entry: Any) -> dict[str, Any]:
    mappings = {"username": {"claim": "sub", "prefix": "oidc:"}, "groups": {"claim": "roles", "prefix": "oidc:"}}
    issuer = {"url": provider.url, "certificateAuthority": provider.ca, "audiences": ["kubernetes"]}
    return {"jwt": [{"issuer": issuer, "claimMappings": mappings, **entry}]}


def test_a_providers_token_becomes_a_user() -> None:
    async def scenario() -> None:
        async with IdentityProvider() as provider:
            ours = guards(AuthenticationOptions(configuration=configured(provider)))
            token = provider.token(time.time(), sub="jane", roles=["devs", "ops"], jti="17")
            identity = await whose(ours, f"Bearer {token}")
            assert identity.user.name == "oidc:jane"
            assert identity.user.groups == ("oidc:devs", "oidc:ops", "system:authenticated")
            assert identity.user.extra == {"authentication.kubernetes.io/credential-id": ("JTI=17",)}
            asked = [request.path for request in provider.requests]
            assert asked == ["/.well-known/openid-configuration", "/keys"]
            await whose(ours, f"Bearer {token}")
            assert len(provider.requests) == 2, "keys are asked for once"
            provider.change_key()
            assert (await whose(ours, f"Bearer {provider.token(time.time(), sub='joe')}")).user.name == "oidc:joe"
            assert [request.path for request in provider.requests] == [*asked, "/keys"]

    on_a_loop(scenario)


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"sub": "jane", "aud": "other"}, 'verify token: oidc: expected audience "kubernetes" got ["other"]'),
        (
            {"sub": "jane", "exp": 5},
            "verify token: oidc: token is expired (Token Expiry: 1970-01-01 00:00:05 +0000 UTC)",
        ),
        ({}, 'parse username claims "sub": claim not present'),
        ({"sub": 5}, 'parse username claims "sub": json: cannot unmarshal number into Go value of type string'),
        (
            {"sub": "j", "roles": 7},
            'parse groups claim "roles": json: cannot unmarshal number into Go value of type string',
        ),
    ],
)
def test_what_is_wrong_with_a_token_is_told_in_upstreams_words(claims: dict[str, Any], why: str) -> None:
    async def scenario() -> None:
        async with IdentityProvider() as provider:
            ours = guards(AuthenticationOptions(configuration=configured(provider)))
            with pytest.raises(AuthenticationError) as wrong:
                await whose(ours, f"Bearer {provider.token(time.time(), **claims)}")
            assert str(wrong.value) == f"[invalid bearer token, oidc: {why}]"

    on_a_loop(scenario)


def test_a_forged_signature_and_a_strangers_token_are_refused() -> None:
    async def scenario() -> None:
        async with IdentityProvider() as provider, IdentityProvider() as stranger:
            ours = guards(AuthenticationOptions(configuration=configured(provider)))
            claims = {"iss": provider.url, "aud": "kubernetes", "sub": "jane", "exp": time.time() + 60}
            with pytest.raises(AuthenticationError, match=r"failed to verify id token signature\]$"):
                await whose(ours, f"Bearer {SigningKey(ES256).sign(claims)}")
            with pytest.raises(AuthenticationError, match=r"invalid bearer token$"):
                await whose(ours, f"Bearer {stranger.token(time.time(), sub='jane')}")
            assert stranger.requests == [], "who is not configured is not asked"

    on_a_loop(scenario)


def test_expressions_map_and_judge() -> None:
    async def scenario() -> None:
        async with IdentityProvider() as provider:
            document = configured(
                provider,
                claimMappings={
                    "username": {"expression": "'corp:' + claims.sub"},
                    "groups": {"expression": "claims.roles.map(role, 'team:' + role)"},
                    "uid": {"claim": "oid"},
                    "extra": [{"key": "example.com/tenant", "valueExpression": "claims.tenant"}],
                },
                claimValidationRules=[
                    {"claim": "hd", "requiredValue": "corp.example"},
                    {
                        "expression": "claims.exp - claims.iat <= 86400",
                        "message": "total token lifetime must not exceed 24 hours",
                    },
                ],
                userValidationRules=[
                    {"expression": "!user.username.endsWith('root')", "message": "username cannot be root"}
                ],
            )
            ours = guards(AuthenticationOptions(configuration=document))
            good = {"sub": "jane", "roles": ["devs"], "oid": "u1", "tenant": ["t1"], "hd": "corp.example"}
            user = (await whose(ours, f"Bearer {provider.token(time.time(), **good)}")).user
            assert user == UserInfo(
                "corp:jane", ("team:devs", "system:authenticated"), "u1", {"example.com/tenant": ("t1",)}
            )
            bad = {
                "oidc: required claim hd value does not match. Got = other, want = corp.example": {"hd": "other"},
                "oidc: error evaluating claim validation expression: validation expression 'claims.exp - claims.iat <= 86400' "
                "failed: total token lifetime must not exceed 24 hours": {"exp": int(time.time()) + 100_000},
                "oidc: error evaluating user info validation rule: validation expression '!user.username.endsWith('root')' "
                "failed: username cannot be root": {"sub": "root"},
                "oidc: error evaluating group claim expression: expression 'claims.roles.map(role, 'team:' + role)' resulted in "
                "error: no such key: roles": {"roles": None},
            }
            for message, changed in bad.items():
                claims = {key: value for key, value in {**good, **changed}.items() if value is not None}
                with pytest.raises(AuthenticationError) as wrong:
                    await whose(ours, f"Bearer {provider.token(time.time(), **claims)}")
                assert str(wrong.value) == f"[invalid bearer token, {message}]"

    on_a_loop(scenario)


def test_several_issuers_and_a_new_configuration_while_serving() -> None:
    async def scenario() -> None:
        async with IdentityProvider() as one, IdentityProvider() as two:
            ours = guards(AuthenticationOptions(configuration=configured(one)))
            mine, theirs = (f"Bearer {each.token(time.time(), sub='jane')}" for each in (one, two))
            assert (await whose(ours, mine)).user.name == "oidc:jane"
            with pytest.raises(AuthenticationError):
                await whose(ours, theirs)
            ours.reload({"jwt": configured(one)["jwt"] + configured(two)["jwt"]})
            assert (await whose(ours, theirs)).user.name == "oidc:jane"
            with pytest.raises(
                ValueError,
                match=r'invalid authentication configuration: jwt\[0\].issuer.url: Invalid value: "http://x": URL scheme must be https$',
            ):
                ours.reload({"jwt": [{**configured(two)["jwt"][0], "issuer": {"url": "http://x", "audiences": ["a"]}}]})
            assert (await whose(ours, theirs)).user.name == "oidc:jane", "the last good configuration stays in force"

    on_a_loop(scenario)


def test_a_provider_that_is_away_is_asked_again_only_later() -> None:
    async def scenario() -> None:
        async with IdentityProvider() as provider:
            document, token = configured(provider), provider.token(time.time(), sub="jane")
        ours = guards(AuthenticationOptions(configuration=document))
        for _ in range(3):
            with pytest.raises(
                AuthenticationError, match=r"\[invalid bearer token, oidc: authenticator not initialized\]$"
            ):
                await whose(ours, f"Bearer {token}")
        assert ours.configured.issuers[0].keys.fetches == 1

    on_a_loop(scenario)


def test_the_flags_of_old_put_the_issuer_before_the_name() -> None:
    entry = oidc_issuer("https://idp", "kubernetes", groups="roles")
    assert entry["claimMappings"]["username"] == {"claim": "sub", "prefix": "https://idp#"}
    assert oidc_issuer("https://idp", "k", username="email")["claimMappings"]["username"]["prefix"] == ""
    assert oidc_issuer("https://idp", "k", prefix="-")["claimMappings"]["username"]["prefix"] == ""


def test_a_configuration_is_checked_before_it_counts() -> None:
    issuer = {"url": "https://a", "audiences": ["k"]}
    name = {"username": {"claim": "sub", "prefix": ""}}

    def wrong(**entry: Any) -> list[str]:
        document = {"jwt": [{"issuer": issuer, "claimMappings": name, **entry}]}
        return [str(error) for error in validate_authentication_configuration(document, ["https://own"])]

    assert wrong() == []
    assert wrong(issuer={"url": "https://own", "audiences": ["a", "a"]}) == [
        'jwt[0].issuer.url: Invalid value: "https://own": URL must not overlap with disallowed issuers: [https://own]',
        'jwt[0].issuer.audiences[1]: Duplicate value: "a"',
        'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences',
    ]
    assert wrong(claimMappings={"username": {"claim": "sub"}}) == [
        "jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. "
        "It can be set to an empty string to disable prefixing"
    ]
    assert "claims.email_verified must be used" in wrong(claimMappings={"username": {"expression": "claims.email"}})[0]
    email = {"username": {"expression": "claims.email"}}
    for rule in ("claims.?email_verified.orValue(true) == true", "has(claims.email_verified)"):
        assert wrong(claimMappings=email, claimValidationRules=[{"expression": rule}]) == []
    for rule in ("has(claims.email_verified_)", "'claims.email_verified' != ''"):
        assert wrong(claimMappings=email, claimValidationRules=[{"expression": rule}]) != []
    assert wrong(claimValidationRules=[{"expression": "claims.email_verified"}]) == [
        'jwt[0].claimValidationRules[0].expression: Invalid value: "claims.email_verified": must evaluate to bool'
    ]
    assert wrong(userValidationRules=[{"expression": "user.name == 'x'"}])[0].startswith(
        "jwt[0].userValidationRules[0].expression: Invalid value: \"user.name == 'x'\": compilation failed: ERROR: "
        "<input>:1:5: undefined field 'name'"
    )
    assert wrong(claimValidationRules=[{}]) == [
        "jwt[0].claimValidationRules[0]: Required value: claim or expression is required"
    ]
    assert wrong(claimValidationRules=[{"expression": "claims."}])[0].startswith(
        'jwt[0].claimValidationRules[0].expression: Invalid value: "claims.": compilation failed: ERROR:'
    )
    extra = {**name, "extra": [{"key": "x.k8s.io/A", "valueExpression": "claims.a"}]}
    assert [each.partition(": ")[2] for each in wrong(claimMappings=extra)] == [
        'Invalid value: "x.k8s.io/A": must be lowercase',
        'Invalid value: "x.k8s.io/A": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use',
    ]


# -- anonymous requests -----------------------------------------------------------------------------------------------------


def test_anonymous_only_where_allowed() -> None:
    async def scenario() -> None:
        anonymous = {"enabled": True, "conditions": [{"path": "/healthz"}]}
        ours = guards(AuthenticationOptions(configuration={"anonymous": anonymous}))
        assert (await whose(ours, path="/healthz")).user.name == "system:anonymous"
        for path in ("/healthz/", "/api"):
            with pytest.raises(AuthenticationError):
                await whose(ours, path=path)
        with pytest.raises(ValueError, match=r"enabled should be set to true when conditions are defined$"):
            ours.reload({"anonymous": {"enabled": False, "conditions": [{"path": "/healthz"}]}})

    on_a_loop(scenario)


# -- the token webhook --------------------------------------------------------------------------------------------------------


def test_a_webhook_recognises_tokens_and_is_asked_once(tmp_path: Path) -> None:
    def decide(spec: dict[str, Any]) -> dict[str, Any]:
        if spec["token"] != "good":
            return {"authenticated": False} if spec["token"] == "bad" else {"error": "who knows"}
        user = {"username": "jane", "groups": ["devs"], "extra": {"scopes": ["view"]}}
        return {"authenticated": True, "user": user, "audiences": ["api"]}

    async def scenario() -> None:
        async with Webhook(decide) as webhook:
            options = AuthenticationOptions(webhook_config_file=webhook.write_kubeconfig(tmp_path / "webhook"))
            ours = guards(options, audiences=("api",))
            for _ in range(3):
                identity = await whose(ours, "Bearer good")
                assert identity.user == UserInfo("jane", ("devs", "system:authenticated"), "", {"scopes": ("view",)})
                assert identity.audiences == ("api",)
                with pytest.raises(AuthenticationError, match=r"invalid bearer token$"):
                    await whose(ours, "Bearer bad")
            assert len(webhook.requests) == 2, "a yes and a no are both remembered"
            for _ in range(2):
                with pytest.raises(AuthenticationError, match=r"\[invalid bearer token, who knows\]$"):
                    await whose(ours, "Bearer strange")
            assert len(webhook.requests) == 4, "an error is not"
            sent = webhook.requests[0]
            assert webhook.specs[0] == {"token": "good", "audiences": ["api"]}
            assert sent.query == {"timeout": ["30s"]}
            assert b'"apiVersion":"authentication.k8s.io/v1beta1"' in sent.body
        with pytest.raises(AuthenticationError, match=r"connect: connection refused\]$"):
            await whose(ours, "Bearer other")

    on_a_loop(scenario)


# -- the front proxy -----------------------------------------------------------------------------------------------------------


def test_headers_count_only_beside_the_proxys_certificate() -> None:
    async def scenario() -> None:
        clients, proxies = CertificateAuthority(), CertificateAuthority()
        options = AuthenticationOptions(request_header=RequestHeaderConfig(proxies.ca_pem), client_ca=clients.ca_pem)
        ours = guards(options)

        async def ask(certificate: bytes | None) -> tuple[Identity, Request]:
            headers = {
                "x-remote-user": "jane",
                "x-remote-group": "devs\nops",
                "x-remote-extra-acme.io%2fscope": "all",
                "accept": "x",
            }
            request = Request("GET", "/api", headers=headers, peer_certificate=certificate)
            return await whose(ours, request=request), request

        identity, request = await ask(der(proxies, "front-proxy-client"))
        assert identity.user == UserInfo(
            "jane", ("devs", "ops", "system:authenticated"), "", {"acme.io/scope": ("all",)}
        )
        assert request.headers == {"accept": "x"}, "nobody further in shall see the proxy's word"
        assert (await ask(der(clients, "joe", "devs")))[0].user.name == "joe"
        assert (await ask(None))[0].user.name == "system:anonymous"
        with pytest.raises(
            AuthenticationError,
            match=r"\[x509: subject with cn=mallory is not in the allowed list, x509: certificate signed by unknown authority\]$",
        ):
            await ask(der(proxies, "mallory"))
        with pytest.raises(AuthenticationError, match=r"x509: certificate signed by unknown authority$"):
            await ask(der(CertificateAuthority(), "front-proxy-client"))

    on_a_loop(scenario)


def test_a_servers_certificate_is_no_clients() -> None:
    authority = CertificateAuthority()
    pem, _ = authority.server_certificate()
    server = x509.load_pem_x509_certificate(pem).public_bytes(Encoding.DER)
    with pytest.raises(AuthenticationError, match=r"x509: certificate specifies an incompatible key usage$"):
        ClientCAVerifier(authority.ca_pem).verify(server)


# -- files, and headers ----------------------------------------------------------------------------------------------------------


def test_the_union_asks_in_upstreams_order(tmp_path: Path) -> None:
    authority = CertificateAuthority()
    (tmp_path / "tokens.csv").write_text('secret,jane,7,"devs,ops"\n')
    options = AuthenticationOptions(
        token_auth_file=tmp_path / "tokens.csv",
        request_header=RequestHeaderConfig(authority.ca_pem),
    )
    names = [type(each).__name__ for each in guards(options).requests]
    assert names == [
        "RequestHeaderAuthenticator", "X509Authenticator",
        "BearerTokenAuthenticator", "WebSocketProtocolAuthenticator",
    ]  # fmt: skip

    async def scenario() -> None:
        assert (await whose(guards(options), "Bearer secret")).user.groups == ("devs", "ops", "system:authenticated")
        assert [type(each).__name__ for each in guards(AuthenticationOptions(x509=False)).requests] == names[2:]

    on_a_loop(scenario)


def test_a_token_may_come_as_a_websockets_protocol() -> None:
    async def scenario() -> None:
        ours = guards(AuthenticationOptions(), static_tokens={"s3cret": UserInfo("jane")})

        def request(*protocols: str) -> Request:
            return Request("GET", "/", headers={"upgrade": "websocket", "sec-websocket-protocol": ", ".join(protocols)})

        token = PREFIX + base64.urlsafe_b64encode(b"s3cret").decode().rstrip("=")
        sent = request(token, "v4.channel.k8s.io")
        assert (await whose(ours, request=sent)).user.name == "jane"
        assert sent.headers["sec-websocket-protocol"] == "v4.channel.k8s.io"
        with pytest.raises(AuthenticationError, match=r"missing additional subprotocol$"):
            await whose(ours, request=request(token))
        with pytest.raises(AuthenticationError, match=r"multiple base64\.bearer\.authorization tokens specified$"):
            await whose(ours, request=request(token, token, "v4.channel.k8s.io"))
        assert (await whose(ours, request=request("v4.channel.k8s.io"))).user.name == "system:anonymous"

    on_a_loop(scenario)
