"""Scenes of authentication: recorded answers, certificates, tokens, and requests on
their way through the filter and the whole chain.
"""

from __future__ import annotations

from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.http.wire import Object, Request, RequestInfo, Response, UserInfo
from lifecycle.apiserver.authn.authenticator import (
    AuthenticationError,
    Identity,
    settled,
)
from lifecycle.apiserver.authn.bearer_token import (
    BearerTokenAuthenticator,
    StaticTokenAuthenticator,
)
from lifecycle.apiserver.authn.union import Authenticator, UnionRequestAuthenticator
from lifecycle.apiserver.authn.x509 import X509Authenticator
from lifecycle.apiserver.authz.authorizer import ALLOW, UserRules, Verdict
from lifecycle.apiserver.filters.authentication import with_authentication
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.apiserver.server.chain import (
    ChainConfig,
    default_build_handler_chain,
)
from lifecycle.inspector import Exchange, Recording

JANE = UserInfo("jane", ("devs",))
ACCOUNT: Object = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "robot", "namespace": "default", "uid": "u1"},
}


def exchange_at(recording: Recording, moment: str) -> Exchange:
    """What was answered at a moment of the recorded scenario."""
    return next(each for each in recording.exchanges("authn") if each.moment == moment)


def words(exchange: Exchange) -> str:
    """Everything an answer says, as text."""
    return str(exchange.response)


def certificate(authority: CertificateAuthority, name: str, *groups: str) -> bytes:
    """A client certificate (DER)."""
    pem, _ = authority.client_certificate(name, groups)
    return x509.load_pem_x509_certificate(pem).public_bytes(Encoding.DER)


def standard() -> Authenticator:
    """Certificates, then one static token, then anonymous."""
    tokens = StaticTokenAuthenticator({"s3cret": JANE})
    return Authenticator(
        UnionRequestAuthenticator(X509Authenticator(), BearerTokenAuthenticator(tokens))
    )


def identity(
    authenticator: Any, header: str = "", der: bytes | None = None, path: str = "/api"
) -> Identity | None:
    """Whose request it is; None if it is refused."""
    request = Request(
        "GET",
        path,
        headers={"authorization": header} if header else {},
        peer_certificate=der,
    )
    try:
        return on_a_loop(settled(authenticator.authenticate_request(request)))
    except AuthenticationError:
        return None


def through(
    header: str, headers: dict[str, str] | None = None
) -> tuple[int, list[Request]]:
    """A request through the filter: the status, and what the next handler got to
    see.
    """
    seen: list[Request] = []

    async def handler(request: Request) -> Response:
        seen.append(request)
        return Response(200, obj={})

    async def ask() -> int:
        request = Request(
            "GET", "/api", headers={"authorization": header, **(headers or {})}
        )
        return (await with_authentication(handler, standard())(request)).status

    return on_a_loop(ask()), seen


class Spy:
    """An authorizer that allows everything and remembers who was asked about."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """Yes."""
        self.asked.append((user.name, info.verb))
        return ALLOW

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        """Nothing."""
        return UserRules()


def chain(request: Request, **options: Any) -> tuple[int, dict[str, str], Spy]:
    """A request through the whole chain: status, headers, and what the authorizer was
    asked.
    """
    spy = Spy()

    async def api(request: Request) -> Response:
        return Response(200, obj={})

    async def ask() -> Response:
        return await default_build_handler_chain(
            api, ChainConfig(options.pop("who", standard()), spy, **options)
        )(request)

    answer = on_a_loop(ask())
    return answer.status, answer.headers, spy
