"""Authentication: the recorded scenario through the whole chain, and each authenticator by itself."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest

from lifecycle.api import fast_json
from lifecycle.api.http.wire import ANONYMOUS, Object, Request, RequestInfo, UserInfo
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, Clock, format_time, run_virtual
from lifecycle.api.names import NameSource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.authn.authenticator import AuthenticationError
from lifecycle.apiserver.authn.bearer_token import BearerTokenAuthenticator, StaticTokenAuthenticator
from lifecycle.apiserver.authn.bootstrap_token import BootstrapTokenAuthenticator
from lifecycle.apiserver.authn.jwt import ES256, RS256, SigningKey, TokenFormatError
from lifecycle.apiserver.authn.service_account import ISSUER, ServiceAccountTokens, split_username
from lifecycle.apiserver.authn.token_request import EXTENDED_SECONDS, WARN_ONLY_SECONDS, TokenRequests
from lifecycle.apiserver.authn.union import Authenticator, UnionRequestAuthenticator
from lifecycle.apiserver.authn.x509 import X509Authenticator, common_name_user_conversion
from lifecycle.apiserver.storage.object_reader import StaticReader
from tests.apiserver.recorded_exchanges import Replay, basic, client_certificate, exchanges

DEFAULT_ACCOUNT: Object = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "default", "namespace": "default"},
}


@pytest.mark.parametrize("recording", ["kind-1.36.2", "kind-1.36.2-again"])
def test_the_recorded_scenario_gets_the_recorded_answers(recording: str) -> None:
    async def main() -> dict[int, list[str]]:
        replay = Replay()
        await replay.start()
        await replay.write(DEFAULT_ACCOUNT)
        found = {}
        for exchange in exchanges("authn", recording):
            differences = await replay.differences(exchange)
            if differences:
                found[exchange["n"]] = differences
        return found

    assert run_virtual(main()) == {}


# -- certificates -----------------------------------------------------------------------------------------------------


def test_a_certificates_subject_is_the_user() -> None:
    request = Request("GET", "/", peer_certificate=client_certificate("jane", "devs", "ops"))
    identity = X509Authenticator().authenticate_request(request)
    assert identity is not None
    assert identity.user.name == "jane"
    assert identity.user.groups == ("devs", "ops", "system:authenticated")
    (credential,) = identity.user.extra["authentication.kubernetes.io/credential-id"]
    assert credential.startswith("X509SHA256=")


def test_without_a_name_or_a_readable_certificate_there_is_no_user() -> None:
    assert X509Authenticator().authenticate_request(Request("GET", "/")) is None
    assert common_name_user_conversion(client_certificate("", "devs"))[0] is None
    with pytest.raises(AuthenticationError):
        X509Authenticator().authenticate_request(Request("GET", "/", peer_certificate=b"not DER"))


# -- tokens -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "user"),
    [
        ("Bearer good", "jane"),
        ("bearer good", "jane"),
        ("Bearer good and more", "jane"),
        ("Bearer", None),
        ("Bearer ", None),
        ("Basic " + "x", None),
        (basic("jane", "secret"), None),
        ("", None),
    ],
)
def test_only_a_named_bearer_token_is_a_credential(header: str, user: str | None) -> None:
    authenticator = Authenticator(BearerTokenAuthenticator(StaticTokenAuthenticator({"good": UserInfo("jane")})))
    identity = asyncio.run(authenticator.authenticate_request(Request("GET", "/", headers={"authorization": header})))
    assert identity.user.name == (user or ANONYMOUS.name)
    assert ("system:authenticated" in identity.user.groups) is (user is not None)


@pytest.mark.parametrize(("header", "warned"), [("Bearer  good", True), ("Bearer ", False), ("Bearer good a", False)])
def test_a_token_after_two_spaces_is_overlooked_with_a_warning(header: str, warned: bool) -> None:
    authenticator = BearerTokenAuthenticator(StaticTokenAuthenticator({"good": UserInfo("jane")}))
    request = Request("GET", "/", headers={"authorization": header})
    assert (asyncio.run(authenticator.authenticate_request(request)) is None) is (header != "Bearer good a")
    text = "the provided Authorization header contains extra space before the bearer token, and is ignored"
    assert request.warnings == [text] * warned


def test_an_unknown_token_is_not_anonymous() -> None:
    tokens = BearerTokenAuthenticator(StaticTokenAuthenticator({}))
    authenticator = Authenticator(UnionRequestAuthenticator(X509Authenticator(), tokens))
    request = Request("GET", "/", headers={"authorization": "Bearer bad"})
    with pytest.raises(AuthenticationError):
        asyncio.run(authenticator.authenticate_request(request))
    request.peer_certificate = client_certificate("jane")  # a certificate beside it decides first
    assert asyncio.run(authenticator.authenticate_request(request)).user.name == "jane"
    with pytest.raises(AuthenticationError):
        asyncio.run(Authenticator(tokens, allow_anonymous=False).authenticate_request(Request("GET", "/")))


# -- service accounts -------------------------------------------------------------------------------------------------


def account(uid: str = "u1", **meta: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "sa", "namespace": "n", "uid": uid, **meta},
    }


def pod(uid: str = "p1", **meta: str) -> Object:
    spec = {"serviceAccountName": "sa", "nodeName": "here", "containers": []}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pod", "namespace": "n", "uid": uid, **meta},
        "spec": spec,
    }


NODE: Object = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "here", "uid": "n1"}}


def issuer(*objects: Object) -> tuple[ServiceAccountTokens, StaticReader]:
    reader = StaticReader(objects)
    return ServiceAccountTokens(reader, Clock(), NameSource(1), key=SigningKey(ES256)), reader


def test_a_token_names_its_account_and_what_it_is_bound_to() -> None:
    async def main() -> None:
        tokens, _ = issuer(account(), pod(), NODE)
        token = tokens.issue(account(), (ISSUER,), 600, bound={"pod": pod(), "node": NODE})
        identity = await tokens.authenticate_token(token)
        assert identity is not None
        assert identity.audiences == (ISSUER,)
        user = identity.user
        assert (user.name, user.uid) == ("system:serviceaccount:n:sa", "u1")
        assert user.groups == ("system:serviceaccounts", "system:serviceaccounts:n")
        prefix = "authentication.kubernetes.io/"
        assert {key.removeprefix(prefix): value for key, value in user.extra.items() if "credential" not in key} == {
            "pod-name": ("pod",),
            "pod-uid": ("p1",),
            "node-name": ("here",),
            "node-uid": ("n1",),
        }

    run_virtual(main())


def test_a_token_ends_with_its_time_its_account_and_its_pod() -> None:
    async def main() -> None:
        tokens, reader = issuer(account(), pod())
        token = tokens.issue(account(), (ISSUER,), 600, bound={"pod": pod()})
        assert await tokens.authenticate_token(token)
        await asyncio.sleep(599)
        assert await tokens.authenticate_token(token)
        await asyncio.sleep(62)  # past the leeway for clocks that differ
        with pytest.raises(AuthenticationError, match=r"service account token has expired$"):
            await tokens.authenticate_token(token)

        token = tokens.issue(account(), (ISSUER,), 6000, bound={"pod": pod()})
        assert await tokens.authenticate_token(token)
        reader.put(pod(uid="p2"))
        assert await tokens.authenticate_token(token)  # remembered for a moment
        await asyncio.sleep(11)
        with pytest.raises(AuthenticationError, match=r"service account token has been invalidated$"):
            await tokens.authenticate_token(token)
        reader.put(pod(deletionTimestamp=format_time(VIRTUAL_EPOCH)))
        with pytest.raises(AuthenticationError, match=r"service account token has been invalidated$"):
            await tokens.authenticate_token(token)
        reader.put(pod())
        assert await tokens.authenticate_token(token)
        await asyncio.sleep(11)
        reader.put(account(uid="u2"))
        with pytest.raises(
            AuthenticationError, match=r"service account UID does not match claim, or account has been deleted$"
        ):
            await tokens.authenticate_token(token)

    run_virtual(main())


def test_a_token_for_others_is_not_for_the_api_server() -> None:
    async def main() -> None:
        tokens, _ = issuer(account())
        token = tokens.issue(account(), ("vault",), 600)
        with pytest.raises(
            AuthenticationError,
            match=r'token audiences \["vault"\] is invalid for the target audiences \["https://kubernetes\.default\.svc\.cluster\.local"\]$',
        ):
            await tokens.authenticate_token(token)
        identity = await tokens.authenticate_token(token, ("vault", "x"))
        assert identity is not None
        assert identity.audiences == ("vault",)

    run_virtual(main())


@pytest.mark.parametrize("algorithm", [RS256, ES256])
def test_a_signature_is_good_for_exactly_what_was_signed(algorithm: str) -> None:
    key = SigningKey(algorithm)
    token = key.sign({"iss": "me", "n": 1})
    assert key.verify(token) == {"iss": "me", "n": 1}
    header, claims, signature = token.split(".")
    forged = base64.urlsafe_b64encode(b'{"iss":"me","n":2}').rstrip(b"=").decode()
    none = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
    bad = [
        f"{header}.{forged}.{signature}",
        f"{none}.{claims}.",
        f"{none}.{claims}.{signature}",
        f"{header}.{claims}.",
        f"{header}.{claims}.{signature[:-6]}AAAAAA",
        "",
        "..",
        "a.b.c",
        "no token",
    ]
    for text in bad:
        with pytest.raises(TokenFormatError):
            key.verify(text)
    with pytest.raises(TokenFormatError):
        SigningKey(algorithm).verify(token)  # another key
    assert key.jwk()["kid"] == fast_json.loads(base64.urlsafe_b64decode(header + "=="))["kid"]


def test_splitting_a_username_needs_both_parts() -> None:
    assert split_username("system:serviceaccount:a:b") == ("a", "b")
    for name in ("system:serviceaccount:a", "system:serviceaccount::b", "system:serviceaccount:a:b:c", "a:b"):
        assert split_username(name) is None


# -- token requests ---------------------------------------------------------------------------------------------------


async def token_request(tokens: ServiceAccountTokens, **spec: Any) -> Object:
    info = RequestInfo(True, "", "create", namespace="n", resource="serviceaccounts", subresource="token", name="sa")

    async def anything_goes(obj: Object, old: None) -> None:
        """Nobody has anything against it."""

    return await TokenRequests(tokens).create(Request("POST", "/", info=info), {"spec": spec}, anything_goes)


def claims(answer: Object) -> dict[str, Any]:
    text = answer["status"]["token"].split(".")[1]
    decoded: dict[str, Any] = fast_json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return decoded


def test_the_token_of_the_injected_volume_lasts_a_year_and_warns_after_an_hour() -> None:
    async def main() -> None:
        tokens, _ = issuer(account(), pod(), NODE)
        bound = {"apiVersion": "v1", "kind": "Pod", "name": "pod", "uid": "p1"}
        answer = await token_request(tokens, expirationSeconds=WARN_ONLY_SECONDS, boundObjectRef=bound)
        inside = claims(answer)
        assert inside["exp"] - inside["iat"] == EXTENDED_SECONDS
        assert inside["kubernetes.io"]["warnafter"] - inside["iat"] == WARN_ONLY_SECONDS
        assert inside["kubernetes.io"]["node"] == {"name": "here", "uid": "n1"}
        assert answer["status"]["expirationTimestamp"] == format_time(VIRTUAL_EPOCH + WARN_ONLY_SECONDS)
        other = claims(
            await token_request(tokens, expirationSeconds=WARN_ONLY_SECONDS, boundObjectRef=bound, audiences=["vault"])
        )
        assert other["exp"] - other["iat"] == WARN_ONLY_SECONDS

    run_virtual(main())


@pytest.mark.parametrize(
    ("spec", "code", "message"),
    [
        ({"expirationSeconds": 1 << 33}, 422, "may not specify a duration larger than 2^32 seconds"),
        ({"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "x"}}, 404, 'pods "x" not found'),
        ({"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "pod", "uid": "z"}}, 409, "(z) does not match"),
        (
            {"boundObjectRef": {"apiVersion": "v1", "kind": "Service", "name": "x"}},
            400,
            "cannot bind token to object of type",
        ),
    ],
)
def test_a_token_request_may_be_refused(spec: Object, code: int, message: str) -> None:
    async def main() -> None:
        tokens, _ = issuer(account(), pod())
        with pytest.raises(StatusError) as refused:
            await token_request(tokens, **spec)
        assert refused.value.code == code
        assert message in refused.value.message

    run_virtual(main())


# -- bootstrap tokens -------------------------------------------------------------------------------------------------


def bootstrap_secret(**changes: str) -> Object:
    data = {
        "token-id": "abcdef",
        "token-secret": "0123456789abcdef",
        "usage-bootstrap-authentication": "true",
        "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
        **changes,
    }
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    meta = {"name": "bootstrap-token-abcdef", "namespace": "kube-system"}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": meta,
        "type": "bootstrap.kubernetes.io/token",
        "data": encoded,
    }


@pytest.mark.parametrize(
    ("changes", "known"),
    [
        ({}, True),
        ({"token-secret": "other"}, False),
        ({"usage-bootstrap-authentication": "false"}, False),
        ({"expiration": format_time(VIRTUAL_EPOCH - 1)}, False),
        ({"expiration": format_time(VIRTUAL_EPOCH + 10)}, True),
        ({"auth-extra-groups": "system:masters"}, False),
    ],
)
def test_a_bootstrap_token_is_as_good_as_its_secret(changes: dict[str, str], known: bool) -> None:
    async def main() -> None:
        authenticator = BootstrapTokenAuthenticator(StaticReader([bootstrap_secret(**changes)]), Clock())
        identity = authenticator.authenticate_token("abcdef.0123456789abcdef")
        assert (identity is not None) is known
        if identity is not None:
            assert identity.user.name == "system:bootstrap:abcdef"
            assert identity.user.groups == ("system:bootstrappers", "system:bootstrappers:kubeadm:default-node-token")
        assert authenticator.authenticate_token("abcdef") is None
        assert authenticator.authenticate_token("zzzzzz.0123456789abcdef") is None

    run_virtual(main())
