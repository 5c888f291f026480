"""Service account tokens for pods: asked for, kept, and renewed before they end.

A token is bound to its pod: when the pod is gone, the API server refuses it. It is
asked for anew when less than a fifth of its life is left, or after a day, whichever
comes first. If that fails, the old one serves as long as it is valid.

Upstream: `pkg/kubelet/token/token_manager.go` (`Manager.GetServiceAccountToken`,
`requiresRefresh`), v1.36. Left out: the few seconds of jitter.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, parse_time
from lifecycle.api.resources import resource
from lifecycle.client.rest import REQUEST_ERRORS, Client

MAX_TTL = 24 * 3600.0
"""Seconds after which a token is replaced in any case."""

REFRESH_AFTER = 0.8
"""The part of its life after which a token is replaced."""

Key = tuple[str, str, str, int]


class TokenManager:
    """Tokens by pod, and those of a pod by namespace, account, audience and
    lifetime.
    """

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._tokens: dict[str, dict[Key, Object]] = {}

    async def get_service_account_token(
        self, pod: Object, audience: str, expiration_seconds: int
    ) -> str:
        """A token that will do for a while. Raises LookupError with the API server's
        words.
        """
        meta, account = (
            pod["metadata"],
            pod["spec"].get("serviceAccountName") or "default",
        )
        key = (meta["namespace"], account, audience, expiration_seconds)
        known = self._tokens.get(meta["uid"], {}).get(key)
        if known is not None and not self.requires_refresh(known):
            return str(known["status"]["token"])
        request: Object = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {
                "audiences": [audience] if audience else [],
                "expirationSeconds": expiration_seconds,
                "boundObjectRef": {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": meta["name"],
                    "uid": meta["uid"],
                },
            },
        }
        try:
            answer = await self._client.create(
                resource("serviceaccounts"),
                request,
                meta["namespace"],
                name=account,
                subresource="token",
            )
        except REQUEST_ERRORS as error:
            if known is not None and self._expires(known) > self._clock.now():
                return str(known["status"]["token"])
            raise LookupError(str(error)) from None
        self._tokens.setdefault(meta["uid"], {})[key] = answer
        return str(answer["status"]["token"])

    def requires_refresh(self, answer: Object) -> bool:
        """Whether it is time for another."""
        return self._clock.now() > self._refresh_time(answer)

    def refresh_at(self, uid: str) -> float | None:
        """When the first of a pod's tokens wants to be replaced, in seconds of the
        clock; None if it has none.
        """
        tokens = self._tokens.get(uid, {}).values()
        return min(map(self._refresh_time, tokens), default=None)

    def _refresh_time(self, answer: Object) -> float:
        lifetime = float(answer["spec"]["expirationSeconds"])
        issued = self._expires(answer) - lifetime
        return min(issued + lifetime * REFRESH_AFTER, issued + MAX_TTL)

    def delete_for_pod(self, uid: str) -> None:
        """The pod is gone."""
        self._tokens.pop(uid, None)

    @staticmethod
    def _expires(answer: Object) -> float:
        return parse_time(answer["status"]["expirationTimestamp"])
