"""The token webhook: somebody else recognises tokens.

The token is posted in a `TokenReview`; the status says whose it is. What was answered,
yes or no, is kept for two minutes, under a hash of the token: nobody who reads this
process's memory should find tokens in it. A failure to ask is not kept.

Upstream: `apiserver/plugin/pkg/authenticator/token/webhook/webhook.go`
(`AuthenticateToken`),
`apiserver/pkg/authentication/token/cache/cached_token_authenticator.go`, v1.36. Left
out: joining requests for the same token while it is asked about.
"""

from __future__ import annotations

import hashlib
import hmac
import os

from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.authn.authenticator import AuthenticationError, Identity
from lifecycle.apiserver.webhook.call import WebhookError
from lifecycle.apiserver.webhook.client import WebhookClient

CACHE_TTL = 120.0
CACHE_SIZE = 4096


class WebhookTokenAuthenticator:
    """Asks a webhook whose a token is. `implicit_audiences` are those that a webhook
    answers for that knows no audiences.
    """

    def __init__(
        self,
        client: WebhookClient,
        clock: Clock,
        *,
        version: str = "v1beta1",
        implicit_audiences: tuple[str, ...] = (),
        cache_ttl: float = CACHE_TTL,
    ) -> None:
        self._client = client
        self._clock = clock
        self._version = version
        self._implicit = implicit_audiences
        self._ttl = cache_ttl
        self._secret = os.urandom(32)
        self._cache: dict[bytes, tuple[float, Object]] = {}

    async def authenticate_token(
        self, token: str, audiences: tuple[str, ...] = ()
    ) -> Identity | None:
        """Whose token it is; None if the webhook does not know. Raises
        AuthenticationError, also if the webhook cannot be asked.
        """
        want_auds = audiences or self._implicit
        key = self._key(token, want_auds)
        cached = self._cache.get(key)
        if cached is not None and self._clock.now() < cached[0]:
            status = cached[1]
        else:
            status = await self._review(key, token, want_auds)
        common: tuple[str, ...] = ()
        if want_auds:
            got = tuple(status.get("audiences") or self._implicit)
            common = tuple(audience for audience in want_auds if audience in got)
            if not common:
                return None
        if not status.get("authenticated"):
            if status.get("error"):
                raise AuthenticationError(status["error"])
            return None
        user = status.get("user") or {}
        extra = {
            name: tuple(values) for name, values in (user.get("extra") or {}).items()
        }
        info = UserInfo(
            user.get("username", ""),
            tuple(user.get("groups") or ()),
            user.get("uid", ""),
            extra,
        )
        return Identity(info, common)

    def _key(self, token: str, audiences: tuple[str, ...]) -> bytes:
        return hmac.new(
            self._secret, "\0".join((token, *audiences)).encode(), hashlib.sha256
        ).digest()

    async def _review(
        self, key: bytes, token: str, audiences: tuple[str, ...]
    ) -> Object:
        """The status of the webhook's answer, remembered unless it is an error."""
        spec: Object = {"token": token}
        if audiences:
            spec["audiences"] = list(audiences)
        review = {
            "kind": "TokenReview",
            "apiVersion": f"authentication.k8s.io/{self._version}",
            "metadata": {},
            "spec": spec,
            "status": {"user": {}},
        }
        try:
            answer = await self._client.post(review)
        except WebhookError as error:
            raise AuthenticationError(str(error)) from error
        status: Object = answer.get("status") or {}
        if not status.get("error"):  # upstream keeps no errors
            if len(self._cache) >= CACHE_SIZE:
                self._cache.clear()
            self._cache[key] = self._clock.now() + self._ttl, status
        return status
