"""The public half of token issuing: where others learn how to verify our tokens.

Upstream: `pkg/serviceaccount/openidmetadata.go`, `pkg/routes/openidmetadata.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Request, Response
from lifecycle.api.status import failure, method_not_allowed
from lifecycle.apiserver.authn.service_account import ServiceAccountTokens
from lifecycle.apiserver.filters.refusal import refuse

CONFIGURATION_PATH = "/.well-known/openid-configuration"
JWKS_PATH = "/openid/v1/jwks"
JWKS_TYPE = "application/jwk-set+json"
CACHE_CONTROL = "public, max-age=3600"


class OpenIDMetadata:
    """Serves the two documents. `external_address` gives `host:port`, as clients reach
    the server.
    """

    def __init__(
        self, tokens: ServiceAccountTokens, external_address: Callable[[], str]
    ) -> None:
        self._tokens = tokens
        self._external_address = external_address

    async def configuration(self, request: Request) -> Response:
        """`/.well-known/openid-configuration`."""
        refusal = _refused(request, "application/json")
        if refusal is not None:
            return refusal
        body = {
            "issuer": self._tokens.issuer,
            "jwks_uri": f"https://{self._external_address()}{JWKS_PATH}",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [self._tokens.key.algorithm],
        }
        headers = {"Content-Type": "application/json", "Cache-Control": CACHE_CONTROL}
        return Response(headers=headers, body=fast_json.dumps(body))

    async def jwks(self, request: Request) -> Response:
        """`/openid/v1/jwks`: the public keys, in their own media type only."""
        refusal = _refused(request, JWKS_TYPE)
        if refusal is not None:
            return refusal
        headers = {"Content-Type": JWKS_TYPE, "Cache-Control": CACHE_CONTROL}
        return Response(
            headers=headers, body=fast_json.dumps({"keys": [self._tokens.key.jwk()]})
        )


def _refused(request: Request, produces: str) -> Response | None:
    """405 for anything but reading, 406 for a client that takes another media type
    only. Upstream: go-restful's router.
    """
    if request.method not in ("GET", "HEAD"):
        return refuse(method_not_allowed())
    accept = request.headers.get("accept", "*/*")
    family = produces.partition("/")[0] + "/*"
    if any(acceptable in accept for acceptable in (produces, family, "*/*")):
        return None
    message = f"406: Not Acceptable\n\nAvailable representations: {produces}"
    return refuse(failure(406, "NotAcceptable", message, {}))
