"""Claims about what a client sends to say who it is, seen from the other end of a real
TLS connection.
"""

from __future__ import annotations

import base64
import json
import sys
import time
from typing import Any, cast

from lifecycle.agreements.claim_checks.authenticating import exchange_at, words
from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.authn.options import (
    AuthenticationOptions,
    build_authentication,
    oidc_issuer,
)
from lifecycle.apiserver.authn.x509 import X509Authenticator
from lifecycle.client.transport_https import HTTPSTransport
from lifecycle.cluster.outside_services import IdentityProvider, LoopbackService
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.inspector import Recording
from lifecycle.kubectl.credentials.exec_plugin import PluginCredentials
from lifecycle.kubectl.credentials.transport import AuthenticatingTransport, Credentials
from lifecycle.kubectl.kubeconfig import ClientConfig
from lifecycle.kubectl.request.debugging import mask_value


class Listener(LoopbackService):
    """Answers everything with an empty object, and keeps what it was sent."""

    def answer(self, request: Request) -> tuple[int, Any]:
        """Nothing in particular."""
        return 200, {}


async def sent(service: Listener, **user: Any) -> Request:
    """What arrives of a GET by such a user."""
    config = ClientConfig(service.url, ca=service.authority.ca_pem, **user)
    credentials = Credentials(config)
    transport = AuthenticatingTransport(
        HTTPSTransport(await credentials.connection()), credentials
    )
    try:
        await transport.round_trip(Request("GET", "/api"))
    finally:
        await transport.close()
    return service.requests[-1]


@rebuilt("client-auth-credentials-inside-http-request")
def inside_the_request() -> Partly:
    """Tokens and passwords are in it; a certificate is in the handshake; and over plain
    HTTP nothing is sent at all.
    """

    async def main() -> Partly:
        async with Listener() as service:
            certificate, key = service.authority.client_certificate("jane")
            token, password = (
                await sent(service, token="t"),
                await sent(service, username="u", password="p"),
            )
            with_certificate = await sent(
                service, client_certificate=certificate, client_key=key
            )
        inside = (
            "authorization" in token.headers and "authorization" in password.headers
        )
        outside = (
            "authorization" not in with_certificate.headers
            and with_certificate.peer_certificate is not None
        )
        plain, _ = await Credentials(
            ClientConfig("http://x", token="t")
        ).authorization()
        return Partly(inside, outside and not plain)

    return on_a_loop(main())


@rebuilt("client-auth-x509-through-tls-config")
def through_tls() -> bool:
    """The server's TLS layer hands over the subject."""

    async def main() -> bool:
        async with Listener() as service:
            certificate, key = service.authority.client_certificate("jane", ["devs"])
            request = await sent(
                service, client_certificate=certificate, client_key=key
            )
        answer = X509Authenticator().authenticate_request(request)
        return answer is not None and (answer.user.name, answer.user.groups[0]) == (
            "jane",
            "devs",
        )

    return on_a_loop(main())


@rebuilt("client-auth-bearer-token-in-authorization-header")
def bearer_header() -> bool:
    """`Authorization: Bearer …`; which nobody reads who reads what kubectl did."""
    shown = {value: mask_value("Authorization", value) for value in SHOWN}
    assert shown == SHOWN
    assert mask_value("Accept", "Bearer t0") == "Bearer t0"

    async def main() -> bool:
        async with Listener() as service:
            return (await sent(service, token="t0")).headers[
                "authorization"
            ] == "Bearer t0"

    return on_a_loop(main())


SHOWN = {
    "Bearer t0": "Bearer <masked>",
    "basic amFuZQ==": "basic <masked>",
    "Bearer": "Bearer",
    "Secret t0": "<masked>",
    "t0": "<masked>",
    "": "",
}


@check("client-auth-basic-auth-header")
def basic_is_ignored(recording: Recording) -> Partly:
    """The recorded request carried the header, and was nobody's."""
    exchange = exchange_at(recording, "basic auth")
    header = exchange.headers_sent.get("Authorization", "")
    return Partly(header.startswith("Basic "), "system:anonymous" in words(exchange))


@rebuilt("client-auth-basic-auth-header")
def basic_header() -> Partly:
    """It is sent, and our server, like theirs, takes its sender for a stranger."""

    async def main() -> Partly:
        async with Listener() as service:
            request = await sent(service, username="jane", password="secret")
        header = request.headers["authorization"]
        pair = base64.b64decode(header.removeprefix("Basic ")).decode()
        ours = build_authentication(AuthenticationOptions(), Clock(), ()).authenticator
        stranger = await ours.authenticate_request(request)
        return Partly(pair == "jane:secret", stranger.user.name == "system:anonymous")

    return on_a_loop(main())


