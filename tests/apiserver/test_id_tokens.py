"""ID tokens of identity providers: the cases of upstream's `oidc_test.go`, against a real provider on loopback."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from lifecycle.api.http.wire import Object, Request, Response, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.authn.authenticator import AuthenticationError, Identity
from lifecycle.apiserver.authn.configuration import ConfiguredTokens, validate_authentication_configuration
from lifecycle.apiserver.authn.id_token_verifier import untrusted_issuer
from lifecycle.apiserver.authn.jwt import ES256
from lifecycle.apiserver.authn.jwt_authenticator import JWTAuthenticator
from lifecycle.apiserver.cel.escaping import unescaped, without_escapes
from lifecycle.cluster.outside_services import IdentityProvider

NOW = 1257894000
"""2009-11-10 23:00:00 UTC"""
EMAIL: Object = {"username": {"claim": "email", "prefix": ""}}
NAME: Object = {"username": {"claim": "username", "prefix": ""}}
GROUPS: Object = {**NAME, "groups": {"claim": "groups", "prefix": ""}}


class TenSharp(Clock):
    """It is always the same moment."""

    def now(self) -> float:
        return float(NOW)


class Provider(IdentityProvider):
    """Also serves claims that tokens leave out: signed tokens, for whoever shows the right bearer token."""

    def __init__(self) -> None:
        super().__init__()
        self.elsewhere: dict[str, Object] = {}

    async def _serve(self, request: Request) -> Response:
        name = request.path.lstrip("/")
        if name not in self.elsewhere:
            return await super()._serve(request)
        if request.headers.get("authorization") != f"Bearer {name}_token":
            return Response(401, body=b"")
        claims = {"iss": self.url, "aud": "my-client", "exp": NOW + 3600, **self.elsewhere[name]}
        return Response(200, {"Content-Type": "application/jwt"}, body=self.key.sign(claims).encode())


def entry(provider: IdentityProvider, mappings: Object, audiences: list[str] | None = None, **more: Any) -> Object:
    audiences = audiences or ["my-client"]
    issuer: Object = {"url": provider.url, "certificateAuthority": provider.ca, "audiences": audiences}
    if len(audiences) > 1:
        issuer["audienceMatchPolicy"] = "MatchAny"
    return {"issuer": issuer, "claimMappings": mappings, **more}


async def whose(tokens: JWTAuthenticator, token: str) -> Identity | None:
    return await tokens.authenticate_token(token)


def with_provider(scenario: Callable[[Provider], Awaitable[None]]) -> None:
    async def main() -> None:
        async with Provider() as provider:
            await scenario(provider)

    asyncio.run(asyncio.wait_for(main(), 60))


def user_for(document: Object, claims: Object, elsewhere: Object | None = None) -> UserInfo | str | None:
    """The user a token with these claims is, why it is refused, or None. `$` in a text is the provider's URL."""
    found: list[UserInfo | str | None] = []

    async def scenario(provider: Provider) -> None:
        provider.elsewhere = elsewhere or {}
        defaults = {"iss": provider.url, "aud": "my-client", "exp": NOW + 3600}
        sent = json.loads(json.dumps({**defaults, **claims}).replace("$", provider.url))
        document["claimMappings"] = document.get("claimMappings") or NAME
        whole = entry(provider, **{"mappings": document["claimMappings"], **_but_mappings(document)})
        assert validate_authentication_configuration({"jwt": [whole]}) == []
        tokens = JWTAuthenticator(whole, TenSharp())
        try:
            identity = await whose(tokens, provider.key.sign({k: v for k, v in sent.items() if v is not None}))
        except AuthenticationError as error:
            found.append(str(error).replace(provider.url, "$"))
        else:
            found.append(identity.user if identity else None)

    with_provider(scenario)
    return found[0]


def _but_mappings(document: Object) -> Object:
    return {key: value for key, value in document.items() if key != "claimMappings"}


NOT_TEXT = "json: cannot unmarshal {} into Go value of type {}"


