"""Whom an added server believes: its own kube-apiserver's headers, certificates of the cluster, and tokens that the cluster knows."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from lifecycle.api.http.wire import Request
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.aggregation.front_proxy import COMMON_NAME, authentication_config_map
from lifecycle.apiserver.authn.authenticator import AuthenticationError
from lifecycle.apiserver.authn.request_header import RequestHeaderConfig
from lifecycle.apiserver.extension_server.delegation import delegating_authenticator
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.apiserver.webhook import client
from lifecycle.client.transport_https import ConnectionConfig
from lifecycle.cluster.rehearsal import on_virtual_time

CLUSTER, PROXY, OTHER = "the cluster's", "the proxy's", "somebody else's"
SAYS = {"x-remote-user": "jane", "x-remote-group": "devs"}
ANYBODY = ("system:anonymous", ("system:unauthenticated",))
TOKENS: dict[str, Any] = {
    "good": {"authenticated": True, "user": {"username": "ann", "groups": ["ops"]}},
    "bad": {"authenticated": False},
    "out": {"authenticated": False, "error": "no such session"},
}


@cache
def authority(whose: str) -> CertificateAuthority:
    """Made when somebody first needs it."""
    return CertificateAuthority()


class _Reviews:
    """In place of the cluster: knows tokens, and notes where it was asked, and with what."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []

    def __call__(self, connection: ConnectionConfig, url: str, body: bytes, *_: object, **__: object) -> _Reviews:
        review = json.loads(body)
        self.asked.append((url.split("?")[0], connection.token, review["apiVersion"]))
        self.answer = json.dumps({**review, "status": TOKENS[review["spec"]["token"]]}).encode()
        return self

    async def response(self) -> tuple[int, bytes]:
        """What the cluster says."""
        return 201, self.answer


@pytest.fixture
def reviews(monkeypatch: pytest.MonkeyPatch) -> _Reviews:
    """Who is asked."""
    asked = _Reviews()
    monkeypatch.setattr(client, "Call", asked)
    return asked


def _shown(whose: str, name: str, *groups: str) -> bytes:
    pem, _ = authority(whose).client_certificate(name, groups)
    return x509.load_pem_x509_certificate(pem).public_bytes(Encoding.DER)


def _told(*requests: Request, client_ca: bytes | None = None, pause: float = 0.0) -> list[object]:
    """Name and groups of who sends each request, or the refusal."""
    client_ca = authority(CLUSTER).ca_pem if client_ca is None else client_ca
    config_map = authentication_config_map(client_ca, RequestHeaderConfig(authority(PROXY).ca_pem))
    cluster = ConnectionConfig(server="https://cluster:6443/", token="the server's own")

    async def main() -> list[object]:
        clock = Clock()
        authenticator = delegating_authenticator(config_map, cluster, clock)
        answers: list[object] = []
        for request in requests:
            try:
                user = (await authenticator.authenticate_request(request)).user
            except AuthenticationError as error:
                answers.append(str(error))
            else:
                answers.append((user.name, user.groups))
            await asyncio.sleep(pause)
        return answers

    return on_virtual_time(main())


def _request(certificate: bytes | None = None, /, **headers: str) -> Request:
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request("GET", "/apis/x", headers=headers, peer_certificate=certificate)


def test_headers_are_believed_of_the_front_proxy_and_of_nobody_else(reviews: _Reviews) -> None:
    proxy, jack = _shown(PROXY, COMMON_NAME), _shown(CLUSTER, "jack", "crew")
    believed, own, none = _told(_request(proxy, **SAYS), _request(jack, **SAYS), _request(**SAYS))
    assert believed == ("jane", ("devs", "system:authenticated"))
    assert own == ("jack", ("crew", "system:authenticated"))
    assert none == ANYBODY
    assert not reviews.asked


@pytest.mark.parametrize(
    ("whose", "name"),
    [(PROXY, "another"), (OTHER, COMMON_NAME), (OTHER, "jack")],
    ids=["another name", "another proxy", "another user"],
)
def test_a_certificate_of_nobodys_is_refused(reviews: _Reviews, whose: str, name: str) -> None:
    [answer] = _told(_request(_shown(whose, name), **SAYS))
    assert isinstance(answer, str)
    assert not reviews.asked


def test_without_an_authority_for_clients_no_certificate_is_a_user(reviews: _Reviews) -> None:
    proxy, jack = _shown(PROXY, COMMON_NAME), _shown(CLUSTER, "jack")
    believed, refused = _told(_request(proxy, **SAYS), _request(jack, authorization="Bearer bad"), client_ca=b"")
    assert believed == ("jane", ("devs", "system:authenticated"))
    assert isinstance(refused, str)


def test_the_cluster_is_asked_about_tokens_in_the_servers_name(reviews: _Reviews) -> None:
    answers = _told(*(_request(authorization=f"Bearer {token}") for token in TOKENS))
    why = "[invalid bearer token, no such session]"  # nor was it the token of the server's own client
    assert answers == [("ann", ("ops", "system:authenticated")), "invalid bearer token", why]
    asked = "https://cluster:6443/apis/authentication.k8s.io/v1/tokenreviews"
    assert reviews.asked == [(asked, "the server's own", "authentication.k8s.io/v1")] * 3


@pytest.mark.parametrize(("pause", "asked"), [(4.0, 2), (6.0, 2), (10.0, 4)])
def test_its_answer_counts_for_ten_seconds(reviews: _Reviews, pause: float, asked: int) -> None:
    """Upstream: `NewDelegatingAuthenticationOptions`, `CacheTTL`."""
    _told(*[_request(authorization="Bearer good")] * 4, pause=pause)
    assert len(reviews.asked) == asked


def test_a_certificate_counts_before_a_token(reviews: _Reviews) -> None:
    jack = _shown(CLUSTER, "jack")
    assert _told(_request(jack, authorization="Bearer good")) == [("jack", ("system:authenticated",))]
    assert not reviews.asked


def test_a_config_map_that_says_nothing_of_a_proxy_is_no_use() -> None:
    with pytest.raises(
        ValueError, match=r"no client ca bundle found under kube-system/extension-apiserver-authentication$"
    ):
        delegating_authenticator({"data": {}}, ConnectionConfig(server="https://cluster"), Clock())