@rebuilt("client-auth-openid-login-is-manual")
def login_is_manual() -> Partly:
    """A refresh token still has to come from somewhere; but a plugin does everything by
    itself, even where what it gave is refused, and an ended ID token is renewed
    unasked.
    """
    assert _refused(401) == ["Bearer t0", "Bearer t1"]
    assert _refused(403) == ["Bearer t0", "Bearer t0"]
    assert _refused(401, authorization="Bearer mine") == ["Bearer mine"] * 2

    async def main() -> Partly:
        async with IdentityProvider() as provider, Listener() as service:
            settings = {
                "idp-issuer-url": provider.url,
                "client-id": "kubernetes",
                "idp-certificate-authority-data": base64.b64encode(
                    provider.authority.ca_pem
                ).decode(),
                "id-token": provider.token(time.time() - 7200),
            }
            try:
                await sent(service, auth_provider={"name": "oidc", "config": settings})
                by_hand = False
            except Exception as error:
                by_hand = "cannot refresh without refresh-token" in str(error)
            provider.refreshable["r"] = {"sub": "jane", "exp": int(time.time()) + 3600}
            again = await sent(
                service,
                auth_provider={
                    "name": "oidc",
                    "config": {**settings, "refresh-token": "r"},
                },
            )
            answer = json.dumps(
                {
                    "apiVersion": "client.authentication.k8s.io/v1",
                    "kind": "ExecCredential",
                    "status": {"token": "by-plugin"},
                }
            )
            plugin = {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": sys.executable,
                "args": ["-S", "-c", f"print({answer!r})"],
                "interactiveMode": "Never",
            }
            run = await sent(service, exec=plugin)
        renewed = again.headers["authorization"] not in (
            "",
            f"Bearer {settings['id-token']}",
        )
        return Partly(
            by_hand, renewed and run.headers["authorization"] == "Bearer by-plugin"
        )

    return on_a_loop(main())


class _Plugin:
    """Gives a token, and another one after that was refused."""

    def __init__(self) -> None:
        self.number = 0
        self.given = PluginCredentials(token="t0")

    async def credentials(self) -> PluginCredentials:
        """The same as before, as long as nobody has complained."""
        return self.given

    async def refused(self, used: PluginCredentials) -> None:
        """Of what it gave last."""
        assert used is self.given
        self.number += 1
        self.given = PluginCredentials(token=f"t{self.number}")


def _refused(code: int, **headers: str) -> list[str]:
    """What two requests carry, if each is answered with that code."""
    sent: list[str] = []

    class Server:
        async def round_trip(self, request: Request) -> Response:
            sent.append(request.headers["authorization"])
            return Response(code, obj={})

        async def close(self) -> None:
            """See `Transport`."""

    async def main() -> None:
        plugin = cast(Any, _Plugin())
        credentials = Credentials(ClientConfig("https://x"), plugin=plugin)
        transport = AuthenticatingTransport(Server(), credentials)
        for _ in range(2):
            await transport.round_trip(Request("GET", "/", headers=dict(headers)))

    on_a_loop(main())
    return sent


@rebuilt("client-auth-openid-token-sent-as-bearer")
def openid_is_bearer() -> bool:
    """As a header like any other, and our server recognises the user."""

    async def main() -> bool:
        async with IdentityProvider() as provider, Listener() as service:
            token = provider.token(time.time(), sub="jane")
            settings = {
                "idp-issuer-url": provider.url,
                "client-id": "kubernetes",
                "id-token": token,
            }
            request = await sent(
                service, auth_provider={"name": "oidc", "config": settings}
            )
            issuer = oidc_issuer(provider.url, "kubernetes", ca=provider.ca, prefix="-")
            ours = build_authentication(
                AuthenticationOptions(configuration={"jwt": [issuer]}), Clock(), ()
            ).authenticator
            answer = await ours.authenticate_request(request)
        return (
            answer.user.name == "jane"
            and service.requests[0].headers["authorization"] == f"Bearer {token}"
        )

    return on_a_loop(main())


@rebuilt("client-auth-root-ca-sent-to-server")
def root_ca_sent() -> bool:
    """If the client sent the authority's certificate, it would be among what
    arrives.
    """

    async def main() -> bool:
        async with Listener() as service:
            request = await sent(service, token="t")
        assert request.headers.get("authorization") == "Bearer t", "the request arrived"
        ca = base64.b64encode(service.authority.ca_pem).decode()
        return (
            request.peer_certificate is not None
            or ca in repr(request)
            or service.ca in repr(request)
        )

    return on_a_loop(main())
