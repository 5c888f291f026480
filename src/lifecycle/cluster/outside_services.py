"""Services that a cluster may ask: an identity provider and webhooks, on loopback, for
chapters, labs and tests.

They are real HTTPS servers with certificates made when they start; only what they
answer is up to whoever runs them. `async with` starts and stops them; they serve on the
loop that entered.

Upstream: none – these are what an administrator runs beside a cluster. The identity
provider follows OpenID Connect Discovery 1.0 and RFC 6749 §6 (refreshing a token), as
far as Kubernetes' clients and servers ask for it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs

import yaml

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.apiserver.authn.jwt import ES256, SigningKey
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.apiserver.server.https import HTTPSServer

HOUR = 3600


class LoopbackService:
    """An HTTPS server on a free port. What a path answers, `answer` says."""

    def __init__(self) -> None:
        self.authority = CertificateAuthority()
        self.requests: list[Request] = []
        """Everything that was asked, in order."""
        self.url = ""
        self._server: HTTPSServer | None = None

    async def __aenter__(self) -> Any:
        self._server = HTTPSServer(self._serve, self.authority.server_context())
        self.url = f"https://127.0.0.1:{await self._server.start('127.0.0.1')}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Close the port; whoever asks from now on is refused the connection."""
        if self._server is not None:
            await self._server.stop()
            self._server = None

    @property
    def ca(self) -> str:
        """The PEM of whom to trust."""
        return self.authority.ca_pem.decode()

    async def _serve(self, request: Request) -> Response:
        self.requests.append(request)
        status, obj = self.answer(request)
        headers = {"Content-Type": self.content_type(obj)}
        return Response(status, headers, body=fast_json.dumps(obj))

    def content_type(self, obj: Any) -> str:
        """What an answer is called."""
        return "application/json"

    def answer(self, request: Request) -> tuple[int, Any]:
        """Status and JSON for a request."""
        raise NotImplementedError


class IdentityProvider(LoopbackService):
    """An OpenID Connect provider: who it knows is whom you let it sign for."""

    def __init__(self) -> None:
        super().__init__()
        self.key = SigningKey(ES256)
        self.refreshable: dict[str, Object] = {}
        """Claims by refresh token."""

    def token(self, now: float, **claims: Any) -> str:
        """A token good for an hour, for `aud=kubernetes` unless the claims say
        otherwise.
        """
        known = {
            "iss": self.url,
            "aud": "kubernetes",
            "iat": int(now),
            "exp": int(now) + HOUR,
        }
        return self.key.sign({**known, **claims})

    def change_key(self) -> None:
        """Sign with a new key from now on, and publish only that."""
        self.key = SigningKey(ES256)

    def answer(self, request: Request) -> tuple[int, Any]:
        """Discovery, keys, and tokens for refresh tokens."""
        if request.path == "/.well-known/openid-configuration":
            return 200, {
                "issuer": self.url,
                "jwks_uri": f"{self.url}/keys",
                "token_endpoint": f"{self.url}/token",
                "id_token_signing_alg_values_supported": [self.key.algorithm],
            }
        if request.path == "/keys":
            return 200, {"keys": [self.key.jwk()]}
        if request.path == "/token" and request.method == "POST":
            return self._refresh(
                {
                    key: values[0]
                    for key, values in parse_qs(request.body.decode()).items()
                }
            )
        return 404, {"error": "not found"}

    def _refresh(self, form: dict[str, str]) -> tuple[int, Any]:
        claims = self.refreshable.pop(form.get("refresh_token", ""), None)
        if form.get("grant_type") != "refresh_token" or claims is None:
            return 400, {"error": "invalid_grant"}
        again = f"{form['refresh_token']}+"
        self.refreshable[again] = claims
        return 200, {
            "id_token": self.key.sign({"iss": self.url, **claims}),
            "refresh_token": again,
            "token_type": "Bearer",
        }


class Webhook(LoopbackService):
    """Reviews: `decide(spec)` returns the status of the review that was posted."""

    def __init__(self, decide: Callable[[Object], Object]) -> None:
        super().__init__()
        self.decide = decide
        self.failures = 0
        """How many requests to answer with a 500 before answering properly."""

    @property
    def specs(self) -> list[Object]:
        """What was asked about, in order."""
        return [fast_json.loads(request.body)["spec"] for request in self.requests]

    def answer(self, request: Request) -> tuple[int, Any]:
        """The posted review with its status."""
        if self.failures:
            self.failures -= 1
            return 500, {
                "kind": "Status",
                "apiVersion": "v1",
                "status": "Failure",
                "message": "out to lunch",
                "code": 500,
            }
        review = fast_json.loads(request.body)
        return 201, {**review, "status": self.decide(review["spec"])}

    def write_kubeconfig(self, path: Path) -> Path:
        """A file of the form that `--authorization-webhook-config-file` wants; its
        path.
        """
        ca = base64.b64encode(self.authority.ca_pem).decode()
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": "webhook",
                    "cluster": {
                        "server": f"{self.url}/review",
                        "certificate-authority-data": ca,
                    },
                }
            ],
            "users": [{"name": "kube-apiserver", "user": {}}],
            "contexts": [
                {
                    "name": "webhook",
                    "context": {"cluster": "webhook", "user": "kube-apiserver"},
                }
            ],
            "current-context": "webhook",
        }
        path.write_text(yaml.safe_dump(document))
        return path
