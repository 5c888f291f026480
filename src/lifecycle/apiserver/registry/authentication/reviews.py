"""Authentication reviews: asking who a token, or oneself, is.

A `TokenReview` is how kubelets and extension servers leave authentication to the API
server; a `SelfSubjectReview` is `kubectl auth whoami`. Nothing is stored.

Upstream: `pkg/registry/authentication/tokenreview/storage.go`,
`selfsubjectreview/rest.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import ANONYMOUS, Object, Request
from lifecycle.api.loop.clock import Clock
from lifecycle.api.status import bad_request, failure
from lifecycle.apiserver.authn.authenticator import (
    AuthenticationError,
    TokenAuthenticator,
)
from lifecycle.apiserver.authn.bearer_token import recognise_bearer
from lifecycle.apiserver.authn.user_info import user_info_object
from lifecycle.apiserver.registry.admission import Validate
from lifecycle.apiserver.registry.authorization.reviews import Review

GROUP = "authentication.k8s.io"


class AuthenticationReviews:
    """The two reviews; `audiences` are the API server's own."""

    def __init__(
        self, tokens: TokenAuthenticator, clock: Clock, audiences: tuple[str, ...] = ()
    ) -> None:
        self._tokens = tokens
        self._clock = clock
        self._audiences = audiences

    def virtual_resources(self) -> dict[tuple[str, str], Review]:
        """Which function serves which (group, plural)."""
        return {
            (GROUP, "tokenreviews"): self.token,
            (GROUP, "selfsubjectreviews"): self.self_subject,
        }

    async def self_subject(
        self, request: Request, obj: Object, validate: Validate
    ) -> Object:
        """Who am I? The user after impersonation, as every later stage sees them."""
        await validate(obj, None)
        return {
            "kind": "SelfSubjectReview",
            "apiVersion": obj.get("apiVersion", f"{GROUP}/v1"),
            "metadata": {"creationTimestamp": self._clock.timestamp()},
            "status": {"userInfo": user_info_object(request.user or ANONYMOUS)},
        }

    async def token(self, request: Request, obj: Object, validate: Validate) -> Object:
        """Whose token is this? A bad token is an answer, not an error."""
        spec = obj.get("spec") or {}
        token = spec.get("token", "")
        if not token:
            raise bad_request("token is required for TokenReview in authentication")
        await validate(obj, None)
        audiences = tuple(spec.get("audiences") or self._audiences)
        status: Object = {"user": {}}
        try:
            identity = await recognise_bearer(self._tokens, token, audiences)
        except AuthenticationError as error:
            status["error"] = str(error)
        else:
            auds = identity.audiences
            if auds and audiences and not set(auds) & set(audiences):
                raise failure(500, "", "failed to validate audiences")
            status = {"authenticated": True, "user": user_info_object(identity.user)}
            if auds:
                status["audiences"] = list(auds)
        return {**obj, "metadata": obj.get("metadata") or {}, "status": status}