@pytest.mark.parametrize(
    ("mappings", "claims", "expected"),
    [
        (NAME, {"username": "jane"}, UserInfo("jane")),
        (NAME, {}, 'oidc: parse username claims "username": claim not present'),
        (EMAIL, {"email": "jane@example.com", "email_verified": True}, UserInfo("jane@example.com")),
        (EMAIL, {"email": "jane@example.com", "email_verified": False}, "oidc: email not verified"),
        (EMAIL, {"email": "jane@example.com"}, UserInfo("jane@example.com")),
        (
            EMAIL,
            {"email": "jane@example.com", "email_verified": "false"},
            f"oidc: parse 'email_verified' claim: {NOT_TEXT.format('string', 'bool')}",
        ),
        (GROUPS, {"username": "jane", "groups": ["a", "b"]}, UserInfo("jane", ("a", "b"))),
        (GROUPS, {"username": "jane", "groups": "a"}, UserInfo("jane", ("a",))),
        (GROUPS, {"username": "jane"}, UserInfo("jane")),
        (
            GROUPS,
            {"username": "jane", "groups": 42},
            f'oidc: parse groups claim "groups": {NOT_TEXT.format("number", "string")}',
        ),
        (
            {"username": {"claim": "username", "prefix": "oidc:"}, "groups": {"claim": "groups", "prefix": "groups:"}},
            {"username": "jane", "groups": ["a"]},
            UserInfo("oidc:jane", ("groups:a",)),
        ),
        (NAME, {"username": "", "jti": 1}, UserInfo("")),
        (NAME, {"username": "jane", "iss": "https://other"}, None),
        (
            NAME,
            {"username": "jane", "exp": NOW - 3600},
            "token is expired (Token Expiry: 2009-11-10 22:00:00 +0000 UTC)",
        ),
        (NAME, {"username": "jane", "exp": None}, "token is expired (Token Expiry: 0001-01-01 00:00:00 +0000 UTC)"),
        (NAME, {"username": "jane", "aud": ["other"]}, 'expected audience "my-client" got ["other"]'),
        (NAME, {"username": "jane", "aud": None}, 'expected audience "my-client" got []'),
        (NAME, {"username": "jane", "aud": ["other", "my-client"]}, UserInfo("jane")),
        (NAME, {"username": "jane", "nbf": NOW + 60}, UserInfo("jane")),
        (
            NAME,
            {"username": "jane", "nbf": NOW + 61},
            "current time 2009-11-10 23:00:00 +0000 UTC before the nbf (not before) time: 2009-11-10 23:01:01 +0000 UTC",
        ),
        (
            NAME,
            {"username": "jane", "exp": "tomorrow"},
            'failed to unmarshal claims: json: cannot unmarshal claim "exp"',
        ),
    ],
)
def test_claims_become_a_user_or_a_reason(mappings: Object, claims: Object, expected: UserInfo | str | None) -> None:
    found = user_for({"claimMappings": mappings}, claims)
    if isinstance(expected, str) and not expected.startswith("oidc:"):
        expected = f"oidc: verify token: oidc: {expected}"
    assert found == expected


def test_one_of_several_audiences_is_enough() -> None:
    several = {"audiences": ["random", "my-client"]}
    assert user_for(several, {"username": "jane"}) == UserInfo("jane")
    expected = 'oidc: verify token: oidc: expected audience in ["my-client" "random"] got ["other"]'
    assert user_for(several, {"username": "jane", "aud": "other"}) == expected


SOURCE = {
    "_claim_names": {"groups": "src1"},
    "_claim_sources": {"src1": {"endpoint": "$/groups", "access_token": "groups_token"}},
}
WRONG = "oidc: could not expand distributed claims: "


@pytest.mark.parametrize(
    ("claims", "elsewhere", "expected"),
    [
        (SOURCE, {"groups": {"groups": ["team1", "team2"]}}, ("team1", "team2")),
        (SOURCE, {"groups": {"groups": "team1"}}, ("team1",)),
        ({**SOURCE, "groups": ["own"]}, {"groups": {"groups": ["team1"]}}, ("own",)),
        ({**SOURCE, "_claim_names": {"groups": "src2"}}, {}, "oidc: verify token: oidc: source does not exist"),
        ({"_claim_names": {"groups": "src1"}}, {}, "oidc: verify token: oidc: source does not exist"),
        (
            {**SOURCE, "_claim_names": {"groups": ""}},
            {},
            "oidc: verify token: oidc: failed to obtain source from claim name",
        ),
        ({"_claim_names": {}}, {}, f"{WRONG}oidc: no claim sources"),
        ({**SOURCE, "_claim_names": {"roles": "src1"}}, {}, ()),
        ({**SOURCE, "_claim_sources": {"src1": {"JWT": "some.signed.claims"}}}, {}, ()),
        (
            SOURCE,
            {"groups": {}},
            f'{WRONG}jwt returned by distributed claim endpoint "$/groups" did not contain claim: groups',
        ),
        (
            SOURCE,
            {"groups": {"aud": "your-client", "groups": ["a"]}},
            f'{WRONG}verify distributed claim token: oidc: expected audience "my-client" got ["your-client"]',
        ),
        (
            SOURCE,
            {"groups": {"exp": NOW - 3600, "groups": ["a"]}},
            f"{WRONG}verify distributed claim token: oidc: token is expired (Token Expiry: 2009-11-10 22:00:00 +0000 UTC)",
        ),
        (
            SOURCE,
            {},
            f'{WRONG}while getting distributed claim "groups": error while getting distributed claim JWT: 404 Not Found',
        ),
        (
            {**SOURCE, "_claim_sources": {"src1": {"endpoint": "$/groups", "access_token": "guessed"}}},
            {"groups": {"groups": ["a"]}},
            f'{WRONG}while getting distributed claim "groups": error while getting distributed claim JWT: 401 Unauthorized',
        ),
        (
            SOURCE,
            {"groups": {"iss": "https://127.0.0.1:1", "groups": ["a"]}},
            f"{WRONG}verifying untrusted issuer https://127.0.0.1:1 failed: "
            'verifier not initialized for issuer: "https://127.0.0.1:1"',
        ),
    ],
)
def test_groups_may_be_kept_elsewhere(claims: Object, elsewhere: Object, expected: tuple[str, ...] | str) -> None:
    found = user_for({"claimMappings": GROUPS}, {"username": "jane", **claims}, elsewhere)
    assert found == (UserInfo("jane", expected) if isinstance(expected, tuple) else expected)


def test_another_algorithm_or_key_is_refused() -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    secret = "s" * 32

    async def scenario(provider: Provider) -> None:
        claims = {"iss": provider.url, "aud": "my-client", "exp": NOW + 3600, "username": "jane"}
        only = JWTAuthenticator(entry(provider, NAME), TenSharp(), ["RS256"])
        for algorithms, token, why in (
            (
                only,
                jwt.encode(claims, key, "PS256"),
                'oidc: id token signed with unsupported algorithm, expected ["RS256"] got "PS256"',
            ),
            (only, jwt.encode(claims, secret, "HS256"), 'expected ["RS256"] got "HS256"'),
            (only, jwt.encode(claims, "", "none"), 'expected ["RS256"] got "none"'),
            (
                JWTAuthenticator(entry(provider, NAME), TenSharp()),
                jwt.encode(claims, key, "RS256", headers={"kid": provider.key.key_id}),
                "failed to verify signature: failed to verify id token signature",
            ),
        ):
            with pytest.raises(AuthenticationError) as refused:
                await whose(algorithms, token)
            assert str(refused.value).startswith("oidc: verify token: ")
            assert str(refused.value).endswith(why)
        assert provider.key.algorithm == ES256

    with_provider(scenario)


@pytest.mark.parametrize(
    ("token", "why"),
    [
        ("", "malformed token"),
        ("a.b", "malformed token"),
        ('{"payload": "x"}', "token is not compact JWT"),
        ("a.!.c", "error decoding token"),
        (f"a.{base64.urlsafe_b64encode(b'[1]').decode()}.c", "while unmarshaling token"),
        ("a.eyJpc3MiOjF9.c", "while unmarshaling token"),
    ],
)
def test_what_is_no_token_is_nobodys(token: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{why}"):
        untrusted_issuer(token)


def test_google_may_leave_out_the_scheme() -> None:
    body = base64.urlsafe_b64encode(b'{"iss":"accounts.google.com"}').rstrip(b"=").decode()
    assert untrusted_issuer(f"a.{body}.c") == "https://accounts.google.com"


def test_a_way_to_the_provider_that_is_not_set_up_is_refused() -> None:
    issuer = {"url": "https://x", "audiences": ["a"], "egressSelectorType": "etcd"}
    document = {"jwt": [{"issuer": issuer, "claimMappings": NAME}]}
    (error,) = validate_authentication_configuration(document)
    assert str(error) == (
        'jwt[0].issuer.egressSelectorType: Invalid value: "etcd": egress selector must be either controlplane or cluster'
    )
    issuer["egressSelectorType"] = "cluster"
    with pytest.raises(ValueError, match=r'oidc: egress lookup required with egress selector type "cluster"$'):
        ConfiguredTokens(Clock()).reload(document)
    del issuer["egressSelectorType"]
    issuer["url"] = "https://x:port"
    (error,) = validate_authentication_configuration(document)
    assert str(error) == (
        'jwt[0].issuer.url: Invalid value: "https://x:port": parse "https://x:port": invalid port ":port" after host'
    )


# -- names that no identifier can be --------------------------------------------------------------------------------------

ACCOUNT = {
    "sub": "system:serviceaccount:kube-system:coredns",
    "jti": "ea28ed49",
    "kubernetes.io": {
        "namespace": "kube-system",
        "node": {"name": "127.0.0.1", "uid": "58456cb0"},
        "pod": {"name": "coredns-1", "uid": "778a530c"},
        "serviceaccount": {"name": "coredns", "uid": "a087d5a0"},
        "warnafter": 1700081020,
    },
    "data": [{"groups.io": "gen1"}],
}
MINE = "example.org/"
AROUND = "claims.kubernetes__dot__io"


def test_claims_with_dots_are_read_by_escapes_or_by_brackets() -> None:
    document: Object = {
        "claimValidationRules": [
            {"expression": f"claims.sub.endsWith({AROUND}.namespace + ':' + {AROUND}.serviceaccount.name)"},
            {
                "expression": f"has({AROUND}.pod.uid) && !has(claims.kubernetes__dot__com) && has(claims.data[0].groups__dot__io)"
            },
            {"expression": "has(claims.kubernetes__dot__io) && claims.data.all(each, has(each.groups__dot__io))"},
            {
                "expression": 'claims["kubernetes.io"]["node"]["uid"] != "" && claims["kubernetes__dot__io"].pod.uid != ""'
            },
            {"expression": 'claims[?"kubernetes.io"]["node"]["ip"].orValue(true)'},
            {"expression": "claims.?kubernetes__dot__io.?nothing.orValue('') == ''"},
            {"expression": "'kubernetes.io' in claims && !('kubernetes__dot__io' in claims)"},
            {"expression": "'claims.kubernetes__dot__io'.contains('__dot__')"},
        ],
        "claimMappings": {
            "username": {"expression": f'"system:serviceaccount:" + {AROUND}.namespace'},
            "uid": {"expression": f"{AROUND}.serviceaccount.uid"},
            "groups": {"expression": "[claims.data[0].groups__dot__io, dyn('')]"},
            "extra": [
                {"key": f"{MINE}pod-name", "valueExpression": f"{AROUND}.pod.name"},
                {"key": f"{MINE}warnafter", "valueExpression": f"string(int({AROUND}.warnafter))"},
                {"key": f"{MINE}number", "valueExpression": f"string({AROUND}.warnafter)"},
                {"key": f"{MINE}nothing", "valueExpression": "''"},
            ],
        },
        "userValidationRules": [
            {"expression": f'user.extra["{MINE}pod-name"][0].startsWith("coredns")'},
            {"expression": "user.extra.example__dot__org__slash__pod__dash__name == ['coredns-1']"},
            {"expression": "has(user.extra.example__dot__org__slash__warnafter) && user.extra.size() == 4"},
            {"expression": 'user.extra[?"example.org/missing"].orValue([]) == []'},
        ],
    }
    extra = {
        "authentication.kubernetes.io/credential-id": ("JTI=ea28ed49",),
        f"{MINE}pod-name": ("coredns-1",),
        f"{MINE}warnafter": ("1700081020",),
        f"{MINE}number": ("1.70008102e+09",),
    }
    assert user_for(document, ACCOUNT) == UserInfo("system:serviceaccount:kube-system", ("gen1",), "a087d5a0", extra)


def test_numbers_are_doubles_in_an_expression() -> None:
    fails = {"claimValidationRules": [{"expression": "claims.level + 1 == 2"}]}
    expected = "oidc: error evaluating claim validation expression: expression 'claims.level + 1 == 2' resulted in error: no such overload"
    assert user_for(fails, {"username": "jane", "level": 1}) == expected
    holds = {
        "claimValidationRules": [{"expression": "claims.level == 1 && claims.level + 1.0 > 1.5 && claims.level in [1]"}]
    }
    assert user_for(holds, {"username": "jane", "level": 1}) == UserInfo("jane")


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("a__dot__b", "a.b"),
        ("a__dash__b__slash__c", "a-b/c"),
        ("a__underscores__b", "a__b"),
        ("__in__", "in"),
        ("a__in__", "a__in__"),
        ("a__other__b", "a__other__b"),
        ("a_b", "a_b"),
        ("__underscores__dot__underscores__", "__dot__"),
    ],
)
def test_escapes_stand_for_signs(name: str, plain: str) -> None:
    """As in upstream's `escaping_test.go`."""
    assert unescaped(name) == plain


def test_only_fields_and_keys_are_rewritten() -> None:
    for written, meant in (
        ("claims.a__dot__b.c", 'claims["a.b"].c'),
        ("claims . ?a__dot__b", 'claims [?"a.b"]'),
        ("has(claims.x[')'].a__dot__b)", "(\"a.b\" in (claims.x[')']))"),
        ("claims.f__dot__g()", "claims.f__dot__g()"),
        ("a__dot__b", "a__dot__b"),
        ("['a__dot__b'] + ['x']", "[\"a.b\"] + ['x']"),
        ("r'__dot__' == '.a__dot__b'", "r'__dot__' == '.a__dot__b'"),
    ):
        assert without_escapes(written) == meant
